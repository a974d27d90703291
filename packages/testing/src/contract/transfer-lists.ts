import assert from 'node:assert/strict';
import type { ListPosition, Storage, TransferStore } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { acme, created, settled } from './partner-samples.ts';
import { now } from './samples.ts';

type Request = Partial<Parameters<TransferStore['list']>[0]>;

async function listed({ transfers }: Storage, request: Request = {}): Promise<string[]> {
  const everything = { status: null, reference: null, from: null, to: null, after: null, limit: 1000 };
  const page = await transfers.list({ ...acme, ...everything, ...request });
  return page.map(({ id }) => id.slice(3));
}

async function counted({ transfers }: Storage, request: Partial<Parameters<TransferStore['count']>[0]> = {}) {
  const everything = { status: null, reference: null, from: null, to: null, most: 1000 };
  return transfers.count({ ...acme, ...everything, ...request });
}

/**
 * Stores six transfers with five different times of creation: two pending and four final. One of each has a
 * reference.
 */
async function assorted(storage: Storage): Promise<void> {
  await created(storage, 'a', { createdAt: now + 1 });
  await settled(storage, 'e', { createdAt: now + 4, updatedAt: now + 9, status: 'failed' });
  await created(storage, 'b', { createdAt: now + 2, reference: 'order 7' });
  await settled(storage, 'd', { createdAt: now + 3, updatedAt: now + 9 });
  await settled(storage, 'c', { createdAt: now + 2, updatedAt: now + 8 });
  await settled(storage, 'f', { createdAt: now + 5, updatedAt: now + 5, reference: 'order 8' });
}

