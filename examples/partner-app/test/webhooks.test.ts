import { type AnyEvent, type SignedDelivery, signWebhook, tamper } from '@ostiary/webhook-verifier';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, keyOf, openShop, transfer } from './support.ts';

const secrets = { live: 'the-secret-of-live-money', test: 'the-secret-of-the-sandbox' };

const completed = { ...transfer, status: 'completed', completedAt: '2026-01-02T03:04:06.000Z' };

let count = 0;
function event(changes: Partial<AnyEvent> = {}): AnyEvent {
  count += 1;
  return {
    id: `evt_${String(count).padStart(32, '0')}`,
    type: 'webhook.test',
    createdAt: '2026-01-02T03:04:05.000Z',
    mode: 'test',
    data: { message: `Hello ${count}` },
    ...changes,
  };
}

function sign(content: AnyEvent, options: Partial<Parameters<typeof signWebhook>[1]> = {}) {
  const { id, type, mode } = content;
  const timestamp = Math.floor(Date.now() / 1000);
  const common = { id, type, timestamp, partner: 'kafe-lakay', secret: secrets[mode] };
  return signWebhook(JSON.stringify(content), { ...common, ...options });
}

const post = (url: string, { headers, body }: SignedDelivery): Promise<Response> =>
  fetch(url, { method: 'POST', headers, body });

const webhooks = { prefix: 'svc', secrets };

async function shop() {
  const opened = await openShop({}, { partnerApi: apiKey, webhooks });
  const { config, customer } = opened;
  const send = async (content: AnyEvent, options: Parameters<typeof sign>[1] = {}) =>
    post(`${config.url}/webhooks/${content.mode}`, await sign(content, options));
  const page = async () => (await fetch(`${config.url}/webhooks`)).text();
  const fail = (times: number, headers: Record<string, string> = {}) =>
    customer.send('/webhooks/failures', { count: String(times) }, headers);
  return { ...opened, send, page, fail };
}

/** Returns the outcomes of an event's webhooks as the page shows them. */
const outcomesOf = (html: string, { id }: AnyEvent): string[] => {
  const [, row = ''] = html.split(`data-event="${id}"`);
  const [own = ''] = row.split('data-event=');
  return [...own.matchAll(/data-outcome="(\w+)"/g)].map(([, outcome = '']) => outcome);
};

describe('a webhook', () => {
  test('with a valid signature is acknowledged and shown, escaped', async () => {
    const { send, page } = await shop();
    const sent = event({ data: { message: '<img src=x onerror=alert(1)>' } });
    const response = await send(sent);
    expect([response.status, await response.json()]).toEqual([200, { received: true, duplicate: false }]);
    const html = await page();
    expect(outcomesOf(html, sent)).toEqual(['handled']);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(html).not.toContain('<img');
    for (const secret of Object.values(secrets)) expect(html).not.toContain(secret);
  });

  test('that was changed is refused with 400, and not shown', async () => {
    const { config, page } = await shop();
    const sent = event({ data: { message: 'the-altered-one' } });
    const copies = tamper(await sign(sent));
    expect(copies.length).toBeGreaterThan(25);
    for (const copy of copies) {
      const response = await post(`${config.url}/webhooks/test`, copy);
      expect([copy.name, response.status, await response.json()]).toEqual([
        copy.name,
        400,
        expect.objectContaining({ error: copy.code }),
      ]);
    }
    const html = await page();
    expect(html).toContain('Nothing has arrived yet');
    expect(html).toContain('<code>missing_header</code>');
    expect(html).not.toContain('the-altered-one');
  });

  test('that arrives twice is handled once', async () => {
    const { config, send, page } = await shop();
    const sent = event();
    await send(sent);
    const again = await send(sent, { attempt: 2 });
    expect([again.status, await again.json()]).toEqual([200, { received: true, duplicate: true }]);
    // The fragment that the page's script loads contains them, too.
    for (const html of [await page(), await (await fetch(`${config.url}/webhooks/received`)).text()])
      expect(outcomesOf(html, sent)).toEqual(['handled', 'duplicate']);
  });

  test('gets 500 as often as configured, and is handled at the next attempt', async () => {
    const { send, page, fail } = await shop();
    expect((await fail(2)).status).toBe(303);
    expect(await page()).toContain('The next 2 deliveries will be answered with 500.');
    const sent = event();
    const statuses: number[] = [];
    for (const attempt of [1, 2, 3]) statuses.push((await send(sent, { attempt })).status);
    expect(statuses).toEqual([500, 500, 200]);
    expect(outcomesOf(await page(), sent)).toEqual(['failed', 'failed', 'handled']);
    expect(await page()).not.toContain('will be answered with 500.');
  });
});

