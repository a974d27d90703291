import assert from 'node:assert/strict';
import type {
  EndpointFilter,
  EveryEventFilter,
  FailingFilter,
  Storage,
  TransferSelection,
} from '@ostiary/core/storage';
import { assertFields, assertSame, casesOf } from './case.ts';
import { acme, created, settled } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import { claim, claimedOne, finish, published, registered, sampleAttempt } from './webhook-samples.ts';

/** Owners of the sample endpoints and events: two partners, and one of them in test mode. */
const owners = [acme, { partner: 'other', mode: 'live' }, { ...acme, mode: 'test' }] as const;

const everyEvent: EveryEventFilter = {
  ...{ mode: 'live', partner: null, type: null, status: null, until: null },
};
const everyEndpoint: EndpointFilter = { mode: 'live', partner: null, enabled: null };
const everyFailing: FailingFilter = { mode: 'live', partner: null, failedSince: now };

const everyTransfer: TransferSelection = {
  ...{ mode: 'live', partner: null, status: null, reference: null, from: null, to: null },
};

/**
 * Reads a list that is sorted by time, in both directions and from each row on, and compares each page with
 * the expected order.
 */
async function assertTimed<Row>(
  expected: readonly Row[],
  read: (page: {
    readonly oldestFirst: boolean;
    readonly after: { readonly time: number; readonly id: string } | null;
    readonly limit: number;
  }) => Promise<readonly Row[]>,
  placeOf: (row: Row) => { readonly time: number; readonly id: string },
): Promise<void> {
  for (const oldestFirst of [false, true]) {
    const sorted = oldestFirst ? expected : expected.toReversed();
    assertSame(await read({ oldestFirst, after: null, limit: 100 }), sorted);
    assertSame(await read({ oldestFirst, after: null, limit: 2 }), sorted.slice(0, 2));
    for (const [index, row] of sorted.entries())
      assertSame(await read({ oldestFirst, after: placeOf(row), limit: 100 }), sorted.slice(index + 1));
  }
}

async function events(storage: Storage): Promise<void> {
  const times = { d: 0, a: 0, c: minute, b: 2 * minute };
  for (const [label, time] of Object.entries(times))
    await published(storage, label, { ...(label === 'c' ? owners[1] : acme), createdAt: now + time });
  await published(storage, 'test', { ...owners[2], createdAt: now });
}

/**
 * Stores one failed attempt of each delivery: to the endpoints `we_a` and `we_test` at `now`, to `we_b` a
 * minute later.
 */
async function failures(storage: Storage): Promise<void> {
  await registered(storage, 'a');
  await registered(storage, 'b', owners[1]);
  await registered(storage, 'test', owners[2]);
  await registered(storage, 'fine', { events: ['none'] });
  for (const [index, owner] of owners.entries()) await published(storage, `${index}`, owner);
  const results = (await claim(storage, 'c')).map(({ id, claimId, endpointId }) => {
    const at = endpointId === 'we_b' ? now + minute : now;
    return {
      ...{ id, claimId, isCutOff: false },
      attempt: sampleAttempt(1, { at, httpStatus: 500, error: 'status' }),
      // The delivery to `we_b` is given up, so that only its last attempt shows that it fails.
      next:
        endpointId === 'we_b'
          ? ({ status: 'dropped' } as const)
          : ({ status: 'pending', dueAt: at + minute } as const),
    };
  });
  assertSame(await storage.deliveries.finish(results), [true, true, true]);
}

