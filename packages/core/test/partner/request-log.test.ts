import { EventEmitter } from 'node:events';
import { memoryStorage } from '@ostiary/testing/memory';
import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import type { Core } from '../../src/options/context.ts';
import type { PartnerCall } from '../../src/partner/pipeline/pipeline.ts';
import { requestNotes } from '../../src/partner/request-log.ts';
import type { LoggedRequest, Mode } from '../../src/storage.ts';
import { fragileStorage, storageWith } from '../support/fragile-storage.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { TestClock, type TestProvider } from '../support/provider.ts';

type Given = Parameters<typeof partnerProvider>[0];

/**
 * Starts a provider with the partner `acme`, and returns functions that issue the partner's keys and read its
 * request log.
 */
async function logged(options: Given = {}) {
  const database = fragileStorage();
  const given = await partnerProvider({ storage: database.storage, ...options });
  const { provider } = given;
  await provider.partner('acme');
  const keyOf: TestProvider['key'] = (settings = {}) => provider.key({ partner: 'acme', ...settings });
  /** Returns the partner's request log once the log has this many entries. */
  async function read(count: number, mode: Mode = 'test'): Promise<LoggedRequest[]> {
    const filter = { partner: 'acme', mode, failed: false, after: null, limit: 100 };
    for (let turn = 0; turn < 200; turn += 1) {
      const found = await database.storage.requestLog.list(filter);
      if (found.length >= count) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return database.storage.requestLog.list(filter);
  }
  return { ...given, keyOf, database, read };
}

describe('the log of requests', () => {
  it('has each request of a test key, with its bodies', async () => {
    const { provider, keyOf, read } = await logged();
    const key = await keyOf({ mode: 'test' });
    const sent = { amount: '2.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
    const paid = await provider.partnerCall(key, 'POST /v1/partner/payments', sent);
    await read(1);
    provider.clock.advance(1);
    const refused = await provider.partnerCall(key, 'POST /v1/partner/payments', { ...sent, amount: '-1' });
    const [second, first, ...others] = await read(2);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      ...{ id: paid.headers.get('x-request-id'), partner: 'acme', mode: 'test', keyId: key.id },
      ...{ method: 'POST', route: '/v1/partner/payments', status: 201, code: null },
      ...{ createdAt: provider.clock.now() - 1, durationMs: 0, sent: JSON.stringify(sent) },
    });
    expect(JSON.parse(first?.answered ?? '')).toEqual(paid.json());
    expect(second).toMatchObject({ status: 400, code: 'invalid_request', id: refused.json().requestId });
    expect(JSON.parse(second?.sent ?? '')).toEqual({ ...sent, amount: '[removed]' });
    expect(JSON.parse(second?.answered ?? '').details).toMatchObject([{ path: 'amount' }]);
  });

  it('has refusals of a key too, and nothing of strangers', async () => {
    const { provider, keyOf, read } = await logged();
    const key = await keyOf({ mode: 'test', scopes: ['webhooks'] });
    await provider.partnerCall(key, 'GET /v1/partner/payments/tr_1');
    await provider.partnerCall(`${key.key}x`, 'GET /v1/partner/payments');
    await provider.partnerCall(key, 'GET /v1/partner/nowhere');
    const found = await read(2);
    expect(found).toMatchObject([
      { route: '/v1/partner/payments/:id', status: 403, code: 'insufficient_scope', sent: null },
    ]);
  });

  it.each([
    ['test', 1, 0],
    ['off', 0, 0],
    ['all', 1, 1],
  ] as const)('%s: %d of tests, %d live', async (requestLog, ofTests, live) => {
    const { provider, keyOf, read } = await logged({ requestLog });
    for (const mode of ['test', 'live'] as const)
      await provider.partnerCall(await keyOf({ mode }), 'GET /v1/partner/whoami');
    expect(await read(ofTests)).toHaveLength(ofTests);
    expect(await read(live, 'live')).toHaveLength(live);
  });

  it('keeps no bodies of live requests', async () => {
    const { provider, keyOf, read } = await logged({ requestLog: 'all' });
    await provider.partnerCall(await keyOf(), 'POST /v1/partner/payments', payment);
    expect(await read(1, 'live')).toMatchObject([{ status: 201, sent: null, answered: null }]);
  });

  it('delays nothing: requests get responses while the log cannot be written, and waiting entries are lost', async () => {
    const { provider, keyOf, database, read } = await logged();
    const key = await keyOf({ mode: 'test' });
    database.breakWhen((call) => call === 'requestLog.append');
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(200);
    await expect
      .poll(() => provider.logged.map(({ message }) => message))
      .toContain('requests could not be logged');
    database.breakWhen(null);
    await provider.partnerCall(key, 'GET /v1/partner/whoami');
    expect(await read(1)).toHaveLength(1);
  });

  it('keeps no secret of an answer', async () => {
    const { provider, keyOf, read } = await logged();
    const minted = await provider.partnerCall(
      await keyOf({ mode: 'test' }),
      'POST /v1/partner/sandbox/passports',
      {},
    );
    const [request] = await read(1);
    expect(minted.json().token).toBeTypeOf('string');
    expect(JSON.parse(request?.answered ?? '')).toEqual({ ...minted.json(), token: '[removed]' });
  });

  it('says how long a request took', async () => {
    const clock = new TestClock();
    const storage = memoryStorage();
    const { list } = storage.transfers;
    const slow: typeof list = (request) => {
      clock.advance(7);
      return list(request);
    };
    const given = { clock, storage: storageWith(storage, 'transfers', { list: slow }) };
    const { provider } = await partnerProvider(given);
    const key = await provider.key({ mode: 'test' });
    await provider.partnerCall(key, 'GET /v1/partner/payments');
    const { partner } = key;
    const filter = { partner, mode: 'test', failed: false, after: null, limit: 1 } as const;
    await expect.poll(() => storage.requestLog.list(filter)).toMatchObject([{ durationMs: 7 }]);
  });

  it('is whole when the service has closed', async () => {
    const { provider, keyOf, database } = await logged();
    const key = await keyOf({ mode: 'test' });
    database.forget();
    await Promise.all(Array.from({ length: 250 }, () => provider.partnerCall(key, 'GET /v1/partner/whoami')));
    await provider.stop();
    const stored = database.given.flatMap(([requests]) => (Array.isArray(requests) ? requests : []));
    const ids = stored.filter(({ route }) => route === '/v1/partner/whoami').map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([250, 250]);
  });
});

