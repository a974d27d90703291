import { createSecretKey } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { readIdempotencyKey } from '../../src/partner/pipeline/idempotency.ts';
import { rawPost, sendRaw } from '../attacks/raw.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import {
  partnerProvider,
  payment,
  storages,
  temporaryDatabase,
  testPayment,
} from '../support/partner-api.ts';
import { type Json, TestClock, type TestKey, type TestProvider } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import {
  deliveries,
  register,
  secret,
  trigger,
  webhookProvider,
} from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const pay = 'POST /v1/partner/payments';
const url = 'http://127.0.0.1:9/hook';
const since = '2020-01-01T00:00:00Z';
const day = 24 * 3_600_000;
const replayed = (answer: Answer) => answer.headers.get('idempotent-replayed');
const brief = (answer: Answer) => [answer.status, answer.json().code ?? answer.json().id, replayed(answer)];

/** One of the five requests that take a key, and what there is of its effect. */
interface Case {
  readonly target: string;
  readonly body: unknown;
  readonly other: unknown;
  readonly status: number;
  readonly effects: () => Promise<number>;
  /** How many effects one request has. */
  readonly effect: number;
}

const names = ['paying', 'registering', 'sandbox event', 'delivering again', 'recovering'] as const;
type CaseName = (typeof names)[number];

async function shop(options: Partial<OstiaryOptions> = {}) {
  const { provider } = await webhookProvider({
    ...options,
    webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [] },
  });
  const key = await provider.key({ mode: 'test' });
  return { provider, key };
}

/** Makes ready what a request needs. */
async function arrange(name: CaseName, provider: TestProvider, key: TestKey): Promise<Case> {
  const count = async (path: string): Promise<number> =>
    ((await provider.partnerCall(key, `GET ${path}`)).json().data as unknown[]).length;
  if (name === 'paying')
    return {
      target: pay,
      body: testPayment,
      other: { ...testPayment, amount: '125.01' },
      status: 201,
      effects: () => count('/v1/partner/payments?limit=100'),
      effect: 1,
    };
  if (name === 'registering')
    return {
      target: 'POST /v1/partner/webhooks',
      body: { url, events: ['*'], secret },
      other: { url, events: ['kyc.updated'], secret },
      status: 201,
      effects: () => count('/v1/partner/webhooks'),
      effect: 1,
    };
  if (name === 'sandbox event')
    return {
      target: 'POST /v1/partner/sandbox/events',
      body: { type: 'webhook.test' },
      other: { type: 'kyc.updated' },
      status: 201,
      effects: () => count('/v1/partner/events?limit=100'),
      effect: 1,
    };
  const endpoint = await sink();
  endpoint.answer = (response) => void response.writeHead(500).end();
  const id = await register(provider, key, endpoint.url);
  const [event] = [await trigger(provider, key), await trigger(provider, key)];
  await provider.ostiary.worker.runDue();
  const before = (await deliveries(provider, key, id)).length;
  expect(before).toBe(2);
  const effects = async () => (await deliveries(provider, key, id)).length - before;
  return name === 'delivering again'
    ? {
        target: `POST /v1/partner/events/${event.id}/redeliver`,
        body: {},
        other: { endpointId: id },
        status: 200,
        effects,
        effect: 1,
      }
    : {
        target: `POST /v1/partner/webhooks/${id}/recover`,
        body: { since },
        other: { since: '2021-01-01T00:00:00Z' },
        status: 200,
        effects,
        effect: 2,
      };
}

