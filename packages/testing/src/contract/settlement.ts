import assert from 'node:assert/strict';
import type { Storage, TransferRecord } from '@ostiary/core/storage';
import { assertFields, assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import { acme, created, sampleEvent, settle } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import { claim, listed, published, registered } from './webhook-samples.ts';

const failure = { code: 'no_account', message: 'Pa gen kont “7”\n🗝️' };

function complete(storage: Storage, { id }: TransferRecord, at: number) {
  return settle(storage, { id, status: 'completed', failure: null, now: at });
}

function fail(storage: Storage, { id }: TransferRecord, at: number) {
  return settle(storage, { id, status: 'failed', failure, now: at });
}

export const settlementCases = casesOf('settlement', {
  'a transfer completes': async (storage) => {
    const pending = await created(storage, 'a', { reference: 'order 7', metadata: { a: 1 } });
    const other = await created(storage, 'b');
    const transfer = {
      ...pending,
      status: 'completed',
      updatedAt: now + minute,
      completedAt: now + minute,
    };
    assertSame(await complete(storage, pending, now + minute), { transfer, settled: true });
    assertSame(await storage.transfers.find(acme, pending.id), transfer);
    assertSame(await storage.transfers.findById(other.id), other, 'and no other transfer does');
  },

  'a transfer fails, and says why': async (storage) => {
    const pending = await created(storage, 'a');
    const transfer = { ...pending, status: 'failed', failure, updatedAt: now + 1 };
    assertSame(await fail(storage, pending, now + 1), { transfer, settled: true });
    assertSame(await storage.transfers.findById(pending.id), transfer);
    const silent = await created(storage, 'b');
    const answer = await settle(storage, {
      id: silent.id,
      status: 'failed',
      failure: { code: '', message: '' },
      now,
    });
    assertSame(answer?.transfer.failure, { code: '', message: '' });
  },

  'what is final stays final': async (storage) => {
    const completed = await created(storage, 'completed');
    const failed = await created(storage, 'failed');
    await complete(storage, completed, now + 1);
    await fail(storage, failed, now + 1);
    for (const { id } of [completed, failed]) {
      const transfer = await storage.transfers.findById(id);
      for (const again of [complete, fail]) {
        assertSame(await again(storage, completed.id === id ? completed : failed, now + 9), {
          transfer,
          settled: false,
        });
        assertSame(await storage.transfers.findById(id), transfer);
      }
    }
  },

  'an unknown transfer is null': async (storage) => {
    const transfer = await created(storage, 'a');
    for (const id of ['tr_b', 'tr_A', ''])
      assert.equal(await complete(storage, { ...transfer, id }, now), null);
    assertSame(await storage.transfers.findById('tr_a'), transfer);
  },

  'of parallel settlements exactly one settles, with its event, and the others see what it did': async (
    storage,
  ) => {
    for (let round = 0; round < 5; round += 1) {
      const pending = await created(storage, `${round}`);
      const answers = await inParallel(40, (index) =>
        (index % 2 === 0 ? complete : fail)(storage, pending, now + index),
      );
      assertSame(countAnswers(answers.map((answer) => answer?.settled)), { true: 1, false: 39 });
      const winner = answers.findIndex((answer) => answer?.settled);
      const status = winner % 2 === 0 ? 'completed' : 'failed';
      const final = await storage.transfers.findById(pending.id);
      assertSame([final?.status, final?.updatedAt], [status, now + winner]);
      assert.equal(final?.completedAt, winner % 2 === 0 ? now + winner : null);
      assertSame(final?.failure, winner % 2 === 0 ? null : failure);
      for (const answer of answers) assertSame(answer?.transfer, final);
      await complete(storage, { ...pending, id: 'tr_unknown' }, now);
      const { events } = await storage.events.list({ ...acme, after: round, limit: 100 });
      assertFields(events, 'type', [`payment.${status}`]);
      assertFields(events, 'createdAt', [now + winner]);
    }
  },

  'the event of a settlement is published with it, as any other': async (storage) => {
    await registered(storage, 'a', { events: ['payment.completed'] });
    const { id } = await created(storage, 'a');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
    const event = sampleEvent('a', { body: '{ "exact": "bytes" }', createdAt: now + 5, traceparent });
    const settlement = { id, status: 'completed', failure: null, event, now: now + 4 } as const;
    assert.equal((await storage.transfers.settle(settlement))?.settled, true);
    const { deliveryId, traceparent: _, ...stored } = event;
    assertSame(await storage.events.find(acme, event.id), { ...stored, sequence: 1 });
    const [delivery, ...others] = await listed(storage);
    assertSame([delivery?.id, delivery?.nextAttemptAt, others], [`${deliveryId}_1`, now + 5, []]);
    const [claimed] = await claim(storage, 'c', { now: now + 5 });
    assertSame(claimed?.traceparent, traceparent);
  },

  'a transfer whose event cannot be stored stays pending': async (storage) => {
    const pending = await created(storage, 'a');
    const event = await published(storage, 'taken');
    const settlement = { id: pending.id, status: 'completed', failure: null, event, now } as const;
    await assertUnavailable(() => storage.transfers.settle(settlement));
    assertSame(await storage.transfers.findById(pending.id), pending);
    assert.equal((await complete(storage, pending, now))?.settled, true);
    assert.equal((await storage.events.list({ ...acme, after: 0, limit: 9 })).events.length, 2);
  },
});
