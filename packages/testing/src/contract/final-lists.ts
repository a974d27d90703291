import type { ListPosition, Storage, TransferRecord, TransferStore } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { acme, created, settle, settled } from './partner-samples.ts';
import { now } from './samples.ts';

type Request = Partial<Parameters<TransferStore['listFinal']>[0]>;

async function listed({ transfers }: Storage, request: Request = {}): Promise<string[]> {
  const range = { from: now, to: now + 100, after: null, limit: 1000 };
  const page = await transfers.listFinal({ ...acme, ...range, ...request });
  return page.map(({ id }) => id.slice(3));
}

/** Reads all pages of an export, one after another. */
async function exported({ transfers }: Storage, limit: number, between: () => Promise<unknown>) {
  const rows: TransferRecord[] = [];
  let after: ListPosition | null = null;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await transfers.listFinal({ ...acme, from: now, to: now + 100, after, limit });
    const last = page.at(-1);
    if (last === undefined) break;
    rows.push(...page);
    after = { time: last.updatedAt, id: last.id };
    await between();
  }
  return rows;
}

export const finalListCases = casesOf('final transfers', {
  'they come by the time they became final, then by id in code unit order': async (storage) => {
    const sorted = ['first', '10', '9', 'B', 'Z', 'a', 'a-', 'b', 'last'];
    const times: Record<string, number> = { first: now, last: now + 9 };
    for (const [index, label] of sorted.toSorted().entries()) {
      await settled(storage, label, {
        createdAt: now - index,
        updatedAt: times[label] ?? now + 5,
        status: index % 2 === 0 ? 'completed' : 'failed',
      });
    }
    assertSame(await listed(storage), sorted);
    assertSame(await listed(storage, { limit: 3 }), sorted.slice(0, 3));
    const [first] = await storage.transfers.listFinal({
      ...acme,
      from: now,
      to: now + 1,
      after: null,
      limit: 9,
    });
    assertSame(first, await storage.transfers.findById('tr_first'));
  },

  'pending transfers are not among them until they are settled': async (storage) => {
    const { id } = await created(storage, 'a', { updatedAt: now + 5 });
    assertSame(await listed(storage), []);
    await settle(storage, { id, status: 'completed', failure: null, now: now + 7 });
    assertSame(await listed(storage), ['a']);
    assertSame(await listed(storage, { from: now + 7, to: now + 8 }), ['a'], 'by when it was settled');
  },

  'they are of one partner and one mode': async (storage) => {
    await settled(storage, 'mine', { updatedAt: now });
    await settled(storage, 'test', { updatedAt: now, mode: 'test' });
    await settled(storage, 'other', { updatedAt: now, partner: 'other' });
    assertSame(await listed(storage), ['mine']);
    assertSame(await listed(storage, { mode: 'test' }), ['test']);
    assertSame(await listed(storage, { partner: 'other' }), ['other']);
    assertSame(await listed(storage, { partner: 'ACME' }), []);
  },

  'a range has its start and not its end': async (storage) => {
    for (const time of [0, 1, 2, 3]) await settled(storage, `${time}`, { updatedAt: now + time });
    assertSame(await listed(storage, { from: now + 1, to: now + 3 }), ['1', '2']);
    assertSame(await listed(storage, { from: now + 3, to: now + 4 }), ['3']);
    assertSame(await listed(storage, { from: now + 1, to: now + 1 }), []);
    assertSame(await listed(storage, { from: now + 3, to: now + 1 }), []);
    const range = { from: now + 1, to: now + 3 };
    const after = (time: number, id: string) => ({ ...range, after: { time: now + time, id } });
    assertSame(await listed(storage, after(0, 'tr_0')), ['1', '2'], 'a position before the range');
    assertSame(await listed(storage, after(1, '')), ['1', '2']);
    assertSame(await listed(storage, after(1, 'tr_0')), ['1', '2'], 'a position where no transfer is');
    assertSame(await listed(storage, after(1, 'tr_1')), ['2']);
    assertSame(await listed(storage, after(2, 'tr_2')), []);
    assertSame(await listed(storage, after(3, 'tr_3')), [], 'a position past the range');
  },

  'pages have no gap and no repetition while others become final': async (storage) => {
    const labels = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, '0'));
    for (const label of labels) {
      await settled(storage, label, { updatedAt: now + Math.floor(Number(label) / 25) });
    }
    let later = 0;
    const rows = await exported(storage, 7, async () => {
      later += 1;
      if (later < 5) await settled(storage, `late ${later}`, { updatedAt: now + 50 });
    });
    const seen = rows.map(({ id }) => id.slice(3));
    assertSame(seen, [...labels, 'late 1', 'late 2', 'late 3', 'late 4']);
    assertSame(await exported(storage, 1000, async () => undefined), rows, 'in whatever pages');
  },
});
