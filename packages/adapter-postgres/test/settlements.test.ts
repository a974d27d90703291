import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { acme, created, sampleEvent, sampleTransfer } from '../../testing/src/contract/partner-samples.ts';
import { registered } from '../../testing/src/contract/webhook-samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests({ onlyRows: true });

type Settlement = Parameters<Storage['transfers']['settle']>[0];

/** Opens a storage with pending transfers, and a client that locks the partner's event sequence. */
async function stage(labels: readonly string[]) {
  const { storage, watched, holding, waiting } = await server.watched();
  await registered(storage, '1');
  await storage.events.publish([sampleEvent('taken')], { idempotency: null, now: 1 });
  for (const label of labels) await created(storage, label);
  const held = await holding("UPDATE ostiary.event_sequences SET last = last WHERE mode = 'live'");
  watched.ran();
  const statements = () => watched.ran().length;
  return { storage, held, waiting, statements };
}

function settlement(label: string, changes: Partial<Settlement> = {}): Settlement {
  const event = sampleEvent(label, { type: 'payment.completed', createdAt: 7 });
  return { id: `tr_${label}`, status: 'completed', failure: null, event, now: 7, ...changes };
}

/** Returns the ids of the events after the first event. Fails if a sequence number is missing. */
async function published({ events }: Storage): Promise<string[]> {
  const listed = await events.list({ ...acme, after: 1, limit: 100 });
  expect(listed.events.map(({ sequence }) => sequence)).toEqual(listed.events.map((_, index) => index + 2));
  return listed.events.map(({ id }) => id);
}

test('settlements that would wait for each other take one transaction, each with its event and its answer', async () => {
  const labels = ['a', 'b', 'c', 'd', 'e'];
  const { storage, held, waiting, statements } = await stage(labels);
  const first = storage.transfers.settle(settlement('c'));
  await waiting(1);
  const failure = { code: 'no_account', message: 'gone' };
  const others = [
    settlement('b'),
    settlement('e', { status: 'failed', failure, now: 8 }),
    settlement('nobody'),
    settlement('a'),
    settlement('d'),
  ].map((one) => storage.transfers.settle(one));
  await held.query('ROLLBACK');

  const answers = await Promise.all([first, ...others]);
  expect(statements()).toBe(2);
  expect(
    answers.map((answer) => answer && [answer.transfer.id, answer.transfer.status, answer.settled]),
  ).toEqual([
    ['tr_c', 'completed', true],
    ['tr_b', 'completed', true],
    ['tr_e', 'failed', true],
    null,
    ['tr_a', 'completed', true],
    ['tr_d', 'completed', true],
  ]);
  expect(answers[2]?.transfer).toEqual({ ...sampleTransfer('e'), status: 'failed', failure, updatedAt: 8 });
  expect(await published(storage)).toEqual(['evt_c', 'evt_b', 'evt_e', 'evt_a', 'evt_d']);
  for (const answer of answers) {
    if (answer !== null)
      expect(await storage.transfers.findById(answer.transfer.id)).toEqual(answer.transfer);
  }
});

test('of settlements of one transfer that meet the first one counts', async () => {
  const { storage, held, waiting } = await stage(['a', 'b']);
  const first = storage.transfers.settle(settlement('a'));
  await waiting(1);
  const failed = { status: 'failed', failure: { code: 'x', message: '' } } as const;
  const others = [
    settlement('b', { ...failed, event: sampleEvent('b of the first'), now: 8 }),
    settlement('b', { event: sampleEvent('b of the second'), now: 9 }),
    settlement('a', { ...failed, event: sampleEvent('a again') }),
  ].map((one) => storage.transfers.settle(one));
  await held.query('ROLLBACK');

  await first;
  const answers = await Promise.all(others);
  expect(answers.map((answer) => answer?.settled)).toEqual([true, false, false]);
  expect(answers.map((answer) => answer?.transfer.updatedAt)).toEqual([8, 8, 7]);
  expect(await published(storage)).toEqual(['evt_a', 'evt_b of the first']);
});

test('one that cannot be stored fails alone, the others of its transaction and those that wait for it do not', async () => {
  const { storage, held, waiting } = await stage(['a', 'b', 'c']);
  const first = storage.transfers.settle(settlement('a', { event: sampleEvent('taken') }));
  await waiting(1);
  const answers = Promise.allSettled([
    first,
    storage.transfers.settle(settlement('b', { event: sampleEvent('taken') })),
    storage.transfers.settle(settlement('c')),
  ]);
  await held.query('ROLLBACK');

  const [alone, refused, settled] = await answers;
  expect(alone).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } });
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } });
  expect(settled).toMatchObject({ status: 'fulfilled', value: { settled: true } });
  for (const id of ['tr_a', 'tr_b']) {
    expect((await storage.transfers.findById(id))?.status).toBe('pending');
  }
  expect(await published(storage)).toEqual(['evt_c']);
});

test('those of another partner or mode do not wait', async () => {
  const { storage, held, waiting } = await stage(['a']);
  await created(storage, 'other', { mode: 'test' });
  const first = storage.transfers.settle(settlement('a'));
  await waiting(1);
  const event = sampleEvent('other', { mode: 'test' });
  expect((await storage.transfers.settle(settlement('other', { event })))?.settled).toBe(true);
  await held.query('ROLLBACK');
  expect((await first)?.settled).toBe(true);
});
