import assert from 'node:assert/strict';
import type { Owner, Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { acme, sampleEvent } from './partner-samples.ts';
import { now } from './samples.ts';
import {
  claim,
  claimedOne,
  finish,
  listed,
  published,
  registered,
  sampleAttempt,
} from './webhook-samples.ts';

const sandbox = { partner: 'acme', mode: 'test' } as const;

/** Publishes a number of events for one owner. */
async function publishedAll({ events }: Storage, owner: Owner, count: number): Promise<void> {
  const labels = Array.from({ length: count }, (_, index) => `${owner.partner} ${owner.mode} ${index + 1}`);
  await events.publish(
    labels.map((label) => sampleEvent(label, owner)),
    { idempotency: null, now },
  );
}

async function sequences({ events }: Storage, owner: Owner): Promise<number[]> {
  const kept = await events.list({ ...owner, after: 0, limit: 1000 });
  assert.equal(kept.oldestSequence, kept.events[0]?.sequence ?? null);
  return kept.events.map(({ sequence }) => sequence);
}

export const eventSizeCases = casesOf('sizes of events', {
  'partners with events in test mode are listed by slug': async (storage) => {
    for (const partner of ['acme', 'b', 'c']) await publishedAll(storage, { partner, mode: 'test' }, 2);
    await publishedAll(storage, { partner: 'only-live', mode: 'live' }, 1);
    const partners = (after: string, limit = 10) => storage.events.testPartners({ after, limit });
    assertSame(await partners(''), ['acme', 'b', 'c']);
    assertSame(await partners('acme', 1), ['b']);
    assertSame(await partners('c'), []);
  },

  'a size counts the event, its deliveries, their attempts, and the bytes of all texts': async (storage) => {
    const { events, deliveries } = storage;
    await registered(storage, 'a', { mode: 'test' });
    await registered(storage, 'b', { mode: 'test' });
    await published(storage, '1', { ...sandbox, createdAt: now - 1, body: 'é' });
    await published(storage, '2', { ...sandbox, body: 'body' });
    await published(storage, 'live', { body: 'another owner' });
    const sizes = (before: number, limit = 10) => events.sizes({ ...sandbox, before, limit });
    const second = { sequence: 2, createdAt: now, rows: 3, bytes: 4 };
    assertSame(await sizes(9), [second, { sequence: 1, createdAt: now - 1, rows: 3, bytes: 2 }]);

    const [first] = (await claim(storage, 'c')).filter(({ eventId }) => eventId === 'evt_1');
    assert.ok(first);
    const attempt = (number: number, response: string | null) => sampleAttempt(number, { response });
    const result = { id: first.id, isCutOff: false };
    await deliveries.finish([
      {
        ...result,
        claimId: first.claimId,
        attempt: attempt(1, 'é1'),
        next: { status: 'pending', dueAt: now },
      },
    ]);
    const again = await claimedOne(storage, 'd');
    await deliveries.finish([
      { ...result, claimId: again.claimId, attempt: attempt(2, '12345'), next: { status: 'delivered' } },
    ]);
    const grown = { sequence: 1, createdAt: now - 1, rows: 4, bytes: 10 };
    assertSame(await sizes(9), [second, grown]);
    assertSame(await sizes(9, 1), [second]);
    assertSame(await sizes(2), [grown]);
    assertSame(await sizes(1), []);
  },

  'the oldest events go with their deliveries up to a number, and nothing of other owners': async (
    storage,
  ) => {
    const others = [acme, { partner: 'other', mode: 'test' }] as const;
    for (const [index, owner] of [sandbox, ...others].entries()) {
      await registered(storage, `${index}`, owner);
      await publishedAll(storage, owner, 5);
    }
    const remove = (upTo: number, limit = 100) => storage.events.removeOldest({ ...sandbox, upTo, limit });
    assertSame(await remove(0), { events: 0, deliveries: 0 });
    assertSame(await remove(3, 2), { events: 2, deliveries: 2 });
    assertSame(await remove(3, 2), { events: 1, deliveries: 1 });
    assertSame(await remove(3, 2), { events: 0, deliveries: 0 });
    assertSame(await sequences(storage, sandbox), [4, 5]);
    assert.equal(await storage.events.find(sandbox, 'evt_acme test 3'), null);
    assert.equal((await listed(storage, sandbox)).length, 2);
    for (const owner of others) {
      assertSame(await sequences(storage, owner), [1, 2, 3, 4, 5]);
      assert.equal((await listed(storage, owner)).length, 5);
    }
    assert.equal((await claim(storage, 'c')).length, 12, 'what is kept is delivered');
    assertSame(await remove(9), { events: 2, deliveries: 2 });
    assertSame(await storage.events.list({ ...sandbox, after: 0, limit: 9 }), {
      events: [],
      oldestSequence: null,
      newestSequence: 5,
    });
  },

  'a result of a removed delivery is refused, and later ones are delivered': async (storage) => {
    await registered(storage, 'a', { mode: 'test' });
    await publishedAll(storage, sandbox, 2);
    const held = await claim(storage, 'c');
    assert.equal(held.length, 2);
    for (const delivery of held.slice(0, 1))
      await finish(storage, delivery, { status: 'pending', dueAt: now + 5 });
    assertSame(await storage.events.removeOldest({ ...sandbox, upTo: 2, limit: 9 }), {
      events: 2,
      deliveries: 2,
    });
    for (const delivery of held)
      assert.equal(await finish(storage, delivery, { status: 'delivered' }), false);
    assertSame(await claim(storage, 'd', { now: now + 9 }), []);
    await published(storage, 'later', sandbox);
    const later = await claimedOne(storage, 'e', { now: now + 9 });
    assert.equal(await finish(storage, later, { status: 'delivered' }), true);
    const [delivery] = await listed(storage, sandbox);
    assertSame([delivery?.eventId, delivery?.attempts.length], ['evt_later', 1]);
  },
});
