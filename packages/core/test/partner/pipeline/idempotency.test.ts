import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { rawPost, sendRaw } from '../../attacks/raw.ts';
import type { Answer } from '../../support/browser.ts';
import { partnerProvider, payment, testPayment } from '../../support/partner-api.ts';
import type { TestKey } from '../../support/provider.ts';
import { blamed } from '../refusal.ts';
import { answering, hooks, shop as open, secret, url } from '../webhook-shop.ts';

const since = '2020-01-01T00:00:00Z';
const day = 24 * 3_600_000;
const registration = { url, events: ['webhook.test'], secret };
const replayed = (answer: Answer) => answer.headers.get('idempotent-replayed');
const keyed = (key = 'k') => ({ 'idempotency-key': key });

const shop = (options: Parameters<typeof open>[0] = {}) =>
  open({ ...options, webhooks: { retryDelaysSeconds: [], ...options.webhooks } });
type Shop = Awaited<ReturnType<typeof shop>>;

/** Creates an endpoint with two dropped deliveries. */
async function lost({ register, trigger, work }: Shop) {
  const id = await register((await answering(500)).url);
  const [event] = [await trigger(), await trigger()];
  await work();
  return { id, event };
}

/**
 * Five requests that accept an idempotency key, each with another body for the same key. A second execution
 * would give another id or number.
 */
const cases: Readonly<Record<string, (shop: Shop) => Promise<readonly [string, object, object, number]>>> = {
  paying: async () => ['POST /v1/partner/payments', testPayment, { ...testPayment, amount: '125.01' }, 201],
  registering: async () => [`POST ${hooks}`, registration, { ...registration, events: ['kyc.updated'] }, 201],
  'a sandbox event': async () => [
    'POST /v1/partner/sandbox/events',
    { type: 'webhook.test' },
    { type: 'kyc.updated' },
    201,
  ],
  async 'delivering again'(given) {
    const { id, event } = await lost(given);
    return [`POST /v1/partner/events/${event.id}/redeliver`, {}, { endpointId: id }, 200];
  },
  async recovering(given) {
    const { id } = await lost(given);
    return [`POST ${hooks}/${id}/recover`, { since }, { since: '2021-01-01T00:00:00Z' }, 200];
  },
};

describe.each(Object.entries(cases))('an Idempotency-Key for %s', (_name, arrange) => {
  async function counter(options: Parameters<typeof open>[0] = {}) {
    const given = await shop(options);
    const [target, body, other, status] = await arrange(given);
    const arranged = { target, body, other, status };
    const send = (idempotencyKey = 'k', changes: { body?: unknown; target?: string; by?: TestKey } = {}) => {
      const sent = { ...arranged, by: given.key, ...changes };
      return given.provider.partnerCall(sent.by, sent.target, sent.body, keyed(idempotencyKey));
    };
    return { ...given, ...arranged, send };
  }

  function expectOne(answers: readonly Answer[], status: number): void {
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(replayed).sort()).toEqual([null, ...answers.slice(1).map(() => 'true')]);
  }

  it('makes one of twenty parallel requests, with twenty equal answers', async () => {
    const { status, send } = await counter();
    expectOne(await Promise.all(Array.from({ length: 20 }, () => send())), status);
  });

  it('replays the original bytes, without a write, even if the data has changed since', async () => {
    // Without the request log, which is written after the response.
    const { provider, list, status, send, work, database } = await counter({ requestLog: 'off' });
    const first = await send();
    await work();
    provider.clock.advance(day - 1);
    // The cached API key is older than five seconds: let another request read it again first.
    await list('/v1/partner/payments');
    database.forget();
    const again = await send('"k"');
    expect(database.calls).toEqual(['apiKeys.isLive', 'rateLimits.consume', 'idempotency.find']);
    expectOne([first, again], status);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    // After a day the key has expired, and the request runs again.
    provider.clock.advance(1);
    const later = await send();
    expect([later.status, replayed(later)]).toEqual([status, null]);
  });

  it('is a conflict with another body, or under another path', async () => {
    const { register, body, other, send } = await counter();
    await send();
    const id = await register(`${url}/elsewhere`);
    const changed = [{ body: other }, { body: JSON.stringify(body).replace('{', '{ ') }];
    const elsewhere = [
      { target: `POST /v1/partner/events/evt_${'0'.repeat(32)}/redeliver`, body: {} },
      { target: `POST ${hooks}/${id}/recover`, body: { since } },
      { target: `POST ${hooks}`, body: { ...registration, events: ['payment.failed'] } },
      { target: 'POST /v1/partner/sandbox/events', body: { type: 'payment.failed' } },
      { target: 'POST /v1/partner/payments', body: { ...testPayment, amount: '1.00' } },
    ];
    for (const changes of [...changed, ...elsewhere])
      expect([changes, blamed(await send('k', changes), 409, 'idempotency_conflict')]).toEqual([changes, []]);
  });

  it('is forgotten where the request was refused', async () => {
    const { status, send } = await counter();
    expect((await send('k', { body: { nonsense: true } })).status).toBe(400);
    const good = await send();
    expect([good.status, replayed(good)]).toEqual([status, null]);
  });

  it('belongs to one partner and mode, and is not replayed to a key without the right to the request', async () => {
    const { provider, key, send } = await counter();
    const { partner } = key;
    const first = await send();
    const mode = 'test';
    expect((await send('k', { by: await provider.key({ partner, mode }) })).text).toBe(first.text);
    for (const by of [await provider.key({ mode }), await provider.key({ partner })])
      expect(replayed(await send('k', { by }))).toBeNull();
    const powerless = await provider.key({ partner, mode, scopes: ['payments:read'] });
    const elsewhere = await provider.key({ partner, mode, allowlist: ['192.0.2.1'] });
    for (const by of [powerless, elsewhere]) expect((await send('k', { by })).status).toBe(403);
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    expect((await send()).status).toBe(401);
  });

  it('is replayed after a change of the sealing key', async () => {
    const storage = memoryStorage();
    const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const { provider, key, target, body, status, send } = await counter({ storage, sealingKeys: [old] });
    const first = await send();
    const { provider: after } = await shop({ storage, sealingKeys: [current, old], clock: provider.clock });
    expectOne([first, await after.partnerCall(key, target, body, keyed())], status);
  });
});