describe.each(storages)('on %s', (_storage, newStorage) => {
  describe.each(names)('an Idempotency-Key for %s', (name) => {
    async function counter(storage = newStorage()) {
      const { provider, key } = await shop({ storage });
      const given = await arrange(name, provider, key);
      const send = (
        idempotencyKey: string,
        {
          body = given.body,
          target = given.target,
          by = key,
        }: { body?: unknown; target?: string; by?: TestKey } = {},
      ) => provider.partnerCall(by, target, body, { 'idempotency-key': idempotencyKey });
      return { provider, key, given, send };
    }

    it('makes one of twenty parallel requests, with twenty equal answers', async () => {
      const { given, send } = await counter();
      const answers = await Promise.all(Array.from({ length: 20 }, () => send('k')));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => given.status));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
      expect(answers.filter((answer) => replayed(answer) === 'true')).toHaveLength(19);
      expect(await given.effects()).toBe(given.effect);
    });

    it('replays the bytes of then, whatever has happened since, and does nothing', async () => {
      const { provider, given, send } = await counter();
      const first = await send('k');
      await provider.ostiary.worker.runDue();
      const after = await given.effects();
      provider.clock.advance(day - 1);
      const again = await send('"k"');
      expect([again.status, again.text, replayed(again)]).toEqual([given.status, first.text, 'true']);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(await given.effects()).toBe(after);
      // A day later it is a request like any other.
      provider.clock.advance(1);
      const later = await send('k');
      expect([later.status, replayed(later)]).toEqual([given.status, null]);
    });

    it('is a conflict with another body, or under another path', async () => {
      const { provider, key, given, send } = await counter();
      await send('k');
      const other = `evt_${'0'.repeat(32)}`;
      const id = await register(provider, key, `${url}/elsewhere`);
      const before = await given.effects();
      for (const changes of [
        { body: given.other },
        { body: JSON.stringify(given.body).replace('{', '{ ') },
        { target: `POST /v1/partner/events/${other}/redeliver` },
        { target: `POST /v1/partner/webhooks/${id}/recover` },
        { target: 'POST /v1/partner/webhooks', body: { url, events: ['payment.failed'], secret } },
        { target: 'POST /v1/partner/sandbox/events', body: { type: 'payment.failed' } },
        { target: pay, body: { ...testPayment, amount: '1.00' } },
      ]) {
        const answer = await send('k', changes);
        // A body that fits no other path is refused before anybody asks for the key.
        if (answer.status === 400) continue;
        expect([changes, blamed(answer, 409, 'idempotency_conflict')]).toEqual([changes, []]);
      }
      expect(await given.effects()).toBe(before);
    });

    it('is forgotten where the request was refused', async () => {
      const { given, send } = await counter();
      const refused = await send('k', { body: { nonsense: true } });
      expect(refused.status).toBe(400);
      const good = await send('k');
      expect([good.status, replayed(good)]).toEqual([given.status, null]);
    });

    it('belongs to one partner and mode, and answers nobody who may not ask any more', async () => {
      const { provider, key, given, send } = await counter();
      const first = await send('k');
      const sibling = await provider.key({ partner: key.partner, mode: 'test' });
      expect((await send('k', { by: sibling })).text).toBe(first.text);
      const stranger = await provider.key({ mode: 'test' });
      expect(replayed(await send('k', { by: stranger }))).toBeNull();
      const powerless = await provider.key({ partner: key.partner, mode: 'test', scopes: ['payments:read'] });
      expect((await send('k', { by: powerless })).status).toBe(403);
      const elsewhere = await provider.key({ partner: key.partner, mode: 'test', allowlist: ['192.0.2.1'] });
      expect((await send('k', { by: elsewhere })).status).toBe(403);
      await provider.ostiary.admin.apiKeys.revoke(key.id);
      expect((await send('k')).status).toBe(401);
      expect(given.status).toBeGreaterThanOrEqual(200);
    });
  });

  it('the same key and body for another event is a conflict, not the answer of the first', async () => {
    const { provider, key } = await shop({ storage: newStorage() });
    await register(provider, key, url);
    const [one, two] = [await trigger(provider, key), await trigger(provider, key)];
    const again = (event: Json) =>
      provider.partnerCall(
        key,
        `POST /v1/partner/events/${event.id}/redeliver`,
        {},
        { 'idempotency-key': 'k' },
      );
    expect((await again(one)).status).toBe(200);
    expect(blamed(await again(two), 409, 'idempotency_conflict')).toEqual([]);
    expect(replayed(await again(one))).toBe('true');
    const [first, second] = [await register(provider, key, url), await register(provider, key, url)];
    const recover = (id: string) =>
      provider.partnerCall(
        key,
        `POST /v1/partner/webhooks/${id}/recover`,
        { since },
        { 'idempotency-key': 'r' },
      );
    expect((await recover(first)).status).toBe(200);
    expect(blamed(await recover(second), 409, 'idempotency_conflict')).toEqual([]);
  });

  it('a registration that is replayed needs no room and no name server', async () => {
    const resolved: string[] = [];
    const { provider } = await webhookProvider({
      storage: newStorage(),
      webhooks: {
        allowPrivateTargets: false,
        resolve: async (hostname) => {
          resolved.push(hostname);
          if (resolved.length > 1) throw new Error('the name server is down');
          return ['93.184.216.34'];
        },
      },
    });
    const key = await provider.key();
    const send = () =>
      provider.partnerCall(
        key,
        'POST /v1/partner/webhooks',
        { url: 'https://receiver.example/', events: ['*'], secret },
        { 'idempotency-key': 'k' },
      );
    const first = await send();
    expect(first.status).toBe(201);
    const again = await send();
    expect([again.status, again.text, resolved]).toEqual([201, first.text, ['receiver.example']]);
    // Of an endpoint that is gone the answer stays what it was; nothing comes back.
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${first.json().id}`);
    expect((await send()).text).toBe(first.text);
    expect((await provider.partnerCall(key, 'GET /v1/partner/webhooks')).json()).toEqual({ data: [] });
  });
});

describe.each(names)('replaying %s', (name) => {
  it('writes nothing', async () => {
    const database = fragileStorage();
    const { provider, key } = await shop({ storage: database.storage });
    const { target, body } = await arrange(name, provider, key);
    const send = () => provider.partnerCall(key, target, body, { 'idempotency-key': 'k' });
    await send();
    database.forget();
    expect(replayed(await send())).toBe('true');
    expect(database.calls).toEqual(['rateLimits.consumeOfKey', 'idempotency.find']);
  });

  it('is possible after a change of the sealing key', async () => {
    const storage = memoryStorage();
    const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const { provider: before, key } = await shop({ storage, sealingKeys: [old] });
    const { target, body, status } = await arrange(name, before, key);
    const headers = { 'idempotency-key': 'k' };
    const first = await before.partnerCall(key, target, body, headers);
    const { provider: after } = await shop({ storage, sealingKeys: [current, old], clock: before.clock });
    const again = await after.partnerCall(key, target, body, headers);
    expect([again.status, again.text, replayed(again)]).toEqual([status, first.text, 'true']);
  });

  it('is possible in another process, which may have been asked at the same time', async () => {
    const file = temporaryDatabase();
    const shared = { sealingKeys: [new Uint8Array(32).fill(1)], clock: new TestClock() };
    const { provider: here, key } = await shop({ ...shared, storage: sqliteStorage({ file }) });
    const { provider: there } = await shop({ ...shared, storage: sqliteStorage({ file }) });
    const { target, body, status, effects, effect } = await arrange(name, here, key);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? here : there).partnerCall(key, target, body, { 'idempotency-key': 'k' }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await effects()).toBe(effect);
  });
});

describe.each(storages)('an Idempotency-Key of a payment, on %s', (_name, newStorage) => {
  async function till() {
    const { provider } = await partnerProvider({ storage: newStorage() });
    const key = await provider.key();
    const send = (idempotencyKey: string, body: unknown = payment, by: TestKey = key) =>
      provider.partnerCall(by, pay, body, { 'idempotency-key': idempotencyKey });
    return { provider, key, send };
  }

  it('of another partner, mode or case is another key', async () => {
    const { provider, key, send } = await till();
    const [stranger, sandbox, sibling] = [
      await provider.key(),
      await provider.key({ partner: key.partner, mode: 'test' }),
      await provider.key({ partner: key.partner }),
    ];
    const answers = [
      await send('order-1'),
      await send('order-1', payment, stranger),
      await send('order-1', testPayment, sandbox),
      await send('Order-1'),
    ];
    for (const answer of answers) expect([answer.status, replayed(answer)]).toEqual([201, null]);
    const ids = answers.map((answer) => answer.json().id);
    expect(new Set(ids).size).toBe(4);
    // Two keys of one partner share it.
    expect(brief(await send('order-1', payment, sibling))).toEqual([201, ids[0], 'true']);
  });

  it('beside a reference: that is unique for ever, and names the transfer it belongs to', async () => {
    const { provider, key, send } = await till();
    const body = { ...payment, reference: 'invoice-7', amount: '1.00' };
    const first = await send('order-1', body);
    for (const idempotencyKey of ['order-2', 'order-3']) {
      const conflict = await send(idempotencyKey, body);
      expect(conflict.status).toBe(409);
      expect(conflict.json()).toMatchObject({
        code: 'idempotency_conflict',
        details: [{ path: 'reference', message: first.json().id }],
      });
      provider.clock.advance(2 * day);
    }
    const sandbox = await provider.key({ partner: key.partner, mode: 'test' });
    const stranger = await provider.key();
    expect((await send('a', { ...testPayment, reference: 'invoice-7' }, sandbox)).status).toBe(201);
    expect((await send('a', body, stranger)).status).toBe(201);
    const race = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(`race-${index}`, { ...payment, reference: 'r' })),
    );
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });
});

describe('an Idempotency-Key', () => {
  it('is ignored where a repetition changes nothing anyway', async () => {
    const { provider, key } = await shop();
    const id = await register(provider, key, url);
    const send = (target: string, body?: unknown) =>
      provider.partnerCall(key, target, body, { 'idempotency-key': '' });
    expect((await send(`PATCH /v1/partner/webhooks/${id}`, { enabled: false })).status).toBe(200);
    expect((await send('GET /v1/partner/events')).status).toBe(200);
    expect((await send(`DELETE /v1/partner/webhooks/${id}`)).status).toBe(200);
  });

  it('is 1 to 255 printable ASCII characters, once', async () => {
    const { provider } = await partnerProvider();
    const { key } = await provider.key();
    const send = (...values: readonly string[]) =>
      sendRaw(
        provider.origin,
        rawPost(
          '/v1/partner/payments',
          [
            `X-API-Key: ${key}`,
            'Content-Type: application/json',
            ...values.map((value) => `Idempotency-Key: ${value}`),
          ],
          JSON.stringify(payment),
        ),
      );
    for (const good of ['k', 'k'.repeat(255), `"${'k'.repeat(255)}"`, '~!@#$%^&*()', 'a, b']) {
      expect.soft((await send(good)).status, good).toBe(201);
    }
    for (const bad of [
      [''],
      ['""'],
      ['k'.repeat(256)],
      ['k\xe9'],
      ['k\ty'],
      ['one', 'two'],
      ['same', 'same'],
    ]) {
      const answer = await send(...bad);
      expect.soft(answer.status, bad.join()).toBe(400);
      expect
        .soft(JSON.parse(answer.body), bad.join())
        .toMatchObject({ code: 'invalid_request', details: [{ path: 'Idempotency-Key' }] });
    }
  });

  it('means another payload under another method or path', () => {
    const request = { rawHeaders: ['Idempotency-Key', 'k'] } as never;
    const what = { method: 'POST', route: '/a', body: Buffer.from('{}'), now: 0 };
    const print = (changes: object) =>
      Buffer.from(
        readIdempotencyKey(request, [createSecretKey(Buffer.alloc(32))], { ...what, ...changes })
          ?.fingerprint ?? [],
      ).toString('hex');
    const all = [{}, { method: 'PATCH' }, { route: '/b' }, { body: Buffer.from('{} ') }].map(print);
    expect(new Set(all).size).toBe(4);
    expect(print({})).toBe(all[0]);
  });

  it('is ignored where an answer must not be kept: verifying and minting passports', async () => {
    const { provider } = await partnerProvider();
    const key = await provider.key({ mode: 'test' });
    const headers = { 'idempotency-key': 'k' };
    const mint = () => provider.partnerCall(key, 'POST /v1/partner/sandbox/passports', {}, headers);
    const [first, second] = [await mint(), await mint()];
    expect(first.json().token).not.toBe(second.json().token);
    const verify = (body: object, extra = headers) =>
      provider.partnerCall(key, 'POST /v1/partner/verify', body, extra);
    expect((await verify({ token: first.json().token })).status).toBe(200);
    expect(replayed(await verify({ token: second.json().token }))).toBeNull();
    expect((await verify({ token: 'x' }, { 'idempotency-key': '""' })).json().details).toMatchObject([
      { path: 'token' },
    ]);
    provider.clock.advance(300_001);
    expect((await verify({ token: first.json().token })).status).toBe(422);
  });
});
