import assert from 'node:assert/strict';
import type { Quota } from '@ostiary/core/storage';
import { assertSame, assertUnavailable, type Calls, casesOf, inParallel } from './case.ts';
import {
  acme,
  assertNothingStored,
  assertOutcome,
  create,
  created,
  executionOf,
  executions,
  sampleClaim,
  sampleTransfer,
  settle,
} from './partner-samples.ts';
import { hour, now } from './samples.ts';

const everyField = {
  id: 'tr_full',
  mode: 'test',
  amount: 99_999_999_999_999_999n,
  currency: 'USD',
  recipientKid: 'kid-2',
  description: '',
  reference: 'order 7',
  metadata: {
    nested: { list: [1, -2.5, true, false, null, ''], empty: {}, 'odd key "\'\\ 🗝️': [] },
    biggest: Number.MAX_SAFE_INTEGER,
    text: "O'Hara; DROP TABLE transfers; -- \u0001 é e\u0301 \u2028 עברית 👩‍👩‍👧 <b>&amp;</b>\r\n\t",
    constructor: 'mine',
    '': 'empty key',
  },
  updatedAt: now + 1,
} as const;

const unlimited: Quota = { rows: 1_000_000, bytes: 1_000_000_000 };

export const transferCases = casesOf('transfers', {
  'the oldest transfers of an owner go, created before a time, and those of others stay': async (storage) => {
    const { transfers } = storage;
    const sandbox = { partner: 'acme', mode: 'test' } as const;
    for (const [label, at] of Object.entries({ c: -1, a: -3, b: -2, exact: 0 }))
      await created(storage, label, { ...sandbox, createdAt: now + at, reference: label });
    await settle(storage, { id: 'tr_b', status: 'completed', failure: null, now });
    await created(storage, 'live', { createdAt: now - 9 });
    await created(storage, 'other', { partner: 'other', mode: 'test', createdAt: now - 9 });
    const remove = (limit: number) =>
      transfers.removeOldest({ ...sandbox, ...unlimited, before: now, limit });
    assert.equal(await remove(2), 2);
    assertSame([await transfers.findById('tr_a'), await transfers.findById('tr_b')], [null, null]);
    assert.equal((await transfers.findById('tr_c'))?.id, 'tr_c');
    assert.equal(await remove(2), 1);
    assert.equal(await remove(2), 0);
    for (const id of ['tr_exact', 'tr_live', 'tr_other'])
      assert.equal((await transfers.findById(id))?.id, id);
    await created(storage, 'again', { ...sandbox, reference: 'a' });
  },

  'the oldest transfers of an owner beyond a quota go, and those of others stay': async (storage) => {
    const { transfers } = storage;
    const sandbox = { partner: 'acme', mode: 'test' } as const;
    // Two bytes as UTF-8, in addition to the two of the reference.
    const texts = { description: 'é', metadata: null };
    for (const [at, label] of ['a1', 'b2', 'c3', 'd4'].entries())
      await created(storage, label, { ...sandbox, ...texts, createdAt: now + at, reference: label });
    await created(storage, 'live', { createdAt: now - 9 });
    await created(storage, 'other', { partner: 'other', mode: 'test', createdAt: now - 9 });
    const remove = (quota: Quota, limit = 10) =>
      transfers.removeOldest({ ...sandbox, ...quota, before: 0, limit });
    assert.equal(await remove({ rows: 4, bytes: 16 }), 0);
    assert.equal(await remove({ rows: 2, bytes: 16 }, 1), 1);
    assert.equal(await transfers.findById('tr_a1'), null);
    assert.equal(await remove({ rows: 4, bytes: 11 }), 1);
    assert.equal(await remove({ rows: 1, bytes: 16 }), 1);
    for (const id of ['tr_d4', 'tr_live', 'tr_other']) assert.equal((await transfers.findById(id))?.id, id);
    await created(storage, 'full', {
      ...sandbox,
      description: null,
      metadata: { a: '1' },
      createdAt: now + 9,
    });
    assert.equal(await remove({ rows: 4, bytes: 8 }), 2);
  },

  'of transfers that were created at the same time, those with the lowest ids go': async (storage) => {
    const sandbox = { partner: 'acme', mode: 'test' } as const;
    for (const label of ['b', 'c', 'a']) await created(storage, label, { ...sandbox, reference: label });
    const quota = { rows: 1, bytes: 1_000_000 };
    assert.equal(await storage.transfers.removeOldest({ ...sandbox, ...quota, before: 0, limit: 10 }), 2);
    assert.equal((await storage.transfers.findById('tr_c'))?.id, 'tr_c');
  },

  'a transfer is read back as it was stored, by its owner and by the worker': async (storage) => {
    const bare = await created(storage, 'bare', { description: null });
    const full = await created(storage, 'full', everyField);
    const proto = await created(storage, 'proto', { metadata: JSON.parse('{"__proto__":{"a":1},"b":{}}') });
    for (const transfer of [bare, full, proto]) {
      assertSame(await storage.transfers.find(transfer, transfer.id), transfer);
      assertSame(await storage.transfers.findById(transfer.id), transfer);
    }
    const found = await storage.transfers.findById(proto.id);
    assert.equal(JSON.stringify(found?.metadata), '{"__proto__":{"a":1},"b":{}}');
  },

  'somebody else’s transfer is as unknown as any other': async (storage) => {
    const { transfers } = storage;
    await created(storage, 'a');
    assert.equal(await transfers.find({ partner: 'other', mode: 'live' }, 'tr_a'), null);
    assert.equal(await transfers.find({ partner: 'acme', mode: 'test' }, 'tr_a'), null);
    assert.equal(await transfers.find({ partner: 'ACME', mode: 'live' }, 'tr_a'), null);
    for (const id of ['tr_A', 'tr_', 'tr_a ', '']) {
      assert.equal(await transfers.find(acme, id), null, id);
      assert.equal(await transfers.findById(id), null, id);
    }
  },

  'amounts are exact': async (storage) => {
    const amounts = [
      1n,
      100n,
      2n ** 53n - 1n,
      2n ** 53n + 1n,
      10_000_000_000_000_001n,
      99_999_999_999_999_999n,
    ];
    for (const amount of amounts) {
      const { id } = await created(storage, `${amount}`, { amount });
      assert.equal((await storage.transfers.find(acme, id))?.amount, amount);
      const settled = await settle(storage, { id, status: 'completed', failure: null, now });
      assert.equal(settled?.transfer.amount, amount);
    }
    const all = { ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 100 };
    for (const listed of [
      await storage.transfers.list(all),
      await storage.transfers.listFinal({ ...acme, from: now, to: now + 1, after: null, limit: 100 }),
    ]) {
      assertSame(new Set(listed.map(({ amount }) => amount)), new Set(amounts));
    }
  },

  'of parallel requests with one reference exactly one is stored, and the others hear its id': async (
    storage,
  ) => {
    const claims = Array.from({ length: 50 }, (_, index) => sampleClaim(`key ${index}`));
    const answers = await inParallel(50, (index) =>
      create(storage, sampleTransfer(`${index}`, { reference: 'order 7' }), claims[index]),
    );
    const winner = answers.findIndex(({ outcome }) => outcome === 'created');
    const transferId = `tr_${winner}`;
    for (const [index, answer] of answers.entries()) {
      if (index === winner) continue;
      assertSame(answer, { outcome: 'reference_conflict', transferId });
      await assertNothingStored(storage, sampleTransfer(`${index}`), claims[index]);
    }
    assertSame(await executions(storage), [transferId]);
  },

  'a reference is one of a partner and a mode, as it is written': async (storage) => {
    await created(storage, 'a', { reference: 'order 7' });
    const others = [
      { partner: 'other' },
      { mode: 'test' },
      { reference: 'Order 7' },
      { reference: 'order 7 ' },
      { reference: '' },
    ] as const;
    for (const [index, changes] of others.entries()) {
      await created(storage, `other ${index}`, { reference: 'order 7', ...changes });
    }
    const again = await create(storage, sampleTransfer('z', { partner: 'other', reference: 'order 7' }));
    assertSame(again, { outcome: 'reference_conflict', transferId: 'tr_other 0' });
  },

  'a reference stays taken, whatever became of its transfer': async (storage) => {
    const { id } = await created(storage, 'a', { reference: 'order 7' });
    const failure = { code: 'no_account', message: 'No such account' };
    await settle(storage, { id, status: 'failed', failure, now });
    const again = sampleTransfer('b', { reference: 'order 7' });
    const later = await create(storage, again, sampleClaim('b'), now + 9999 * hour);
    assertSame(later, { outcome: 'reference_conflict', transferId: id });
    await assertNothingStored(storage, again, sampleClaim('b'));
  },

  'a transfer id that is taken is an error and stores nothing': async (storage) => {
    const first = await created(storage, 'a');
    const claim = sampleClaim('key');
    const second = sampleTransfer('a', { amount: 1n, reference: 'order 7' });
    const job = { ...executionOf(second), id: 'another job', payload: { transferId: 'another' } };
    await assertUnavailable(() =>
      storage.transfers.create({ transfer: second, idempotency: claim, job, now }),
    );
    assertSame(await storage.transfers.findById('tr_a'), first);
    assert.equal(await storage.idempotency.find({ ...claim, now }), null);
    assertSame(await executions(storage), ['tr_a']);
    await created(storage, 'b', { reference: 'order 7' });
  },

  'a job that is stored already is left as it is': async (storage) => {
    const transfer = sampleTransfer('a');
    await storage.queue.enqueue([{ ...executionOf(transfer), payload: { transferId: 'first' } }]);
    assertOutcome(await create(storage, transfer), 'created');
    assertSame(await executions(storage), ['first']);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const transferCalls: Calls<'transfers'> = {
  create: (storage) => create(storage, sampleTransfer('a'), sampleClaim('a')),
  find: ({ transfers }) => transfers.find(acme, 'tr_a'),
  findById: ({ transfers }) => transfers.findById('tr_a'),
  list: ({ transfers }) =>
    transfers.list({ ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 1 }),
  count: ({ transfers }) =>
    transfers.count({ ...acme, status: null, reference: null, from: null, to: null, most: 1 }),
  settle: (storage) => settle(storage, { id: 'tr_a', status: 'completed', failure: null, now }),
  listFinal: ({ transfers }) => transfers.listFinal({ ...acme, from: 0, to: now, after: null, limit: 1 }),
  removeOldest: ({ transfers }) => transfers.removeOldest({ ...acme, ...unlimited, before: now, limit: 1 }),
};
