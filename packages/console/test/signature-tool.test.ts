import { createHmac, randomBytes } from 'node:crypto';
import { safeVerify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { serve } from '../../core/test/support/running.ts';
import { type Received, type Sink, sink } from '../../core/test/webhooks/support/sink.ts';
import { act, consoleKit, visited } from './console-kit.ts';

const secret = 'whsec_0123456789abcdef';

const atHome = { webhooks: { allowPrivateTargets: true } };

/**
 * Signs a partner in, registers an endpoint at the given URL, and returns a function that uses the console's
 * signature tool on the endpoint.
 */
async function checking(url: string) {
  const { kit, key, browser } = await visited(atHome);
  const settings = { url, secret, events: ['*'] };
  const { id } = (await kit.provider.partnerCall(key, 'POST /v1/partner/webhooks', settings)).json();
  const check = (endpoint = String(id)) => act(browser, '/sandbox/tools/signature', { endpoint });
  return { kit, key, browser, id: String(id), check };
}

/** Checks whether a webhook receiver with the verifier would accept the request. */
const isGenuine = async ({ headers, body, at }: Received): Promise<boolean> =>
  (await safeVerify(body, headers, { secret, now: at })).ok;

/** Starts a webhook receiver that responds with the given statuses to genuine and forged signatures. */
async function receiver(genuine: number, forged: number, words = ''): Promise<Sink> {
  const endpoint = await sink();
  endpoint.answer = async (response, delivery) =>
    void response.writeHead((await isGenuine(delivery)) ? genuine : forged).end(words);
  return endpoint;
}

describe('the check that an endpoint verifies signatures', () => {
  it.each([
    [204, 400, 'This endpoint verifies signatures', true],
    [200, 401, 'This endpoint verifies signatures', true],
    [200, 200, 'Anybody who knows its address could send it events', false],
    [500, 200, 'Anybody who knows its address could send it events', false],
    [204, 500, 'it did not refuse it with 4xx either', false],
    [204, 302, 'it did not refuse it with 4xx either', false],
    [400, 400, 'did not take the event that was rightly signed', false],
    [503, 400, 'did not take the event that was rightly signed', false],
  ])(
    'says of %i for the right event and %i for the forged one: %s',
    async (genuine, forged, words, isRight) => {
      const endpoint = await receiver(genuine, forged, '<i>from the endpoint');
      const { check } = await checking(endpoint.url);
      const { status, text } = await check();
      expect(status).toBe(200);
      for (const part of [words, `HTTP ${genuine}`, `HTTP ${forged}`]) expect(text).toContain(part);
      expect(text.includes('class="notice bad"')).toBe(!isRight);
      if (genuine !== 204) expect(text).toContain('&lt;i&gt;from the endpoint');
      expect(text).not.toContain('<i>');
      expect(endpoint.received).toHaveLength(2);
    },
  );

  it('sends two events of their own that differ in the signature alone, and stores and repeats neither', async () => {
    const endpoint = await sink();
    const { kit, key, check } = await checking(endpoint.url);
    await check();
    const ids = endpoint.received.map(({ body }) => JSON.parse(String(body)).id as string);
    expect(new Set(ids).size).toBe(2);
    const genuine = await Promise.all(endpoint.received.map(isGenuine));
    expect(genuine.toSorted()).toEqual([false, true]);
    for (const { headers, body } of endpoint.received) {
      expect(JSON.parse(String(body))).toMatchObject({ type: 'webhook.test', mode: 'test' });
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-svc-partner': key.partner,
        'x-svc-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    }
    const owner = { partner: key.partner, mode: 'test' } as const;
    expect((await kit.storage.events.list({ ...owner, after: 0, limit: 10 })).events).toEqual([]);
    kit.provider.clock.advance(24 * 3600_000);
    expect(await kit.attempt({})).toBe(0);
  });

  it('says when the endpoint does not respond', async () => {
    const { check } = await checking('http://127.0.0.1:9/hook');
    const { text } = await check();
    expect(text).toContain('so nothing can be said of it');
    expect(text).toContain('Nothing listens at this address.');
  });

  it('connects only to public addresses, unless the host allows others', async () => {
    const { kit, key, browser } = await visited({ webhooks: { resolve: async () => ['93.184.216.34'] } });
    const id = await kit.endpoint(key);
    // Store an internal address as the URL of the endpoint, which the API would refuse.
    const endpoint = await sink();
    const moved = await kit.storage.webhooks.find({ partner: key.partner, mode: 'test' }, id);
    if (moved === null) throw new Error('no endpoint');
    await kit.storage.webhooks.replace({ ...moved, url: endpoint.url, version: moved.version + 1 }, 0);
    const { text } = await act(browser, '/sandbox/tools/signature', { endpoint: id });
    expect(text).toContain('target_refused');
    expect(endpoint.received).toEqual([]);
  });

  it('is limited for each partner, and says when it is possible again', async () => {
    const endpoint = await receiver(204, 400);
    const { kit, key, id, check } = await checking(endpoint.url);
    for (let count = 0; count < 6; count += 1) expect((await check()).status).toBe(200);
    const refused = await check();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(refused.text).toContain('429 rate_limit_exceeded');
    // Another key of the same partner shares its limit.
    const sibling = await kit.provider.key({ mode: 'test', partner: key.partner });
    const form = { endpoint: id };
    expect((await act(await kit.signedIn(sibling), '/sandbox/tools/signature', form)).status).toBe(429);
    expect(endpoint.received).toHaveLength(12);
    // Another partner has its own limit.
    const other = await kit.key();
    const settings = { url: endpoint.url, secret, events: ['*'] };
    const theirs = (await kit.provider.partnerCall(other, 'POST /v1/partner/webhooks', settings)).json();
    const theirForm = { endpoint: String(theirs.id) };
    const allowed = await act(await kit.signedIn(other), '/sandbox/tools/signature', theirForm);
    expect(allowed.status).toBe(200);
    kit.provider.clock.advance(60_000);
    expect((await check()).status).toBe(200);
  });

  it('is refused for a form that did not come from the console', async () => {
    const endpoint = await receiver(204, 400);
    const { kit, key, id, browser } = await checking(endpoint.url);
    const path = '/sandbox/tools/signature';
    const otherForm = /name="csrf" value="([^"]+)"/.exec(
      (await (await kit.signedIn(key)).get('/sandbox/tools')).text,
    )?.[1];
    for (const proof of [{}, { csrf: String(otherForm) }])
      expect((await browser.post(path, { endpoint: id, ...proof })).status).toBe(403);
    expect((await browser.get(`${path}?endpoint=${id}`)).status).toBe(405);
    expect((await kit.provider.browser(null).post(path, { endpoint: id })).status).toBe(303);
    expect(endpoint.received).toEqual([]);
  });

  it('is for enabled test endpoints of this partner alone', async () => {
    const endpoint = await receiver(204, 400);
    const { kit, key, id, browser, check } = await checking(endpoint.url);
    const register = async (by: typeof key) => {
      const settings = { url: endpoint.url, secret, events: ['*'] };
      return String((await kit.provider.partnerCall(by, 'POST /v1/partner/webhooks', settings)).json().id);
    };
    const others = await register(await kit.key());
    const live = await register(await kit.provider.key({ mode: 'live', partner: key.partner }));
    for (const strange of [others, live, `we_${'0'.repeat(32)}`, 'nonsense', ''])
      expect((await check(strange)).status).toBe(404);
    await act(browser, `/sandbox/endpoints/${id}`, { action: 'disable' });
    const { status, text } = await check();
    expect([status, text.includes('disabled; enable it first')]).toEqual([400, true]);
    expect(text).toContain('There is no enabled endpoint yet.');
    expect(endpoint.received).toEqual([]);
  });
});

