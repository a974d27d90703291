import { expect, it } from 'vitest';
import { create, created, sampleTransfer } from '../../testing/src/contract/partner-samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests({ onlyRows: true });

it('a taken reference is left out of the statement that creates the other transfers', async () => {
  const { storage, watched } = await server.watched();
  for (const label of ['a', 'b', 'c']) await created(storage, `old ${label}`, { reference: label });

  // The first call makes a statement of its own, and those that arrive meanwhile share the next.
  const transfers = ['first', 'b', 'bb', null, 'a'].map((reference) =>
    sampleTransfer(`new ${reference}`, { reference }),
  );
  const answers = await Promise.all(transfers.map((transfer) => create(storage, transfer)));

  expect(answers).toEqual([
    { outcome: 'created' },
    { outcome: 'reference_conflict', transferId: 'tr_old b' },
    { outcome: 'created' },
    { outcome: 'created' },
    { outcome: 'reference_conflict', transferId: 'tr_old a' },
  ]);
  expect(watched.refusals, 'no statement failed').toEqual([]);
});
