import assert from 'node:assert/strict';
import type { NewJob, Storage } from '@ostiary/core/storage';
import {
  alternating,
  assertFields,
  assertSame,
  casesOf,
  countAnswers,
  countedTo,
  inParallel,
} from './case.ts';
import { acme, create, sampleClaim, sampleEvent, sampleTransfer } from './partner-samples.ts';
import { digestOf, now } from './samples.ts';
import {
  claim,
  dropped,
  finish,
  published,
  queued,
  recover,
  redeliver,
  registered,
  sampleAttempt,
  sampleEndpoint,
} from './webhook-samples.ts';

const leaseMs = 30_000;

function jobs(count: number): NewJob[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `job ${index}`,
    kind: 'work',
    payload: {},
    dueAt: now,
  }));
}

function take({ queue }: Storage, claimId: string, at: number = now) {
  return queue.claim({ kinds: ['work'], claimId, now: at, leaseMs, limit: 1000 });
}

/**
 * Test cases of parallel calls of different kinds, or on many rows at once, which must neither overtake each
 * other nor deadlock.
 */
export const parallelCases = casesOf('parallel calls', {
  'that store the same jobs in any order store each once, and none fails': async (storage) => {
    const batch = jobs(50);
    await inParallel(10, (index) => storage.queue.enqueue(index % 2 === 0 ? batch : batch.toReversed()));
    assert.equal((await take(storage, 'c')).length, 50);
  },

  'that publish to several partners in any order all succeed, without a gap': async (storage) => {
    const owners = ['a', 'b', 'c'].map((partner) => ({ partner, mode: 'live' }) as const);
    await inParallel(20, (index) => {
      const events = owners.map((owner) => sampleEvent(`${owner.partner} ${index}`, owner));
      return storage.events.publish(index % 2 === 0 ? events : events.toReversed(), {
        idempotency: null,
        now,
      });
    });
    for (const owner of owners) {
      const { events } = await storage.events.list({ ...owner, after: 0, limit: 100 });
      assertFields(
        events,
        'sequence',
        Array.from({ length: 20 }, (_, index) => index + 1),
      );
    }
  },

  'of every kind with one key take effect once': async (storage) => {
    const { id } = await published(storage, 'known');
    for (let round = 0; round < 10; round += 1) {
      const claimOf = (kind: string) => sampleClaim(`key ${round}`, { fingerprint: digestOf(kind) });
      const endpoint = sampleEndpoint(`${round}`);
      const answers = await alternating<{ readonly outcome: string }>(round, [
        () => create(storage, sampleTransfer(`${round}`), claimOf('transfer')),
        () => storage.webhooks.create({ endpoint, idempotency: claimOf('endpoint'), max: 100, now }),
        () => storage.events.publish([sampleEvent(`${round}`)], { idempotency: claimOf('event'), now }),
        () => redeliver(storage, id, `${round}`, { idempotency: claimOf('redelivery') }),
      ]);
      const conflicts = answers.filter(({ outcome }) => outcome === 'key_conflict');
      assert.equal(conflicts.length, 3, JSON.stringify(answers));
    }
  },

  'with the same results in any order count each once, and none fails': async (storage) => {
    await registered(storage, 'a');
    for (let index = 0; index < 20; index += 1) await published(storage, `${index}`);
    const results = (await claim(storage, 'c')).map(({ id, claimId }) => ({
      id,
      claimId,
      attempt: sampleAttempt(1),
      isCutOff: false,
      next: { status: 'delivered' } as const,
    }));
    assert.equal(results.length, 20);
    const answers = await inParallel(6, (index) =>
      storage.deliveries.finish(index % 2 === 0 ? results : results.toReversed()),
    );
    assertSame(countAnswers(answers.flat()), { true: 20, false: 100 });
  },

  'that purge remove each row once': async (storage) => {
    for (let index = 0; index < 40; index += 1) {
      await storage.interactions.save(digestOf(`${index}`), {}, now);
    }
    const purge = () => storage.purge({ now: now + 1, before: now, eventsBefore: now, limit: 15 });
    const counts = await inParallel(4, purge);
    for (let rest = 0; rest < 4; rest += 1) counts.push(await purge());
    for (const { interactions } of counts) assert.ok(interactions <= 15);
    assert.equal(
      counts.reduce((sum, { interactions }) => sum + interactions, 0),
      40,
    );
  },

  'that purge an event and deliver it again do one or the other': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await published(storage, `${round}`, { createdAt: now });
      if (round === 0) await registered(storage, 'a');
      let outcome = '';
      await alternating<unknown>(round, [
        () => storage.purge({ now, before: now, eventsBefore: now + 1, limit: 100 }),
        async () => {
          ({ outcome } = await redeliver(storage, id, `again ${round}`, { endpointId: 'we_a' }));
        },
      ]);
      const event = await storage.events.find(acme, id);
      assert.equal(event === null, outcome === 'unknown_event', outcome);
      for (const claimed of await claim(storage, `c${round}`)) {
        const attempt = sampleAttempt(claimed.attempt);
        await storage.deliveries.finish([
          { ...claimed, attempt, isCutOff: false, next: { status: 'delivered' } },
        ]);
      }
      await storage.purge({ now, before: now, eventsBefore: now + 1, limit: 100 });
    }
  },

  'that purge events and recover their deliveries do one or the other': async (storage) => {
    await registered(storage, 'a');
    for (let round = 0; round < 20; round += 1) {
      const { id } = await dropped(storage, `${round}`);
      let recovered: unknown;
      await alternating<unknown>(round, [
        () => storage.purge({ now, before: now, eventsBefore: now + 1, limit: 100 }),
        async () => {
          recovered = await recover(storage, 'we_a', `again ${round}`);
        },
      ]);
      const isThere = (await storage.events.find(acme, id)) !== null;
      assertSame(recovered, queued(`${isThere ? 1 : 0} queued`));
      const again = await claim(storage, `again ${round}`);
      assert.equal(again.length, isThere ? 1 : 0);
      for (const delivery of again) await finish(storage, delivery, { status: 'dropped' });
      await storage.purge({ now, before: now, eventsBefore: now + 1, limit: 100 });
      assert.equal(await storage.events.find(acme, id), null);
    }
  },

  'that purge events remove each once and leave no gap, while others are published': async (storage) => {
    const owners = ['a', 'b', 'c'].map((partner) => ({ partner, mode: 'live' }) as const);
    const each = 40;
    for (const owner of owners) {
      const labels = countedTo(each).map((label) => `${owner.partner} ${label}`);
      await storage.events.publish(
        labels.map((label) => sampleEvent(label, owner)),
        { idempotency: null, now },
      );
    }
    const purge = () => storage.purge({ now, before: now, eventsBefore: now + 1, limit: 7 });
    let removed = 0;
    for (let round = 0; removed < owners.length * each; round += 1) {
      assert.ok(round < 100, 'some go in each round');
      const young = owners.map((owner) =>
        sampleEvent(`${owner.partner} young ${round}`, { ...owner, createdAt: now + 1 }),
      );
      const publish = storage.events.publish(young, { idempotency: null, now });
      for (const { events } of await inParallel(3, purge)) {
        assert.ok(events <= 7);
        removed += events;
      }
      await publish;
      for (const owner of owners) {
        const { events } = await storage.events.list({ ...owner, after: 0, limit: 1000 });
        const last = each + round + 1;
        assertSame(
          events.map(({ sequence }) => sequence),
          countedTo(last).slice(last - events.length),
        );
      }
    }
    assert.equal(removed, owners.length * each);
  },
});