describe('the first run', () => {
  const state = (text: string) =>
    Array.from(text.matchAll(/id="step-(\w+)"><span class="tick (\w*)"/g), ([, name, tick]) =>
      tick === 'done' ? `${name}: done` : name,
    );

  it('checks off the steps that really happened, also with the API, and disappears when all are done', async () => {
    const kit = await consoleKit(atHome);
    const key = await kit.key();
    const browser = await kit.signedIn(key);
    const home = async () => {
      const { status, text } = await browser.get('/sandbox');
      expect(status).toBe(200);
      return state(text);
    };
    expect(await home()).toEqual(['endpoint', 'event', 'signature', 'payment']);
    const endpoint = await receiver(204, 200);
    const settings = { url: endpoint.url, secret, events: ['*'] };
    const { id } = (await kit.provider.partnerCall(key, 'POST /v1/partner/webhooks', settings)).json();
    expect(await home()).toEqual(['endpoint: done', 'event', 'signature', 'payment']);
    await kit.event(key);
    expect(await home()).toEqual(['endpoint: done', 'event: done', 'signature', 'payment']);
    // The step is not done while the endpoint accepts a forged event.
    const check = () => act(browser, '/sandbox/tools/signature', { endpoint: String(id) });
    await check();
    expect(await home()).toEqual(['endpoint: done', 'event: done', 'signature', 'payment']);
    endpoint.answer = async (response, delivery) =>
      void response.writeHead((await isGenuine(delivery)) ? 204 : 403).end();
    await check();
    expect(await home()).toEqual(['endpoint: done', 'event: done', 'signature: done', 'payment']);
    // Live payments do not count for the sandbox's first steps.
    const live = await kit.provider.key({ mode: 'live', partner: key.partner });
    const pay = (by: typeof key, kid: string) =>
      kit.provider.partnerCall(by, 'POST /v1/partner/payments', {
        amount: '1.00',
        currency: 'HTG',
        recipient: { kid },
      });
    expect((await pay(live, 'KID-ANA')).status).toBe(201);
    expect(await home()).toEqual(['endpoint: done', 'event: done', 'signature: done', 'payment']);
    await pay(key, 'KID-TEST-APPROVED');
    expect(await home()).toEqual([]);
    // The steps stay done after a check that fails, and after the endpoint was removed.
    endpoint.answer = async (response) => void response.writeHead(204).end();
    expect((await check()).text).toContain('Anybody who knows its address could send it events');
    expect(await home()).toEqual([]);
    await act(browser, `/sandbox/endpoints/${id}`, { action: 'remove' });
    expect(await home()).toEqual([]);
    const other = await kit.signedIn(await kit.key());
    expect(state((await other.get('/sandbox')).text)).toEqual(['endpoint', 'event', 'signature', 'payment']);
  });

  it('can be hidden for a session, and is shown again in the next one', async () => {
    const { kit, key, browser } = await visited();
    const hasSteps = async (by = browser) => (await by.get('/sandbox')).text.includes('id="first-run"');
    expect(await hasSteps()).toBe(true);
    const answer = await act(browser, '/sandbox/first-run', {});
    expect([answer.status, new URL(answer.location ?? '').pathname]).toEqual([303, '/sandbox']);
    expect(answer.headers.get('set-cookie')).toMatch(
      /_sandbox_steps=[\w-]{16}; Path=\/sandbox; HttpOnly; SameSite=Strict$/,
    );
    expect(await hasSteps()).toBe(false);
    expect(await hasSteps(await kit.signedIn(key))).toBe(true);
    // The same browser signs in again.
    await act(browser, '/sandbox/sign-out', {});
    const { text } = await browser.get('/sandbox');
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    await browser.post('/sandbox/sign-in', { key: key.key, csrf });
    expect(await hasSteps()).toBe(true);
  });
});

