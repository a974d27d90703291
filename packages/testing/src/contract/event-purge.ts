import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { acme, sampleEvent } from './partner-samples.ts';
import { now } from './samples.ts';
import {
  claim,
  claimedOne,
  dropped,
  finish,
  listed,
  published,
  redeliver,
  registered,
} from './webhook-samples.ts';

async function purge(storage: Storage, eventsBefore: number, limit = 100) {
  const { events, deliveries } = await storage.purge({ now, before: 0, eventsBefore, limit });
  return { events, deliveries };
}

/** Returns the sequence numbers of the events that are still stored. */
async function kept({ events }: Storage, owner: Parameters<typeof events.find>[0] = acme) {
  const { events: found, oldestSequence } = await events.list({ ...owner, after: 0, limit: 1000 });
  assert.equal(oldestSequence, found[0]?.sequence ?? null);
  return found.map(({ sequence }) => sequence);
}

export const eventPurgeCases = casesOf('purge of events', {
  'events and final deliveries go when they were created before the given time': async (storage) => {
    await registered(storage, 'a');
    for (const [label, at] of Object.entries({ old: -1, exact: 0, young: 1 })) {
      await dropped(storage, label, now + at);
    }
    assertSame(await purge(storage, now), { events: 1, deliveries: 1 });
    assertSame(await kept(storage), [2, 3]);
    assert.equal(await storage.events.find(acme, 'evt_old'), null);
    assertSame(
      (await listed(storage)).map(({ id, attempts }) => [id, attempts.length]),
      [
        ['dl_young_1', 1],
        ['dl_exact_1', 1],
      ],
    );
    assertSame(await purge(storage, now), { events: 0, deliveries: 0 });
  },

  'numbers go on after everything was purged, and so do ids of deliveries': async (storage) => {
    await registered(storage, 'a');
    await dropped(storage, '1');
    await dropped(storage, '2');
    assertSame(await purge(storage, now + 1), { events: 2, deliveries: 2 });
    assertSame(await storage.events.list({ ...acme, after: 0, limit: 9 }), {
      events: [],
      oldestSequence: null,
      newestSequence: 2,
    });
    await published(storage, '3');
    assertSame(await kept(storage), [3]);
    const [delivery] = await listed(storage);
    assertSame([delivery?.eventId, delivery?.attempts], ['evt_3', []]);
  },

  'an event with a pending delivery stays, and what comes after it': async (storage) => {
    await registered(storage, 'a');
    await dropped(storage, '1', now - 9);
    await published(storage, '2', { createdAt: now - 8 });
    const held = await claimedOne(storage, 'c');
    await storage.events.publish(
      ['3', '4'].map((label) => sampleEvent(label, { type: 'x', createdAt: now - 7 })),
      { idempotency: null, now },
    );
    for (const delivery of await claim(storage, 'd'))
      await finish(storage, delivery, { status: 'delivered' });
    assertSame(await purge(storage, now), { events: 1, deliveries: 3 });
    assertSame(await kept(storage), [2, 3, 4]);
    assert.equal(await finish(storage, held, { status: 'delivered' }), true, 'a worker had it');
    assertSame(await purge(storage, now), { events: 3, deliveries: 1 });
    assertSame(await kept(storage), []);
  },

  'an event stays while a younger delivery of it is kept': async (storage) => {
    await registered(storage, 'a');
    const { id } = await dropped(storage, '1', now - 9);
    await redeliver(storage, id, 'again', { now: now + 5 });
    const again = await claimedOne(storage, 'c', { now: now + 5 });
    await finish(storage, again, { status: 'delivered' });
    assertSame(await purge(storage, now), { events: 0, deliveries: 1 });
    assert.equal((await listed(storage))[0]?.id, 'dl_again_1');
    assert.notEqual(await storage.events.find(acme, id), null);
    assertSame(await purge(storage, now + 6), { events: 1, deliveries: 1 });
  },

  'nothing leaves a gap, also where time went backwards': async (storage) => {
    for (const [label, at] of Object.entries({ a: -5, b: 5, c: -4, d: -3 })) {
      await published(storage, label, { createdAt: now + at });
    }
    assertSame(await purge(storage, now), { events: 1, deliveries: 0 });
    assertSame(await kept(storage), [2, 3, 4]);
  },

  'each sequence is purged for itself': async (storage) => {
    const owners = [acme, { partner: 'acme', mode: 'test' }, { partner: 'other', mode: 'live' }] as const;
    await registered(storage, 'test', { mode: 'test' });
    for (const owner of owners) {
      for (const label of ['1', '2']) {
        const changes = { ...owner, createdAt: now - 1 };
        await published(storage, `${owner.partner} ${owner.mode} ${label}`, changes);
      }
    }
    assertSame(await purge(storage, now), { events: 4, deliveries: 0 });
    assertSame(await Promise.all(owners.map((owner) => kept(storage, owner))), [[], [1, 2], []]);
  },

  'the limit is one for all sequences together': async (storage) => {
    const owners = [acme, { partner: 'acme', mode: 'test' }] as const;
    for (const owner of owners) {
      const labels = Array.from({ length: 6 }, (_, index) => `${owner.mode} ${index}`);
      await storage.events.publish(
        labels.map((label) => sampleEvent(label, owner)),
        { idempotency: null, now },
      );
    }
    for (const events of [5, 5, 2, 0]) {
      assertSame(await purge(storage, now + 1, 5), { events, deliveries: 0 });
      for (const owner of owners) {
        const left = await kept(storage, owner);
        assertSame(left, [1, 2, 3, 4, 5, 6].slice(6 - left.length));
      }
    }
  },

  'one call removes at most the limit of each, the oldest first': async (storage) => {
    await registered(storage, 'a');
    for (let index = 0; index < 25; index += 1) await dropped(storage, `${index}`, now + index);
    let events = 0;
    for (const left of [15, 5, 0]) {
      const count = await purge(storage, now + 100, 10);
      assertSame(count.deliveries, left === 0 ? 5 : 10);
      assert.ok(count.events <= 10);
      events += count.events;
      const ids = (await listed(storage)).map(({ eventId }) => eventId);
      assertSame(
        ids,
        Array.from({ length: left }, (_, index) => `evt_${24 - index}`),
      );
      assertSame(
        await kept(storage),
        Array.from({ length: 25 - events }, (_, index) => events + index + 1),
      );
    }
    while ((await kept(storage)).length > 0) events += (await purge(storage, now + 100, 10)).events;
    assert.equal(events, 25);
  },
});
