import decodeQr from 'qr/decode.js';
import { describe, expect, it } from 'vitest';
import { sandboxKycLifetimeMs } from '../../core/src/users/sandbox-kyc.ts';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import type { TestKey } from '../../core/test/support/provider.ts';
import { act, consoleKit, csrfOf, target, visited } from './console-kit.ts';

const everyScope = ['webhooks', 'identity:verify', 'payments:read', 'payments:write', 'users:read'] as const;

type Kit = Awaited<ReturnType<typeof consoleKit>>;

const owner = ({ partner }: TestKey) => ({ partner, mode: 'test' }) as const;

const eventsOf = async ({ storage }: Kit, key: TestKey) =>
  (await storage.events.list({ ...owner(key), after: 0, limit: 100 })).events;

const paymentsOf = ({ storage }: Kit, key: TestKey) =>
  storage.transfers.list({
    ...owner(key),
    status: null,
    reference: null,
    from: null,
    to: null,
    after: null,
    limit: 100,
  });

/** Returns the passport token that a page shows. */
const tokenIn = (text: string): string => />\n(eyJ[\w.-]+)<\/pre>/.exec(text)?.[1] ?? '';

const onceIn = (text: string): string => /id="payment".*?name="once" value="([^"]+)"/s.exec(text)?.[1] ?? '';

/** Fields of the payment tool's form. */
const order = {
  outcome: 'completed',
  amount: '20',
  currency: 'USD',
  kid: 'KID-TEST-APPROVED',
  reference: '',
};

let forms = 0;
const pay = (browser: TestBrowser, changes: Record<string, string> = {}) => {
  forms += 1;
  return act(browser, '/sandbox/tools/payment', { ...order, once: `form-${forms}`, ...changes });
};

const changeKyc = (browser: TestBrowser, form: Record<string, string>) => {
  forms += 1;
  return act(browser, '/sandbox/tools/kyc', { once: `form-${forms}`, kid: 'KID-TEST-APPROVED', ...form });
};

/** Reads the content of the QR code on a page with an independent decoder. */
function scanned(text: string): string {
  const size = Number(/class="qr" viewBox="0 0 (\d+)/.exec(text)?.[1]);
  const scale = 4;
  const width = size * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x = '', y = '', length = ''] of text.matchAll(/M(\d+) (\d+)h(\d+)v1/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row += 1) {
      const start = row * width + Number(x) * scale;
      for (let at = start; at < start + Number(length) * scale; at += 1) pixels.fill(0, at * 4, at * 4 + 3);
    }
  }
  return decodeQr({ width, height: width, data: pixels });
}

describe('the passport tool', () => {
  it('issues a passport of the chosen user that the API verifies, and shows it once', async () => {
    const { kit, key, browser } = await visited();
    const mint = (kid: string, state: string) => act(browser, '/sandbox/tools/passport', { kid, state });
    const verify = (token: string) => kit.provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    const minted = await mint('KID-TEST-PENDING', 'valid');
    expect(minted.status).toBe(200);
    expect(minted.text).toContain('It is shown this once, and ends');
    expect(scanned(minted.text)).toBe(tokenIn(minted.text));
    expect((await verify(tokenIn(minted.text))).json()).toMatchObject({
      user: { kid: 'KID-TEST-PENDING', kycStatus: 'pending' },
    });
    const expired = await mint('KID-TEST-PENDING', 'expired');
    expect(expired.text).toContain('token_expired');
    expect((await verify(tokenIn(expired.text))).outcome).toBe('422 token_expired');
    expect(tokenIn((await browser.get('/sandbox/tools')).text)).toBe('');
  });

  it('offers only users of the sandbox', async () => {
    const { browser } = await visited();
    const mint = (kid: string) => act(browser, '/sandbox/tools/passport', { kid, state: 'valid' });
    expect((await mint('KID-ANA')).status).toBe(404);
    for (const [kid, status] of [
      ['<b>', 404],
      ['<b>é', 400],
    ] as const) {
      const refused = await mint(kid);
      expect([refused.status, tokenIn(refused.text)]).toEqual([status, '']);
      expect(refused.text).not.toContain('<b>');
    }
    expect((await mint('<b>é')).text).toContain('400 invalid_request');
  });
});