describe('an Idempotency-Key', () => {
  it('of a registration needs no room and no name server when it is replayed', async () => {
    const resolved: string[] = [];
    const resolve = async (hostname: string) => {
      resolved.push(hostname);
      if (resolved.length > 1) throw new Error('the name server is down');
      return ['93.184.216.34'];
    };
    const { provider, key, call, list } = await shop({ webhooks: { allowPrivateTargets: false, resolve } });
    const body = { ...registration, url: 'https://receiver.example/' };
    const send = () => provider.partnerCall(key, `POST ${hooks}`, body, keyed());
    const first = await send();
    const again = await send();
    expect([again.status, again.text, resolved]).toEqual([201, first.text, ['receiver.example']]);
    // The stored response stays the same after the endpoint was deleted, and does not restore it.
    await call(`DELETE ${hooks}/${first.json().id}`);
    expect((await send()).text).toBe(first.text);
    expect(await list(hooks)).toEqual([]);
  });

  it('is ignored where a repetition changes nothing anyway', async () => {
    const { provider, key, register } = await shop();
    const id = await register();
    const send = (target: string, body?: unknown) => provider.partnerCall(key, target, body, keyed(''));
    expect((await send(`PATCH ${hooks}/${id}`, { enabled: false })).status).toBe(200);
    expect((await send('GET /v1/partner/events')).status).toBe(200);
    expect((await send(`DELETE ${hooks}/${id}`)).status).toBe(200);
  });

  it('is 1 to 255 printable ASCII characters, once', async () => {
    const { provider } = await partnerProvider();
    const { key } = await provider.key();
    const send = (...values: readonly string[]) => {
      const headers = [`X-API-Key: ${key}`, 'Content-Type: application/json'];
      for (const value of values) headers.push(`Idempotency-Key: ${value}`);
      return sendRaw(provider.origin, rawPost('/v1/partner/payments', headers, JSON.stringify(payment)));
    };
    for (const good of ['k', 'k'.repeat(255), `"${'k'.repeat(255)}"`, '~!@#$%^&*()', 'a, b'])
      expect.soft((await send(good)).status, good).toBe(201);
    const bad = [[''], ['""'], ['k'.repeat(256)], ['k\xe9'], ['k\ty'], ['one', 'two'], ['same', 'same']];
    for (const values of bad) {
      const { status, body } = await send(...values);
      expect.soft([values, status]).toEqual([values, 400]);
      const refusal = { code: 'invalid_request', details: [{ path: 'Idempotency-Key' }] };
      expect.soft(JSON.parse(body)).toMatchObject(refusal);
    }
  });

  it('is ignored where an answer must not be kept: verifying and minting passports', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key({ mode: 'test' });
    const mint = () => provider.partnerCall(key, 'POST /v1/partner/sandbox/passports', {}, keyed());
    const [first, second] = [(await mint()).json().token, (await mint()).json().token];
    expect(first).not.toBe(second);
    const verify = (token: unknown, idempotencyKey = 'k') =>
      provider.partnerCall(key, 'POST /v1/partner/verify', { token }, keyed(idempotencyKey));
    expect((await verify(first)).status).toBe(200);
    expect(replayed(await verify(second))).toBeNull();
    expect((await verify('x', '""')).json().details).toMatchObject([{ path: 'token' }]);
    provider.clock.advance(300_001);
    expect((await verify(first)).status).toBe(422);
  });
});
