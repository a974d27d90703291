import { createSecretKey } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { readIdempotencyKey } from '../../src/partner/pipeline/idempotency.ts';
import type { Storage } from '../../src/storage.ts';
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
import { TestClock, type TestKey, type TestProvider } from '../support/provider.ts';

const pay = 'POST /v1/partner/payments';
const day = 86_400_000;
const replayed = (answer: Answer) => answer.headers.get('idempotent-replayed');
const brief = (answer: Answer) => [answer.status, answer.json().code ?? answer.json().id, replayed(answer)];

async function count(provider: TestProvider, key: TestKey): Promise<number> {
  return ((await provider.partnerCall(key, 'GET /v1/partner/payments?limit=100')).json().data as unknown[])
    .length;
}

describe.each(storages)('an Idempotency-Key, on %s', (_name, newStorage) => {
  async function shop(storage: Storage = newStorage()) {
    const { provider } = await partnerProvider({ storage });
    const key = await provider.key();
    const send = (idempotencyKey: string, body: unknown = payment, by: TestKey | string = key) =>
      provider.partnerCall(by, pay, body, { 'idempotency-key': idempotencyKey });
    return { provider, key, send };
  }

  it('makes one transfer of fifty parallel requests, with fifty equal answers', async () => {
    const { provider, key, send } = await shop();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send('order-1')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(answers.filter((answer) => replayed(answer) === 'true')).toHaveLength(49);
    expect(await count(provider, key)).toBe(1);
    // The job of the transfer and the purge: one execution.
    expect(await provider.ostiary.worker.runDue()).toBe(2);
  });

  it('replays the same bytes, even when the transfer has moved on since', async () => {
    const { provider, key, send } = await shop();
    const first = await send('order-1');
    await provider.ostiary.worker.runDue();
    provider.clock.advance(60_000);
    const again = await send('order-1');
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
    expect(again.json().status).toBe('pending');
    expect(
      (await provider.partnerCall(key, `GET /v1/partner/payments/${first.json().id}`)).json().status,
    ).toBe('completed');
  });

  it('is the same key with quotes and without', async () => {
    const { send } = await shop();
    const first = await send('"order 1"');
    const again = await send('order 1');
    expect(brief(again)).toEqual([201, first.json().id, 'true']);
  });

  it('with another body is a conflict, whatever the difference', async () => {
    const { provider, key, send } = await shop();
    await send('order-1');
    for (const body of [{ ...payment, amount: '125.01' }, JSON.stringify(payment).replace('{', '{ ')]) {
      expect.soft(brief(await send('order-1', body))).toEqual([409, 'idempotency_conflict', null]);
    }
    expect(await count(provider, key)).toBe(1);
  });

  it('of another partner, mode or case is another key', async () => {
    const { provider, key, send } = await shop();
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

  it('is forgotten after 24 hours, and not before', async () => {
    const { provider, send } = await shop();
    const first = await send('order-1');
    provider.clock.advance(day - 1);
    expect(brief(await send('order-1'))).toEqual([201, first.json().id, 'true']);
    provider.clock.advance(1);
    const later = await send('order-1');
    expect([later.status, replayed(later)]).toEqual([201, null]);
    expect(later.json().id).not.toBe(first.json().id);
    expect(brief(await send('order-1'))).toEqual([201, later.json().id, 'true']);
  });

  it('answers nobody who may not pay any more', async () => {
    const { provider, key, send } = await shop();
    const partner = key.partner;
    await send('order-1');
    const [powerless, elsewhere] = [
      await provider.key({ partner, scopes: ['payments:read'] }),
      await provider.key({ partner, allowlist: ['192.0.2.1'] }),
    ];
    expect(brief(await send('order-1', payment, powerless))).toEqual([403, 'insufficient_scope', null]);
    expect(brief(await send('order-1', payment, elsewhere))).toEqual([403, 'ip_not_allowed', null]);
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    expect(brief(await send('order-1'))).toEqual([401, 'invalid_api_key', null]);
  });

  it('keeps no refusal: the request may be made good', async () => {
    const { provider, key, send } = await shop();
    expect((await send('order-1', { ...payment, amount: '0.00' })).status).toBe(400);
    expect((await send('order-1', { ...payment, recipient: { kid: 'KID-NOBODY' } })).status).toBe(404);
    const good = await send('order-1');
    expect([good.status, replayed(good)]).toEqual([201, null]);
    expect((await send('order-1', '{')).status).toBe(400);
    expect(await count(provider, key)).toBe(1);
  });

  it('beside a reference: that is unique for ever, and names the transfer it belongs to', async () => {
    const { provider, key, send } = await shop();
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
  it('makes one transfer over two processes', async () => {
    const file = temporaryDatabase();
    const shared = { sealingKeys: [new Uint8Array(32).fill(1)], clock: new TestClock() };
    const [{ provider: here }, { provider: there }] = [
      await partnerProvider({ ...shared, storage: sqliteStorage({ file }) }),
      await partnerProvider({ ...shared, storage: sqliteStorage({ file }) }),
    ];
    const key = await here.key();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? here : there).partnerCall(key, pay, payment, { 'idempotency-key': 'k' }),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await count(there, key)).toBe(1);
  });

  it('survives a change of the sealing key', async () => {
    const storage = memoryStorage();
    const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const { provider: before } = await partnerProvider({ storage, sealingKeys: [old] });
    const key = await before.key();
    const first = await before.partnerCall(key, pay, payment, { 'idempotency-key': 'k' });
    const { provider: after } = await partnerProvider({
      storage,
      sealingKeys: [current, old],
      clock: before.clock,
    });
    const send = (body: object) => after.partnerCall(key, pay, body, { 'idempotency-key': 'k' });
    expect(brief(await send(payment))).toEqual([201, first.json().id, 'true']);
    expect(brief(await send({ ...payment, amount: '9.99' }))).toEqual([409, 'idempotency_conflict', null]);
  });

  it('replays without a write', async () => {
    const database = fragileStorage();
    const { provider } = await partnerProvider({ storage: database.storage });
    const key = await provider.key();
    const send = () => provider.partnerCall(key, pay, payment, { 'idempotency-key': 'k' });
    await send();
    database.forget();
    expect(replayed(await send())).toBe('true');
    expect(database.calls).toEqual(['rateLimits.consumeOfKey', 'idempotency.find']);
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