describe('the payment tool', () => {
  it.each([
    ['completed', '20.00', 'Completed', 'payment.completed'],
    ['failed', '20.01', 'sandbox_failure', 'payment.failed'],
    ['pending', '20.02', 'This one is pending', null],
  ] as const)(
    'makes one that is %s, and shows its state and its event',
    async (outcome, amount, words, type) => {
      const { kit, key, browser } = await visited();
      const paid = await pay(browser, { outcome, reference: 'order-1', kid: 'KID-TEST-REJECTED' });
      expect(target(paid)).toMatch(/^\/sandbox\/payments\/tr_[0-9a-f]{32}\?notice=paid$/);
      expect((await browser.get(paid.location ?? '')).text).toContain('This one is pending');
      while ((await kit.provider.ostiary.worker.runDue()) > 0);
      const { text } = await browser.get(paid.location ?? '');
      for (const part of [`${amount} USD`, 'order-1', 'KID-TEST-REJECTED', words])
        expect(text).toContain(part);
      const [payment] = await paymentsOf(kit, key);
      expect([payment?.status, payment?.reference]).toEqual([outcome, 'order-1']);
      const [event] = await eventsOf(kit, key);
      expect(event?.type ?? null).toBe(type);
      expect(text.includes('/sandbox/events/')).toBe(type !== null);
      if (event !== undefined) expect(text).toContain(`/sandbox/events/${event.id}`);
    },
  );

  it('shows the event of this payment, and not of another', async () => {
    const { kit, key, browser } = await visited();
    const [first, second] = [await pay(browser), await pay(browser)];
    while ((await kit.provider.ostiary.worker.runDue()) > 0);
    const shown = async (location: string | null) =>
      /\/sandbox\/events\/(evt_\w+)/.exec((await browser.get(location ?? '')).text)?.[1];
    const about = new Map(
      (await eventsOf(kit, key)).map(({ id, body }) => [id, JSON.parse(body).data.id as string]),
    );
    for (const { location } of [first, second])
      expect(location).toContain(about.get((await shown(location)) ?? '') ?? 'no event');
  });

  it('pays once for each form, even if it is sent several times', async () => {
    const { kit, key, browser } = await visited();
    const { text } = await browser.get('/sandbox/tools');
    const form = { ...order, csrf: csrfOf(text), once: onceIn(text) };
    expect(form.once).toMatch(/^[0-9a-f-]{36}$/);
    const send = () => browser.post('/sandbox/tools/payment', form);
    const answers = await Promise.all([send(), send(), send()]);
    answers.push(await send());
    expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
    expect(await paymentsOf(kit, key)).toHaveLength(1);
    // The form was changed after it was submitted: an error is shown, and no payment is made.
    const other = await browser.post('/sandbox/tools/payment', { ...form, amount: '21' });
    expect([other.status, other.text.includes('409 idempotency_conflict')]).toEqual([409, true]);
    expect(await paymentsOf(kit, key)).toHaveLength(1);
    const again = await browser.get('/sandbox/tools');
    expect(onceIn(again.text)).not.toBe(form.once);
    await browser.post('/sandbox/tools/payment', { ...form, once: onceIn(again.text) });
    expect(await paymentsOf(kit, key)).toHaveLength(2);
    const { once: _, ...bare } = form;
    expect((await browser.post('/sandbox/tools/payment', bare)).status).toBe(400);
  });

  it('keeps the input if the API refuses it, and marks the field', async () => {
    const { kit, key, browser } = await visited();
    await pay(browser, { reference: 'order-1' });
    const cases: [Record<string, string>, number, string, string | null][] = [
      [{ amount: '"><b>' }, 400, 'invalid_request', 'amount'],
      [{ amount: '0' }, 400, 'invalid_request', 'amount'],
      [{ amount: '7', reference: 'order-1' }, 409, 'idempotency_conflict', 'reference'],
      [{ currency: 'EUR' }, 400, 'invalid_request', null],
      [{ outcome: '5' }, 400, 'invalid_request', 'amount'],
    ];
    for (const [changes, status, code, field] of cases) {
      const refused = await pay(browser, { reference: 'order-2', ...changes });
      expect.soft([changes, refused.status]).toEqual([changes, status]);
      expect.soft(refused.text).toContain(`${status} ${code}`);
      const marked = Array.from(
        refused.text.matchAll(
          /<input [^>]* id="(\w+)" [^>]*aria-invalid="true" aria-describedby="\1-wrong \1-hint" autofocus>/g,
        ),
        ([, name]) => name,
      );
      expect.soft([changes, marked]).toEqual([changes, field === null ? [] : [field]]);
      expect.soft(refused.text).toContain(`value="${changes.reference ?? 'order-2'}"`);
      expect.soft(refused.text).not.toContain('<b>');
    }
    expect((await pay(browser, { kid: 'KID-ANA' })).status).toBe(404);
    expect(await paymentsOf(kit, key)).toHaveLength(1);
  });

  it('shows no payment of another partner, and no live one', async () => {
    const { kit, key, browser } = await visited();
    const [other, live] = [await kit.key(), await kit.provider.key({ mode: 'live', partner: key.partner })];
    for (const [by, kid] of [
      [other, 'KID-TEST-APPROVED'],
      [live, 'KID-ANA'],
    ] as const) {
      const body = { amount: '1.00', currency: 'HTG', recipient: { kid } };
      const { id } = (await kit.provider.partnerCall(by, 'POST /v1/partner/payments', body)).json();
      expect((await browser.get(`/sandbox/payments/${id}`)).status).toBe(404);
    }
    expect((await browser.get('/sandbox/payments/nonsense')).status).toBe(404);
  });
});

