import assert from 'node:assert/strict';
import type { NameSearch, SortedPage, Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { sampleApiKey, samplePartner } from './partner-samples.ts';
import { hour, now, sampleClient } from './samples.ts';

/** Rows of each sorted list: the id, the name by which it is sorted, and the time of creation. */
const rows = [
  ['b', 'sevis rapid 13', now],
  ['a', 'sevis rapid 13', now - hour],
  ['d', 'é', now],
  ['c', '', now + hour],
] as const;

const byName = ['c', 'a', 'b', 'd'];
const byCreation = ['a', 'b', 'd', 'c'];

/** A list of one kind of record, and the function that stores its rows. */
interface List {
  readonly fill: (storage: Storage) => Promise<void>;
  readonly page: (storage: Storage, page: SortedPage) => Promise<readonly string[]>;
  readonly count: (storage: Storage, limit: number) => Promise<number>;
  /** Searches a list by words of the name; `null` for a list without this search. */
  readonly named: ((storage: Storage, search: NameSearch) => Promise<readonly string[]>) | null;
}

const lists: Readonly<Record<string, List>> = {
  partners: {
    async fill({ partners }) {
      for (const [slug, searchName, createdAt] of rows)
        assert.equal(await partners.insert(samplePartner({ slug, searchName, createdAt })), true);
    },
    page: async ({ partners }, page) => (await partners.sorted(page)).map(({ slug }) => slug),
    count: ({ partners }, limit) => partners.count(limit),
    named: async ({ partners }, search) => (await partners.named(search)).map(({ slug }) => slug),
  },
  clients: {
    async fill({ clients, clientDocuments }) {
      for (const [clientId, searchName, createdAt] of rows)
        assert.equal(await clients.insert(sampleClient({ clientId, searchName, createdAt })), true);
      const document = { claimedName: null, freshUntil: now };
      const described = sampleClient({ clientId: 'https://app.example/client', document });
      assert.equal(await clientDocuments.insert(described, { now, limit: 10 }), 'stored');
    },
    page: async ({ clients }, page) => (await clients.sorted(page)).map(({ clientId }) => clientId),
    count: ({ clients }, limit) => clients.count(limit),
    named: async ({ clients }, search) => (await clients.named(search)).map(({ clientId }) => clientId),
  },
  'api keys': {
    async fill({ partners, apiKeys }) {
      for (const slug of ['acme', 'other']) await partners.insert(samplePartner({ slug }));
      for (const [index, [label, searchName, createdAt]] of rows.entries()) {
        const partner = index % 2 === 0 ? 'acme' : 'other';
        const key = sampleApiKey(label, { id: label, partner, searchName, createdAt });
        assert.equal(await apiKeys.insert(key), true);
      }
    },
    page: async ({ apiKeys }, page) => (await apiKeys.sorted(page)).map(({ id }) => id),
    count: ({ apiKeys }, limit) => apiKeys.count(limit),
    named: null,
  },
};

/** Returns the position of a row in a sorted list. */
function placeOf(by: SortedPage['by'], id: string): SortedPage['after'] {
  const [, name = '', createdAt = 0] = rows.find(([one]) => one === id) ?? [];
  return { value: by === 'name' ? name : createdAt, id };
}

export const sortedListCases = Object.entries(lists).flatMap(([noun, list]) =>
  casesOf(noun, {
    'are listed by name and by creation, in both directions, from every place': async (storage) => {
      await list.fill(storage);
      for (const by of ['name', 'created'] as const) {
        for (const descending of [false, true]) {
          const sorted = by === 'name' ? byName : byCreation;
          const expected = descending ? sorted.toReversed() : sorted;
          const page = { by, descending, limit: 10 };
          assertSame(await list.page(storage, { ...page, after: null }), expected);
          assertSame(await list.page(storage, { ...page, after: null, limit: 2 }), expected.slice(0, 2));
          for (const [index, id] of expected.entries())
            assertSame(
              await list.page(storage, { ...page, after: placeOf(by, id) }),
              expected.slice(index + 1),
            );
        }
      }
    },

    'are found by the beginning of each word of the name, among the first names': async (storage) => {
      await list.fill(storage);
      if (list.named === null) return;
      const all = { searched: 10, limit: 10 };
      for (const [words, expected] of [
        ['rapid', ['a', 'b']],
        ['13', ['a', 'b']],
        ['sevis ra', ['a', 'b']],
        ['é', ['d']],
        ['apid', []],
        ['sevis 13', []],
        ['%', []],
        ['_', []],
      ] as const)
        assertSame(await list.named(storage, { ...all, words }), expected);
      assertSame(await list.named(storage, { ...all, words: 'rapid', limit: 1 }), ['a']);
      assertSame(await list.named(storage, { ...all, words: 'rapid', searched: 2 }), ['a']);
    },

    'are counted up to a limit': async (storage) => {
      assert.equal(await list.count(storage, 10), 0);
      await list.fill(storage);
      assert.equal(await list.count(storage, 10), 4);
      assert.equal(await list.count(storage, 3), 3);
    },
  }),
);