describe('what waits for the log', () => {
  it('holds at most 1,000 requests; lost entries are reported, and closing waits for the rest', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const stored: LoggedRequest[] = [];
    const warned: unknown[] = [];
    const core = {
      storage: {
        requestLog: {
          async append(requests: readonly LoggedRequest[]) {
            await isReleased;
            stored.push(...requests);
          },
        },
      },
      options: {
        prefix: 'svc',
        requestLog: 'test',
        logger: { warn: (fields: unknown) => warned.push(fields) },
      },
      clock: new TestClock(),
    };
    const notes = requestNotes(core as unknown as Core);
    const key = { id: 'key_a', partner: 'acme', mode: 'test' } as PartnerCall['key'];
    for (let id = 0; id < 1_006; id += 1) {
      const state = { headers: { 'X-Request-Id': String(id) }, route: '/' };
      const context = { state, res: new EventEmitter(), method: 'GET', status: 200 };
      notes.note(context as unknown as Context, { key, bytes: null, now: 0 } as PartnerCall);
      context.res.emit('close');
    }
    let isSettled = false;
    const settled = notes.settled().then(() => {
      isSettled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    release();
    await settled;
    // One request was being written, and 1,000 waited: the last five are dropped.
    expect(stored.map(({ id }) => id)).toEqual(Array.from({ length: 1_001 }, (_, id) => String(id)));
    expect(warned).toEqual([{ requests: 5 }]);
  });
});