describe('the tool for identity checks', () => {
  it('changes what test keys see, notifies the test endpoints, and resets', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(key);
    const other = await kit.key();
    const seen = async (by = key) =>
      (await kit.provider.partnerCall(by, 'GET /v1/partner/users/KID-TEST-APPROVED')).json().kycStatus;
    const changed = await changeKyc(browser, { status: 'rejected' });
    expect(target(changed)).toMatch(/^\/sandbox\/events\/evt_\w+\?notice=kyc_changed$/);
    expect((await browser.get(changed.location ?? '')).text).toContain('kyc.updated');
    expect([await seen(), await seen(other)]).toEqual(['rejected', 'approved']);
    expect(await kit.attempt({})).toBe(1);
    const page = async () => (await browser.get('/sandbox/tools')).text;
    expect(await page()).toContain('changed by you');
    expect((await (await kit.signedIn(other)).get('/sandbox/tools')).text).not.toContain('changed by you');
    expect(target(await changeKyc(browser, { status: 'rejected' }))).toBe('/sandbox/tools?notice=kyc_same');

    await changeKyc(browser, { kid: 'KID-TEST-PENDING', status: 'approved' });
    expect(target(await changeKyc(browser, { action: 'reset' }))).toBe('/sandbox/tools?notice=kyc_reset');
    expect([await seen(), (await page()).includes('changed by you')]).toEqual(['approved', false]);
    expect(await page()).not.toContain('Reset every user');
    const told = (await eventsOf(kit, key)).map(({ body }) => JSON.parse(body).data);
    expect(told.map(({ kid, kycStatus, previous }) => [kid, previous.kycStatus, kycStatus])).toEqual([
      ['KID-TEST-APPROVED', 'approved', 'rejected'],
      ['KID-TEST-PENDING', 'pending', 'approved'],
      ['KID-TEST-APPROVED', 'rejected', 'approved'],
      ['KID-TEST-PENDING', 'approved', 'pending'],
    ]);
    expect(await eventsOf(kit, other)).toEqual([]);
  });

  it('notifies of a change once even if its form is sent again, and forgets the change after a week', async () => {
    const { kit, key, browser } = await visited();
    const send = () => changeKyc(browser, { status: 'pending', once: 'form' });
    const answers = await Promise.all([send(), send()]);
    expect(new Set(answers.map(target)).size).toBe(1);
    expect(await eventsOf(kit, key)).toHaveLength(1);
    kit.provider.clock.advance(sandboxKycLifetimeMs);
    const { text } = await (await kit.signedIn(key)).get('/sandbox/tools');
    expect(text).not.toContain('changed by you');
  });

  it('accepts only sandbox users and known states', async () => {
    const { kit, key, browser } = await visited();
    expect((await changeKyc(browser, { kid: 'KID-ANA', status: 'rejected' })).status).toBe(404);
    const refused = await changeKyc(browser, { status: '<i>' });
    expect([refused.status, refused.text.includes('kycStatus:')]).toEqual([400, true]);
    expect(refused.text).not.toContain('<i>');
    expect(await eventsOf(kit, key)).toEqual([]);
  });
});