describe('the content of a webhook', () => {
  test('of the sandbox does not count as a real payment', async () => {
    const { config, send, page } = await shop();
    const real = event({ mode: 'live', type: 'payment.completed', data: completed });
    expect((await send(real, { secret: secrets.test })).status).toBe(400);
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const pretending = event({ type: 'payment.completed', data: completed });
    const signed = await sign(pretending, { secret: secrets.live });
    expect((await post(`${config.url}/webhooks/live`, signed)).status).toBe(500);
    expect(log).toHaveBeenCalledWith(expect.stringContaining('came to the address of live'));
    expect(await page()).toContain('Nothing has arrived yet');
  });

  test('is described in one line', async () => {
    const { send, page } = await shop();
    const previous = { kycStatus: 'pending', kycTier: 1 };
    const data = { kid: 'K7', kycStatus: 'approved', kycTier: 2, previous, changedAt: transfer.createdAt };
    await send(event({ mode: 'live', type: 'kyc.updated', data }));
    await send(event({ mode: 'live', type: 'payment.completed', data: completed }));
    const html = await page();
    expect(html).toContain('K7: pending (tier 1) → approved (tier 2)');
    expect(html).toContain('25.00 HTG to K1');
    // An event type that the shop does not know is acknowledged.
    expect((await send(event({ type: 'coffee.ready', data: { cups: 2 } }))).status).toBe(200);
    expect(await page()).toContain('a type that this shop does not know');
    // The latest event is listed first.
    expect(html.indexOf('data-type="payment.completed"')).toBeLessThan(
      html.indexOf('data-type="kyc.updated"'),
    );
  });
});

describe('payment.completed', () => {
  const paid = () => event({ mode: 'live', type: 'payment.completed', data: completed });

  async function paying() {
    const all = await shop();
    const { customer } = all;
    await customer.signIn(all.iss);
    const idempotency_key = keyOf(await customer.page());
    const pay = () => customer.pay({ idempotency_key });
    const status = async () => /data-status="(\w+)"/.exec(await customer.page())?.[1];
    return { ...all, pay, status };
  }

  test('updates the customer’s page without a call of the API; one of the sandbox does not', async () => {
    const { send, pay, status, received, customer } = await paying();
    // Returns the fragment that the page's script loads.
    const part = async () => (await customer.request('/cashback/payments')).html;
    await pay();
    expect((await send(event({ type: 'payment.completed', data: completed }))).status).toBe(200);
    expect(await status()).toBe('pending');
    expect(await part()).toContain('data-status="pending"');
    expect((await send(paid())).status).toBe(200);
    expect(await status()).toBe('completed');
    expect(await part()).toContain('data-status="completed"');
    expect(received.filter(({ path }) => path.startsWith('/v1/partner/payments/'))).toEqual([]);
    const { cookie } = customer;
    await customer.send('/sign-out');
    customer.cookie = cookie;
    expect(await part()).not.toContain('tr_1');
  });

  test('is accepted even if it arrives before the response to the payment', async () => {
    const { send, pay, status } = await paying();
    await send(paid());
    await pay();
    expect(await status()).toBe('completed');
  });

  test('says why a payment failed', async () => {
    const { send, pay, status, customer } = await paying();
    await pay();
    const failure = { code: 'insufficient_funds', message: 'Not enough <money>.' };
    const data = { ...transfer, status: 'failed', failure };
    await send(event({ mode: 'live', type: 'payment.failed', data }));
    expect(await status()).toBe('failed');
    expect(await customer.page()).toContain('Not enough &lt;money&gt;.');
  });
});

describe('the page', () => {
  test('may only run the shop’s script and connect to the shop', async () => {
    const { config } = await shop();
    const policy = (await fetch(`${config.url}/webhooks`)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self'; connect-src 'self'");
    expect(policy).not.toContain('unsafe');
    const script = await fetch(`${config.url}/live.js`);
    expect(script.headers.get('content-type')).toContain('text/javascript');
  });

  test('refuses a request from another site, and ignores an unknown number of failures', async () => {
    const { send, fail } = await shop();
    expect((await fail(5, { Origin: 'https://evil.example' })).status).toBe(403);
    await fail(100_000);
    expect((await send(event())).status).toBe(200);
  });

  test('is not public, unlike the URL for webhooks', async () => {
    const url = 'https://kafe.example';
    const { config } = await openShop({}, { webhooks, url });
    const local = `http://127.0.0.1:${config.port}`;
    for (const path of ['/webhooks', '/webhooks/received'])
      expect((await fetch(local + path)).status).toBe(404);
    const failing = await fetch(`${local}/webhooks/failures`, { method: 'POST' });
    expect(failing.status).toBe(404);
    expect((await post(`${local}/webhooks/test`, await sign(event()))).status).toBe(200);
  });

  test('says that the secret is missing, and receives nothing without it', async () => {
    const { config } = await openShop();
    expect(await (await fetch(`${config.url}/webhooks`)).text()).toContain('WEBHOOK_SECRET');
    const response = await post(`${config.url}/webhooks/test`, await sign(event()));
    expect(response.status).toBe(404);
  });
});