export const everywhereCases = casesOf('lists of all partners', {
  'events are listed by time and id in both directions, of one mode, and up to a time': async (storage) => {
    await events(storage);
    const list = (filter: Partial<EveryEventFilter> = {}, oldestFirst = true) =>
      storage.events.everywhere({ ...everyEvent, ...filter, oldestFirst, after: null, limit: 10 });
    assertFields(await list(), 'id', ['evt_a', 'evt_d', 'evt_c', 'evt_b']);
    assertFields(await list({ mode: 'test' }), 'id', ['evt_test']);
    assertFields(await list({ partner: 'other' }), 'id', ['evt_c']);
    assertFields(await list({ partner: 'nobody' }), 'id', []);
    assertFields(await list({ partner: acme.partner, until: now + minute }, false), 'id', ['evt_d', 'evt_a']);
    for (const until of [null, now + minute, now, now - 1]) {
      const filter = { ...everyEvent, until };
      const expected = (await list()).filter(({ createdAt }) => until === null || createdAt <= until);
      await assertTimed(
        expected,
        (page) => storage.events.everywhere({ ...filter, ...page }),
        ({ createdAt, id }) => ({ time: createdAt, id }),
      );
      assert.equal(await storage.events.count(filter, 10), expected.length);
      assert.equal(await storage.events.count(filter, 2), Math.min(2, expected.length));
    }
    assert.equal(await storage.events.count({ ...everyEvent, partner: acme.partner }, 10), 3);
  },

  'transfers are listed by time and id in both directions, of one mode, and narrowed': async (storage) => {
    await created(storage, 'd', { createdAt: now, reference: 'order 7' });
    await created(storage, 'a', { ...owners[1], createdAt: now, reference: 'order 7' });
    await settled(storage, 'c', { ...owners[1], createdAt: now + 1, updatedAt: now + 9 });
    await settled(storage, 'b', { createdAt: now + 2, updatedAt: now + 9, status: 'failed' });
    await created(storage, 'test', { ...owners[2], createdAt: now });
    for (const [filter, expected] of [
      [{}, ['a', 'd', 'c', 'b']],
      [{ mode: 'test' }, ['test']],
      [{ partner: 'other' }, ['a', 'c']],
      [{ partner: 'nobody' }, []],
      [{ status: 'pending' }, ['a', 'd']],
      [{ status: 'failed' }, ['b']],
      [{ status: 'failed', partner: 'other' }, []],
      [{ reference: 'order 7' }, ['a', 'd']],
      [{ reference: 'order 7', status: 'completed' }, []],
      [{ from: now + 1 }, ['c', 'b']],
      [{ to: now + 1 }, ['a', 'd']],
      [{ from: now + 1, to: now + 2 }, ['c']],
      [{ from: now, status: 'completed' }, ['c']],
    ] as const) {
      const selection = { ...everyTransfer, ...filter };
      const all = await storage.transfers.list({ ...selection, oldestFirst: true, after: null, limit: 10 });
      assertSame(
        all.map(({ id }) => id.slice(3)),
        [...expected],
      );
      await assertTimed(
        all,
        (page) => storage.transfers.list({ ...selection, ...page }),
        ({ createdAt, id }) => ({ time: createdAt, id }),
      );
      assert.equal(await storage.transfers.count({ ...selection, most: 10 }), expected.length);
      assert.equal(await storage.transfers.count({ ...selection, most: 1 }), Math.min(1, expected.length));
    }
  },

  'events are narrowed by type and by the status of a delivery, listed and counted': async (storage) => {
    await failures(storage);
    await storage.webhooks.remove(owners[1], 'we_b', now);
    await registered(storage, 'sent', { ...owners[1], events: ['sent'] });
    await published(storage, 'sent', { ...owners[1], type: 'sent', createdAt: now + 3 });
    await finish(storage, await claimedOne(storage, 'd', { now: now + 3 }), { status: 'delivered' });
    await published(storage, 'none', { ...owners[1], type: 'none', createdAt: now + 4 });
    await published(storage, 'queued', { type: 'queued', createdAt: now + 5 });
    for (const [filter, expected] of [
      [{}, ['0', '1', 'sent', 'none', 'queued']],
      [{ type: 'sent' }, ['sent']],
      [{ type: 'sen' }, []],
      [{ type: 'sent', partner: acme.partner }, []],
      [{ status: 'delivered' }, ['sent']],
      [{ status: 'delivered', type: 'none' }, []],
      [{ status: 'pending' }, ['0', 'queued']],
      [{ status: 'failing' }, ['0']],
      [{ status: 'failing', mode: 'test' }, ['2']],
      [{ status: 'dropped' }, ['1']],
      [{ status: 'dropped', partner: acme.partner }, []],
      [{ status: 'cancelled' }, []],
      [{ status: 'none' }, ['none']],
      [{ status: 'none', until: now + 3 }, []],
    ] as const) {
      const all = { ...everyEvent, ...filter };
      const list = await storage.events.everywhere({ ...all, oldestFirst: true, after: null, limit: 10 });
      assertSame(
        list.map(({ id }) => id.slice(4)),
        [...expected],
      );
      await assertTimed(
        list,
        (page) => storage.events.everywhere({ ...all, ...page }),
        ({ createdAt, id }) => ({ time: createdAt, id }),
      );
      assert.equal(await storage.events.count(all, 10), expected.length);
      assert.equal(await storage.events.count(all, 1), Math.min(1, expected.length));
    }
  },

  'states of deliveries are read for events of several partners in one mode': async (storage) => {
    await failures(storage);
    const eventIds = ['evt_0', 'evt_1', 'evt_2'];
    const of = (partner: string | null) =>
      storage.deliveries.latestStates({ partner, mode: 'live', eventIds, limit: 9 });
    assertSame([...(await of(null))].sort(), [
      ['evt_0', ['failing']],
      ['evt_1', ['dropped']],
    ]);
    assertSame([...(await of('other'))], [['evt_1', ['dropped']]]);
  },

  'endpoints are listed by URL and creation in both directions, and narrowed': async (storage) => {
    await registered(storage, 'b', { url: 'https://a.example/', createdAt: now + 1 });
    await registered(storage, 'a', { ...owners[1], url: 'https://Z.example/', enabled: false });
    await registered(storage, 'c', { url: 'https://a.example/' });
    await registered(storage, 'test', owners[2]);
    const list = async (
      page: { readonly by: 'name' | 'created'; readonly descending: boolean },
      filter: Partial<EndpointFilter> = {},
      after: { readonly value: string | number; readonly id: string } | null = null,
    ) =>
      (await storage.webhooks.sorted({ ...page, ...everyEndpoint, ...filter, after, limit: 10 })).map(
        ({ id }) => id.slice(3),
      );
    const byUrl = { by: 'name', descending: false } as const;
    const byTime = { by: 'created', descending: false } as const;
    assertSame(await list(byUrl), ['a', 'b', 'c']);
    assertSame(await list({ ...byUrl, descending: true }), ['c', 'b', 'a']);
    assertSame(await list(byTime), ['a', 'c', 'b']);
    assertSame(await list({ ...byTime, descending: true }), ['b', 'c', 'a']);
    assertSame(await list(byUrl, {}, { value: 'https://a.example/', id: 'we_b' }), ['c']);
    assertSame(await list(byTime, {}, { value: now, id: 'we_a' }), ['c', 'b']);
    for (const [filter, expected] of [
      [{}, ['a', 'b', 'c']],
      [{ mode: 'test' }, ['test']],
      [{ partner: 'other' }, ['a']],
      [{ enabled: true }, ['b', 'c']],
      [{ enabled: false }, ['a']],
      [{ enabled: false, partner: acme.partner }, []],
    ] as const) {
      assertSame(await list(byUrl, filter), expected);
      assert.equal(await storage.webhooks.count({ ...everyEndpoint, ...filter }, 10), expected.length);
    }
    assert.equal(await storage.webhooks.count(everyEndpoint, 2), 2);
  },

  'endpoints that fail now are listed by the start of their failure, and narrowed': async (storage) => {
    await failures(storage);
    const list = (filter: Partial<FailingFilter> = {}) =>
      storage.webhooks.failing({
        ...everyFailing,
        ...filter,
        ...{ oldestFirst: true, after: null, limit: 10, countTo: 10 },
      });
    const answer = { httpStatus: 500, error: 'status' };
    const [a, b] = [
      {
        ...{ ...owners[0], endpointId: 'we_a', url: 'https://a.example/hooks', count: 1, since: now },
        lastAttempt: { at: now, ...answer },
      },
      {
        ...{
          ...owners[1],
          endpointId: 'we_b',
          url: 'https://b.example/hooks',
          count: 0,
          since: now + minute,
        },
        lastAttempt: { at: now + minute, ...answer },
      },
    ];
    assertSame(await list(), [a, b]);
    await assertTimed(
      [a, b],
      (page) => storage.webhooks.failing({ ...everyFailing, ...page, countTo: 10 }),
      ({ since, endpointId }) => ({ time: since, id: endpointId }),
    );
    assertFields(await list({ mode: 'test' }), 'endpointId', ['we_test']);
    assertFields(await list({ partner: 'other' }), 'endpointId', ['we_b']);
    // A delivery to `we_a` still waits, so this endpoint counts as failing whenever its last attempt was.
    const later = { failedSince: now + 2 * minute };
    assertFields(await list(later), 'endpointId', ['we_a']);
    assert.equal(await storage.webhooks.countFailing({ ...everyFailing, ...later }, 10), 1);
    assert.equal(await storage.webhooks.countFailing(everyFailing, 10), 2);
    assert.equal(await storage.webhooks.countFailing(everyFailing, 1), 1);
    assert.equal(await storage.webhooks.countFailing({ ...everyFailing, partner: 'nobody' }, 9), 0);
  },
});