it('a receiver that passes the check accepts a delivery', async () => {
  const taken: string[] = [];
  const origin = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const result = await safeVerify(Buffer.concat(chunks), request.headers, { secret });
    if (result.ok) taken.push(result.delivery.id);
    response.writeHead(result.ok ? 204 : 400).end();
  });
  const { kit, key, check } = await checking(`${origin}/hook`);
  expect((await check()).text).toContain('This endpoint verifies signatures');
  expect(taken).toHaveLength(1);
  const event = await kit.event(key);
  while ((await kit.provider.ostiary.worker.runDue()) > 0);
  expect(taken).toContain(event);
});

it('signs both events as Standard Webhooks says too, where the service has that option, and shows it in the request of an attempt', async () => {
  const endpoint = await sink();
  const bytes = randomBytes(32);
  endpoint.answer = (response, { headers, body }) => {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signature = `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`;
    response.writeHead(headers['webhook-signature'] === signature ? 204 : 400).end();
  };
  const options = { webhooks: { allowPrivateTargets: true, standardHeaders: true } };
  const { kit, key, browser } = await visited(options);
  const settings = { url: endpoint.url, secret: `whsec_${bytes.toString('base64')}`, events: ['*'] };
  const { id } = (await kit.provider.partnerCall(key, 'POST /v1/partner/webhooks', settings)).json();
  const checked = await act(browser, '/sandbox/tools/signature', { endpoint: String(id) });
  expect(checked.text).toContain('This endpoint verifies signatures');

  const event = await kit.event(key);
  while ((await kit.provider.ostiary.worker.runDue()) > 0);
  const { text } = await browser.get(`/sandbox/events/${event}`);
  const sent = endpoint.received.at(-1)?.headers ?? {};
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect.soft(text).toContain(`${name}: ${sent[name]}`);
});

it('generates secrets in base64 if the service has that option', async () => {
  const { browser } = await visited({
    webhooks: { resolve: async () => ['93.184.216.34'], standardHeaders: true },
  });
  const form = { url: 'https://receiver.example/hook', 'type *': 'on', secret: '' };
  const { location } = await act(browser, '/sandbox/endpoints', form);
  const { text } = await browser.get(location ?? '');
  const [, encoded = ''] = /whsec_([\w+/]{43}=)/.exec(text) ?? [];
  expect(Buffer.from(encoded, 'base64')).toHaveLength(32);
});
