import assert from 'node:assert/strict';
import type { EventFilter, IdempotencyClaim, NewEvent, Owner, Storage } from '@ostiary/core/storage';
import { assertFields, assertSame, assertUnavailable, type Calls, casesOf } from './case.ts';
import { acme, sampleClaim, sampleEvent } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import { claim, dropped, finish, listed, published, registered } from './webhook-samples.ts';

function publish(
  { events }: Storage,
  labels: readonly string[],
  idempotency: IdempotencyClaim | null = null,
  at: number = now,
) {
  return events.publish(
    labels.map((label) => sampleEvent(label)),
    { idempotency, now: at },
  );
}

/** Lists the sequence numbers and ids of all stored events of a partner and mode. */
async function sequence({ events }: Storage, owner: Owner = acme): Promise<string[]> {
  const { events: all } = await events.list({ ...owner, after: 0, limit: 10_000 });
  return all.map((event) => `${event.sequence} ${event.id.slice(4)}`);
}

/** Filter that every live event of the partner `acme` passes. */
const everything: EventFilter = {
  ...acme,
  ...{ before: null, after: null, type: null, until: null, status: null, endpointId: null },
};

const recordOf = ({ deliveryId: _, ...event }: NewEvent, number: number) => ({ ...event, sequence: number });

export const eventCases = casesOf('events', {
  'an event is read back as it was stored, byte for byte': async (storage) => {
    const body = '{ "a" : 1e2,\n"é e\u0301 🗝️ \u2028": "\\u0000 \\ud800 O\'Hara" }\n';
    const full = await published(storage, 'full', { type: 'kyc.updated', body, createdAt: now - 5 });
    const empty = await published(storage, 'empty', { body: '' });
    const long = await published(storage, 'long', { body: 'ä😀"\\'.repeat(40_000) });
    for (const [index, event] of [full, empty, long].entries()) {
      assertSame(await storage.events.find(acme, event.id), recordOf(event, index + 1));
    }
    assertSame(await storage.events.list({ ...acme, after: 0, limit: 10 }), {
      events: [recordOf(full, 1), recordOf(empty, 2), recordOf(long, 3)],
      oldestSequence: 1,
      newestSequence: 3,
    });
  },

  'each partner and mode counts from 1, in the order of each call': async (storage) => {
    const owners = [
      { partner: 'acme', mode: 'live' },
      { partner: 'acme', mode: 'test' },
      { partner: 'other', mode: 'live' },
    ] as const;
    // In an order that differs from that of the ids and of the times.
    const labels = ['c', 'a', 'b'];
    const events = labels.flatMap((label, index) =>
      owners.map((owner, which) =>
        sampleEvent(`${label}${which}`, { ...owner, createdAt: now - index * minute }),
      ),
    );
    await storage.events.publish(events, { idempotency: null, now });
    for (const [which, owner] of owners.entries()) {
      assertSame(await sequence(storage, owner), [`1 c${which}`, `2 a${which}`, `3 b${which}`]);
    }
    assertSame(await sequence(storage, { partner: 'ACME', mode: 'live' }), []);
  },

  'parallel publications leave no gap, also when some of them fail': async (storage) => {
    await published(storage, 'taken');
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        publish(storage, [`${index}.1`, `${index}.2`, index % 3 === 0 ? 'taken' : `${index}.3`]),
      ),
    );
    for (const [index, answer] of answers.entries()) {
      if (index % 3 === 0) assert.equal(answer.status, 'rejected', `${index}`);
      else if (answer.status === 'rejected') throw answer.reason;
    }
    await published(storage, 'last');
    const { events } = await storage.events.list({ ...acme, after: 0, limit: 1000 });
    assertFields(
      events,
      'sequence',
      Array.from({ length: 122 }, (_, index) => index + 1),
    );
    const order = events.map(({ id }) => id.slice(4));
    for (let index = 1; index < 60; index += 3) {
      const places = [1, 2, 3].map((part) => order.indexOf(`${index}.${part}`));
      assertSame(
        places,
        places.toSorted((a, b) => a - b),
        'the order of one call',
      );
      assert.ok(!places.includes(-1));
    }
  },

  'an event that cannot be stored takes the whole call along': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'taken');
    const claim = sampleClaim('key');
    await assertUnavailable(() => publish(storage, ['a', 'taken', 'b'], claim));
    await assertUnavailable(() => publish(storage, ['a', 'a'], claim));
    const sameDelivery = sampleEvent('b', { deliveryId: 'dl_taken' });
    await assertUnavailable(() =>
      storage.events.publish([sampleEvent('a'), sameDelivery], { idempotency: claim, now }),
    );
    assertSame(await sequence(storage), ['1 taken']);
    assert.equal((await listed(storage)).length, 1);
    assert.equal(await storage.idempotency.find({ ...claim, now }), null);
    assertSame(await publish(storage, ['a', 'b'], claim), { outcome: 'published' });
    assertSame(await sequence(storage), ['1 taken', '2 a', '3 b']);
  },

  'a list begins after a number, has a limit and tells the oldest and the newest': async (storage) => {
    const { events } = storage;
    const empty = { events: [], oldestSequence: null, newestSequence: 0 };
    assertSame(await events.list({ ...acme, after: 0, limit: 9 }), empty);
    await publish(storage, ['a', 'b', 'c', 'd', 'e']);
    const page = async (after: number, limit: number) => {
      const { events: found, ...ends } = await events.list({ ...acme, after, limit });
      assertSame(ends, { oldestSequence: 1, newestSequence: 5 });
      return found.map((event) => event.sequence);
    };
    assertSame(await page(0, 2), [1, 2]);
    assertSame(await page(2, 2), [3, 4]);
    assertSame(await page(4, 2), [5]);
    assertSame(await page(5, 2), []);
    assertSame(await page(999, 2), []);
    // Each mode has its own sequence.
    assertSame(await events.list({ ...acme, mode: 'test', after: 0, limit: 9 }), empty);
  },

  'the latest events come first, those before a number, of one type, of one owner': async (storage) => {
    const latest = async (before: number | null, type: string | null, limit: number, owner: Owner = acme) => {
      const found = await storage.events.latest({ ...everything, ...owner, before, type, limit });
      return found.map(({ sequence, type }) => `${sequence} ${type}`);
    };
    assertSame(await latest(null, null, 9), []);
    const types = ['a.a', 'b.b', 'a.a', 'c.c', 'b.b'];
    for (const [index, type] of types.entries()) await published(storage, `${index}`, { type });
    await published(storage, 'other mode', { mode: 'test', type: 'd.d' });
    assertSame(await latest(null, null, 2), ['5 b.b', '4 c.c']);
    assertSame(await latest(4, null, 2), ['3 a.a', '2 b.b']);
    assertSame(await latest(2, null, 2), ['1 a.a']);
    assertSame(await latest(1, null, 2), []);
    assertSame(await latest(999, null, 1), ['5 b.b']);
    assertSame(await latest(null, 'a.a', 9), ['3 a.a', '1 a.a']);
    assertSame(await latest(3, 'a.a', 9), ['1 a.a']);
    assertSame(await latest(null, 'd.d', 9), []);
    assertSame(await latest(null, null, 9, { ...acme, mode: 'test' }), ['1 d.d']);
    assertSame(await latest(null, null, 9, { ...acme, partner: 'other' }), []);
    const [whole] = await storage.events.latest({ ...everything, limit: 1 });
    assertSame(whole, await storage.events.find(acme, whole?.id ?? ''));
  },

  'the latest events are those between two numbers, up to a time': async (storage) => {
    // The third event is older than the others.
    const times = [1, 2, 0, 4, 5];
    for (const [index, time] of times.entries())
      await published(storage, `${index}`, { createdAt: now + time * minute });
    const latest = async (filter: Partial<EventFilter>, limit = 9) =>
      (await storage.events.latest({ ...everything, ...filter, limit })).map(({ sequence }) => sequence);
    assertSame(await latest({ after: 2 }), [5, 4, 3]);
    assertSame(await latest({ after: 2, before: 5 }), [4, 3]);
    assertSame(await latest({ after: 4, before: 5 }), []);
    assertSame(await latest({ until: now + 4 * minute }), [4, 3, 2, 1]);
    assertSame(await latest({ until: now + 4 * minute - 1 }), [3, 2, 1]);
    assertSame(await latest({ until: now + 4 * minute }, 2), [4, 3]);
    assertSame(await latest({ until: now + minute, before: 3 }), [1]);
    assertSame(await latest({ until: now - 1 }), []);
  },

  'the latest events are those with a delivery in a state, to an endpoint': async (storage) => {
    const latest = async (filter: Partial<EventFilter>, limit = 9) =>
      (await storage.events.latest({ ...everything, ...filter, limit })).map(({ id }) => id.slice(4));
    await published(storage, 'nowhere', { type: 'a.a' });
    await registered(storage, 'one');
    await dropped(storage, 'dropped', now, { type: 'b.b' });
    await registered(storage, 'two', { events: ['a.a'] });
    await registered(storage, 'test', { mode: 'test' });
    await published(storage, 'both', { type: 'a.a' });
    for (const delivery of await claim(storage, 'first')) {
      if (delivery.endpointId === 'we_one') await finish(storage, delivery, { status: 'delivered' });
    }
    await published(storage, 'test', { mode: 'test' });
    await published(storage, 'waiting', { type: 'b.b' });
    assertSame(await latest({}), ['waiting', 'both', 'dropped', 'nowhere']);
    assertSame(await latest({ status: 'none' }), ['nowhere']);
    assertSame(await latest({ status: 'dropped' }), ['dropped']);
    assertSame(await latest({ status: 'delivered' }), ['both']);
    assertSame(await latest({ status: 'pending' }), ['waiting', 'both']);
    assertSame(await latest({ status: 'pending' }, 1), ['waiting']);
    assertSame(await latest({ status: 'cancelled' }), []);
    assertSame(await latest({ endpointId: 'we_one' }), ['waiting', 'both', 'dropped']);
    assertSame(await latest({ endpointId: 'we_two' }), ['both']);
    assertSame(await latest({ endpointId: 'we_two', status: 'pending' }), ['both']);
    // The event was delivered, but to the other endpoint.
    assertSame(await latest({ endpointId: 'we_two', status: 'delivered' }), []);
    assertSame(await latest({ endpointId: 'we_two', status: 'none' }), ['waiting', 'dropped', 'nowhere']);
    assertSame(await latest({ type: 'a.a', status: 'none' }), ['nowhere']);
    assertSame(await latest({ type: 'b.b', endpointId: 'we_one', status: 'pending' }), ['waiting']);
    assertSame(await latest({ before: 3, endpointId: 'we_one' }), ['dropped']);
    assertSame(await latest({ after: 3, status: 'pending' }), ['waiting']);
    assertSame(await latest({ endpointId: 'we_test' }), []);
    assertSame(await latest({ mode: 'test', endpointId: 'we_test' }), ['test']);
    assertSame(await latest({ mode: 'test', status: 'dropped' }), []);
    await storage.webhooks.remove(acme, 'we_two', now);
    assertSame(await latest({ endpointId: 'we_two', status: 'cancelled' }), ['both']);
  },

  'somebody else’s event is as unknown as any other': async (storage) => {
    const { id } = await published(storage, 'a');
    assert.notEqual(await storage.events.find(acme, id), null);
    assert.equal(await storage.events.find({ partner: 'other', mode: 'live' }, id), null);
    assert.equal(await storage.events.find({ partner: 'acme', mode: 'test' }, id), null);
    for (const unknown of ['evt_A', 'evt_', '']) {
      assert.equal(await storage.events.find(acme, unknown), null, unknown);
    }
  },

  'nothing can be published, and its answer is kept': async (storage) => {
    const claim = sampleClaim('key');
    assertSame(await publish(storage, [], claim), { outcome: 'published' });
    assertSame(await publish(storage, ['a'], claim), { outcome: 'replayed', answer: claim.answer });
    assertSame(await publish(storage, []), { outcome: 'published' });
    assertSame(await sequence(storage), []);
  },

  'what is no transaction of this database is refused with a TypeError': async ({ events }) => {
    const wrong = [undefined, null, 'BEGIN', 1, {}, [], () => undefined, { query: () => undefined }];
    for (const transaction of [...wrong, { prepare: () => undefined, inTransaction: true }]) {
      assert.throws(() => events.within(transaction), TypeError);
    }
  },
});

const everyEvent = { mode: 'live', partner: null, type: null, status: null, until: null } as const;

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const eventCalls: Calls<'events'> = {
  publish: ({ events }) => events.publish([sampleEvent('a')], { idempotency: null, now }),
  partnersHolding: ({ events }) => events.partnersHolding({ sub: 'user-1', scope: 'kyc' }),
  latest: ({ events }) => events.latest({ ...everything, limit: 1 }),
  list: ({ events }) => events.list({ ...acme, after: 0, limit: 1 }),
  everywhere: ({ events }) => events.everywhere({ ...everyEvent, oldestFirst: false, after: null, limit: 1 }),
  count: ({ events }) => events.count(everyEvent, 1),
  countUndelivered: ({ events }) => events.countUndelivered({ ...acme, since: 0, limit: 1 }),
  findById: ({ events }) => events.findById('evt_a'),
  find: ({ events }) => events.find(acme, 'evt_a'),
  testPartners: ({ events }) => events.testPartners({ after: '', limit: 1 }),
  sizes: ({ events }) => events.sizes({ ...acme, before: Number.MAX_SAFE_INTEGER, limit: 1 }),
  removeOldest: ({ events }) => events.removeOldest({ ...acme, upTo: 1, limit: 1 }),
};
