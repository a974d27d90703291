import assert from 'node:assert/strict';
import type { LoggedRequest, LoggedRequestFilter, Quota, Storage } from '@ostiary/core/storage';
import { assertFields, assertSame, type Calls, casesOf, countedTo, inParallel } from './case.ts';
import { acme } from './partner-samples.ts';
import { now } from './samples.ts';

const most = 1000;
const ours = { ...acme, mode: 'test' } as const;

/** Returns a logged request of a test key. */
export function sampleRequest(id: string, changes: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    ...{ id, ...ours, keyId: 'key_a', createdAt: now, durationMs: 12 },
    ...{ method: 'POST', route: '/v1/partner/payments', status: 201, code: null },
    ...{ sent: '{"amount":"1.00"}', answered: null },
    ...changes,
  };
}

const listed = ({ requestLog }: Storage, filter: Partial<LoggedRequestFilter> = {}) =>
  requestLog.list({ ...ours, failed: false, after: null, limit: 100, ...filter });

export const requestLogCases = casesOf('request log', {
  'requests are read back as they were stored, newest first, each partner’s and mode’s own': async (
    storage,
  ) => {
    const requests = [
      sampleRequest('d', { createdAt: now + 2, status: 400, code: 'invalid_request', sent: null }),
      sampleRequest('b', { createdAt: now + 1, answered: '{"note":"Ti “Biznis” 🗝️"}' }),
      sampleRequest('a', { createdAt: now + 1, durationMs: 0, status: 500, code: 'internal_error' }),
      sampleRequest('c', { status: 399 }),
    ];
    const others = [
      sampleRequest('live', { mode: 'live' }),
      sampleRequest('of another', { partner: 'other' }),
    ];
    await storage.requestLog.append([...others, ...requests.toReversed()], most);
    assertSame(await listed(storage), requests);
    assertFields(await listed(storage, { failed: true }), 'id', ['d', 'a']);
    assertFields(await listed(storage, { mode: 'live' }), 'id', ['live']);
    for (const [index, { createdAt: time, id }] of requests.entries()) {
      const after = { time, id };
      assertSame(await listed(storage, { after, limit: 1 }), requests.slice(index + 1, index + 2));
      assertSame(await storage.requestLog.find(ours, id), requests[index]);
    }
    assertFields(await listed(storage, { failed: true, after: { time: now + 2, id: 'd' } }), 'id', ['a']);
    const back = requests.toReversed();
    assertSame(await listed(storage, { oldestFirst: true }), back);
    for (const [index, { createdAt: time, id }] of back.entries())
      assertSame(await listed(storage, { oldestFirst: true, after: { time, id } }), back.slice(index + 1));
    const failed = { failed: true, oldestFirst: true } as const;
    assertFields(await listed(storage, { ...failed, after: { time: now + 1, id: 'a' } }), 'id', ['d']);
    for (const id of ['live', 'of another', 'unknown'])
      assert.equal(await storage.requestLog.find(ours, id), null);
  },

  'those of all partners in one mode are listed in both directions, up to a time, and counted': async (
    storage,
  ) => {
    const of = (id: string, time: number, changes: Partial<LoggedRequest> = {}) =>
      sampleRequest(id, { createdAt: now + time, ...changes });
    const requests = [
      of('a', 0),
      of('b', 1, { partner: 'other', status: 500, code: 'internal_error' }),
      of('c', 1, { status: 404, code: 'not_found' }),
      of('d', 2, { partner: 'other' }),
    ];
    await storage.requestLog.append([...requests, of('live', 1, { mode: 'live' })], most);
    for (const partner of [null, 'other', ours.partner]) {
      for (const failed of [false, true]) {
        for (const until of [null, now + 1, now - 1]) {
          const choice = { partner, mode: 'test', failed, until } as const;
          const expected = requests.filter(
            (request) =>
              (partner === null || request.partner === partner) &&
              (!failed || request.status >= 400) &&
              (until === null || request.createdAt <= until),
          );
          assert.equal(await storage.requestLog.count(choice, 10), expected.length);
          assert.equal(await storage.requestLog.count(choice, 1), Math.min(1, expected.length));
          for (const oldestFirst of [false, true]) {
            const sorted = oldestFirst ? expected : expected.toReversed();
            assertSame(await listed(storage, { ...choice, oldestFirst }), sorted);
            for (const [index, { createdAt: time, id }] of sorted.entries())
              assertSame(
                await listed(storage, { ...choice, oldestFirst, after: { time, id } }),
                sorted.slice(index + 1),
              );
          }
        }
      }
    }
  },

  'one that is stored already stays as it is': async (storage) => {
    await storage.requestLog.append([sampleRequest('a')], most);
    await storage.requestLog.append([sampleRequest('a', { status: 500 }), sampleRequest('b')], most);
    assertFields(await listed(storage), 'status', [201, 201]);
    await storage.requestLog.append([], most);
  },

  'of each partner and mode the newest stay': async (storage) => {
    const of = (mode: 'live' | 'test', createdAt: number) =>
      sampleRequest(`${mode} ${createdAt}`, { mode, createdAt });
    await storage.requestLog.append(
      countedTo(3).map((at) => of('live', at)),
      3,
    );
    await storage.requestLog.append(
      countedTo(5).map((at) => of('test', at)),
      3,
    );
    assertFields(await listed(storage, { mode: 'test' }), 'createdAt', [5, 4, 3]);
    assertFields(await listed(storage, { mode: 'live' }), 'createdAt', [3, 2, 1]);
    await storage.requestLog.append([of('test', 2), of('test', 6)], 3);
    assertFields(await listed(storage, { mode: 'test' }), 'createdAt', [6, 5, 4]);
  },

  'what processes append at the same time is all there': async (storage) => {
    await inParallel(8, (writer) =>
      storage.requestLog.append(
        countedTo(5).map((number) => sampleRequest(`${writer} ${number}`, { createdAt: now + number })),
        most,
      ),
    );
    assert.equal((await listed(storage)).length, 40);
  },

  'the oldest of a partner and mode beyond a quota go, and those of others stay': async (storage) => {
    const { requestLog } = storage;
    // A text of two bytes as UTF-8, and one of one byte.
    const bodies = { sent: 'é', answered: '1' };
    const requests = countedTo(4).map((at) => sampleRequest(`${at}`, { ...bodies, createdAt: at }));
    const others = [
      sampleRequest('live', { mode: 'live', createdAt: 1 }),
      sampleRequest('other', { partner: 'other', createdAt: 1 }),
    ];
    await requestLog.append([...requests, ...others], most);
    const remove = (quota: Quota, limit = 10) => requestLog.removeOldest({ ...ours, ...quota, limit });
    assert.equal(await remove({ rows: 4, bytes: 12 }), 0);
    assert.equal(await remove({ rows: 2, bytes: 12 }, 1), 1);
    assertFields(await listed(storage), 'id', ['4', '3', '2']);
    assert.equal(await remove({ rows: 4, bytes: 8 }), 1);
    assertFields(await listed(storage), 'id', ['4', '3']);
    assert.equal(await remove({ rows: 1, bytes: 12 }), 1);
    assertFields(await listed(storage), 'id', ['4']);
    assertFields(await listed(storage, { mode: 'live' }), 'id', ['live']);
    assertFields(await listed(storage, { partner: 'other' }), 'id', ['other']);
  },

  'those that came before a time go, the oldest first': async (storage) => {
    const requests = countedTo(4).map((at) => sampleRequest(`${at}`, { createdAt: at }));
    await storage.requestLog.append(requests, most);
    assert.equal(await storage.requestLog.purge(3, 1), 1);
    assertFields(await listed(storage), 'id', ['4', '3', '2']);
    assert.equal(await storage.requestLog.purge(3, 10), 1);
    assert.equal(await storage.requestLog.purge(3, 10), 0);
    assertFields(await listed(storage), 'id', ['4', '3']);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const requestLogCalls: Calls<'requestLog'> = {
  append: ({ requestLog }) => requestLog.append([sampleRequest('a')], most),
  list: (storage) => listed(storage, { limit: 1 }),
  count: ({ requestLog }) => requestLog.count({ ...ours, failed: false }, 1),
  findById: ({ requestLog }) => requestLog.findById('a'),
  find: ({ requestLog }) => requestLog.find(ours, 'a'),
  purge: ({ requestLog }) => requestLog.purge(0, 1),
  removeOldest: ({ requestLog }) => requestLog.removeOldest({ ...ours, rows: 1, bytes: 1, limit: 1 }),
};