export const transferListCases = casesOf('transfer lists', {
  'the newest come first, then by id in descending code unit order': async (storage) => {
    const sorted = ['newest', 'b', 'a-', 'a', 'Z', 'B', '9', '10', 'oldest'];
    const times: Record<string, number> = { newest: now + 1, oldest: now - 1 };
    for (const label of sorted.toSorted()) {
      await created(storage, label, { createdAt: times[label] ?? now, updatedAt: now + 5 });
    }
    assertSame(await listed(storage), sorted);
    assertSame(await listed(storage, { limit: 3 }), sorted.slice(0, 3));
    const [first] = await storage.transfers.list({
      ...acme,
      status: null,
      reference: null,
      from: null,
      to: null,
      after: null,
      limit: 1,
    });
    assertSame(first, await storage.transfers.findById('tr_newest'));
  },

  'a list is of one partner and one mode': async (storage) => {
    await created(storage, 'mine', { reference: 'order 7' });
    await created(storage, 'test', { mode: 'test', reference: 'order 7' });
    await created(storage, 'other', { partner: 'other', reference: 'order 7' });
    for (const filter of [{}, { reference: 'order 7' }, { status: 'pending' } as const]) {
      assertSame(await listed(storage, filter), ['mine']);
      assertSame(await listed(storage, { ...filter, mode: 'test' }), ['test']);
      assertSame(await listed(storage, { ...filter, partner: 'other' }), ['other']);
      assertSame(await listed(storage, { ...filter, partner: 'Acme' }), []);
    }
  },

  'filters take what they name, alone and together': async (storage) => {
    await assorted(storage);
    assertSame(await listed(storage), ['f', 'e', 'd', 'c', 'b', 'a']);
    assertSame(await listed(storage, { status: 'pending' }), ['b', 'a']);
    assertSame(await listed(storage, { status: 'completed' }), ['f', 'd', 'c']);
    assertSame(await listed(storage, { status: 'failed' }), ['e']);
    assertSame(await listed(storage, { status: 'completed', limit: 2 }), ['f', 'd']);
    assertSame(await listed(storage, { reference: 'order 7' }), ['b']);
    assertSame(await listed(storage, { reference: 'Order 7' }), []);
    assertSame(await listed(storage, { reference: 'order' }), []);
    assertSame(await listed(storage, { reference: 'order 7', status: 'pending' }), ['b']);
    assertSame(await listed(storage, { reference: 'order 7', status: 'completed' }), []);
    assertSame(await listed(storage, { reference: 'order 7', from: now + 2, to: now + 3 }), ['b']);
    assertSame(await listed(storage, { reference: 'order 7', from: now + 3 }), []);
    assertSame(await listed(storage, { reference: 'order 7', to: now + 2 }), []);
    const after = { time: now + 2, id: 'tr_b' };
    assertSame(await listed(storage, { reference: 'order 7', after }), []);
    const all = { reference: 'order 8', status: 'completed', from: now + 5, to: now + 6 } as const;
    assertSame(await listed(storage, { ...all, after: { time: now + 5, id: 'tr_g' } }), ['f']);
  },

  'a range has its start and not its end': async (storage) => {
    await assorted(storage);
    assertSame(await listed(storage, { from: now + 2, to: now + 4 }), ['d', 'c', 'b']);
    assertSame(await listed(storage, { from: now + 4 }), ['f', 'e']);
    assertSame(await listed(storage, { to: now + 2 }), ['a']);
    assertSame(await listed(storage, { from: now + 2, to: now + 2 }), []);
    assertSame(await listed(storage, { from: now + 4, to: now + 2 }), []);
    assertSame(await listed(storage, { from: 0, to: now + 1 }), []);
    const status = 'completed';
    assertSame(await listed(storage, { status, from: now + 2, to: now + 5 }), ['d', 'c']);
    assertSame(await listed(storage, { status, from: now + 3 }), ['f', 'd']);
  },

  'a page starts after its position, also where no transfer is': async (storage) => {
    await assorted(storage);
    const after = (time: number, id: string) => ({ after: { time: now + time, id } });
    assertSame(await listed(storage, after(4, 'tr_e')), ['d', 'c', 'b', 'a']);
    assertSame(await listed(storage, after(2, 'tr_c')), ['b', 'a']);
    assertSame(await listed(storage, after(2, 'tr_bb')), ['b', 'a']);
    assertSame(await listed(storage, after(2, 'tr_z')), ['c', 'b', 'a']);
    assertSame(await listed(storage, after(2, '')), ['a']);
    assertSame(await listed(storage, after(1, 'tr_a')), []);
    assertSame(await listed(storage, { ...after(4, 'tr_e'), status: 'completed' }), ['d', 'c']);
    const range = { from: now + 2, to: now + 3 };
    assertSame(
      await listed(storage, { ...after(9, 'tr_z'), ...range }),
      ['c', 'b'],
      'a position past the range',
    );
    assertSame(await listed(storage, { ...after(2, 'tr_c'), ...range }), ['b']);
    assertSame(await listed(storage, { ...after(1, 'tr_a'), ...range }), [], 'a position before the range');
  },

  'a list can be read oldest first, with the same filters, ranges and positions': async (storage) => {
    await assorted(storage);
    const oldest = (request: Request = {}) => listed(storage, { oldestFirst: true, ...request });
    const after = (time: number, id: string) => ({ after: { time: now + time, id } });
    assertSame(await oldest(), ['a', 'b', 'c', 'd', 'e', 'f']);
    assertSame(await oldest({ limit: 2 }), ['a', 'b']);
    assertSame(await oldest({ ...after(2, 'tr_b'), limit: 2 }), ['c', 'd']);
    assertSame(await oldest(after(2, 'tr_bb')), ['c', 'd', 'e', 'f']);
    assertSame(await oldest(after(5, 'tr_f')), []);
    assertSame(await oldest({ status: 'completed', ...after(2, 'tr_c') }), ['d', 'f']);
    const range = { from: now + 2, to: now + 4 };
    assertSame(await oldest(range), ['b', 'c', 'd']);
    assertSame(
      await oldest({ ...range, ...after(1, 'tr_a') }),
      ['b', 'c', 'd'],
      'a position before the range',
    );
    assertSame(await oldest({ ...range, ...after(2, 'tr_c') }), ['d']);
    assertSame(await oldest({ ...range, ...after(9, 'tr_z') }), [], 'a position past the range');
    assertSame(await oldest({ reference: 'order 7' }), ['b']);
    assertSame(await oldest({ reference: 'order 7', ...after(2, 'tr_b') }), []);
    assertSame(await oldest({ reference: 'order 7', status: 'failed' }), []);
    assertSame(await oldest({ partner: 'other' }), []);
  },

  'transfers are counted with the same filters, up to a limit': async (storage) => {
    await assorted(storage);
    await created(storage, 'test', { mode: 'test', reference: 'order 7' });
    assertSame(await counted(storage), 6);
    assertSame(await counted(storage, { most: 4 }), 4);
    assertSame(await counted(storage, { mode: 'test' }), 1);
    assertSame(await counted(storage, { partner: 'other' }), 0);
    assertSame(await counted(storage, { status: 'completed' }), 3);
    assertSame(await counted(storage, { status: 'completed', from: now + 3, to: now + 5 }), 1);
    assertSame(await counted(storage, { from: now + 2, to: now + 4 }), 3);
    assertSame(await counted(storage, { from: now + 4, to: now + 2 }), 0);
    assertSame(await counted(storage, { reference: 'order 7' }), 1);
    assertSame(await counted(storage, { reference: 'order 7', status: 'failed' }), 0);
    assertSame(await counted(storage, { reference: 'order 9' }), 0);
  },

  'pages have no gap and no repetition while transfers arrive, at one millisecond too': async (storage) => {
    const labels = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, '0'));
    for (const label of labels)
      await created(storage, label, { createdAt: now + Math.floor(Number(label) / 25) });
    for (const status of [null, 'pending'] as const) {
      const seen: string[] = [];
      let after: ListPosition | null = null;
      for (let pages = 0; pages < 100; pages += 1) {
        const request = { ...acme, status, reference: null, from: null, to: null, after, limit: 7 };
        const page = await storage.transfers.list(request);
        const last = page.at(-1);
        if (last === undefined) break;
        seen.push(...page.map(({ id }) => id.slice(3)));
        after = { time: last.createdAt, id: last.id };
        await created(storage, `new ${status} ${pages}`, { createdAt: now + 1 });
        await created(storage, `a newer one, ${status} ${pages}`, { createdAt: now + 2 });
      }
      const before = seen.filter((label) => !label.includes('new'));
      assertSame(before, labels.toReversed());
      assert.equal(new Set(seen).size, seen.length, 'nothing twice');
    }
  },
});