describe('a key that lacks a scope', () => {
  it.each([
    ['identity:verify', ['passport', 'kyc']],
    ['payments:write', ['payment']],
    ['payments:read', ['payment']],
  ] as const)('is told that %s is missing, by %j, and the other tools work', async (missing, tools) => {
    const kit = await consoleKit();
    const scopes = everyScope.filter((scope) => scope !== missing);
    const key = await kit.provider.key({ mode: 'test', scopes });
    const browser = await kit.signedIn(key);
    const { text } = await browser.get('/sandbox/tools');
    for (const tool of ['passport', 'payment', 'kyc', 'signature']) {
      const panel = text.split(`id="${tool}"`)[1]?.split('</section>')[0] ?? '';
      const lacks = tools.some((name) => name === tool);
      expect.soft([tool, panel.includes(`<code>${missing}</code>`)]).toEqual([tool, lacks]);
      expect.soft([tool, panel.includes('<form')]).toEqual([tool, !lacks && tool !== 'signature']);
    }
    // Forms that were opened before the key lost the scopes.
    const forms = { passport: { state: 'valid', kid: '' }, payment: order, kyc: { status: 'pending' } };
    const [tool] = tools;
    if (missing === 'payments:read') return;
    const answer = await act(browser, `/sandbox/tools/${tool}`, { once: 'form', ...forms[tool] });
    expect([answer.status, answer.text.includes(`<code>${missing}</code>`)]).toEqual([403, true]);
    expect(await eventsOf(kit, key)).toEqual([]);
    expect(await paymentsOf(kit, key)).toEqual([]);
  });
});

describe('the page of the tools', () => {
  it('is in the navigation of every page, and needs a sign-in', async () => {
    const { kit, browser } = await visited();
    for (const path of ['/sandbox', '/sandbox/tools', '/sandbox/endpoints', '/sandbox/requests'])
      expect((await browser.get(path)).text).toMatch(/sandbox\/tools"[^>]*><span>Test tools</);
    const stranger = kit.provider.browser(null);
    for (const path of ['/sandbox/tools', `/sandbox/payments/tr_${'0'.repeat(32)}`])
      expect((await stranger.get(path)).status).toBe(303);
  });

  it('makes the same number of storage calls for any amount of data', async () => {
    const database = fragileStorage();
    const { kit, key, browser } = await visited({}, database.storage);
    const count = async () => {
      database.forget();
      await browser.get('/sandbox/tools');
      return [...database.calls];
    };
    const few = await count();
    for (const path of ['/one', '/two', '/three']) await kit.endpoint(key, path);
    await changeKyc(browser, { status: 'pending' });
    expect([await count(), few.length < 12]).toEqual([few, true]);
  });
});
