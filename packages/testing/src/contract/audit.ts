import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { AuditRecord, ListPosition, Storage, StoredAct } from '@ostiary/core/storage';
import { assertFields, assertSame, assertUnavailable, type Calls, casesOf, inParallel } from './case.ts';
import { acme, sampleApiKey, samplePartner } from './partner-samples.ts';
import { digestOf, isLive, now, redeemed, sampleClient, sampleKey } from './samples.ts';
import { published, recover, redeliver, registered, sampleEndpoint } from './webhook-samples.ts';

export function sampleAct(id: string, changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    ...{ id, at: now, actor: 'ana', action: 'client.create', target: 'client:a', details: {} },
    digest: digestOf(`act ${id}`),
    ...changes,
  };
}

/** The chain of acts with these ids. */
function chainOf(labels: readonly string[]): Uint8Array[] {
  let last: Uint8Array = new Uint8Array(32);
  return labels.map((id) => {
    last = createHash('sha256').update(last).update(sampleAct(id).digest).digest();
    return last;
  });
}

async function ids({ audit }: Storage, target: string | null = null): Promise<string[]> {
  return (await audit.list({ target, after: null, limit: 100 })).map(({ id }) => id);
}

/** Each call that takes a record: on a storage on which it succeeds, and on which it changes nothing. */
const acts: {
  readonly [call: string]: {
    prepare(storage: Storage): Promise<unknown>;
    act(storage: Storage, audit: AuditRecord): Promise<unknown>;
    /** `null` for a call that always does what it is asked to. */
    readonly refused: ((storage: Storage, audit: AuditRecord) => Promise<unknown>) | null;
  };
} = {
  'partners.insert': {
    prepare: async () => undefined,
    act: ({ partners }, audit) => partners.insert(samplePartner(), audit),
    refused: ({ partners }, audit) => partners.insert(samplePartner(), audit),
  },
  'partners.replace': {
    prepare: ({ partners }) => partners.insert(samplePartner()),
    act: ({ partners }, audit) => partners.replace(samplePartner({ version: 2 }), audit),
    refused: ({ partners }, audit) => partners.replace(samplePartner({ version: 2 }), audit),
  },
  'clients.insert': {
    prepare: async () => undefined,
    act: ({ clients }, audit) => clients.insert(sampleClient(), audit),
    refused: ({ clients }, audit) => clients.insert(sampleClient(), audit),
  },
  'clients.replace': {
    prepare: ({ clients }) => clients.insert(sampleClient()),
    act: ({ clients }, audit) => clients.replace(sampleClient({ version: 2 }), audit),
    refused: ({ clients }, audit) => clients.replace(sampleClient({ version: 2 }), audit),
  },
  'apiKeys.insert': {
    prepare: ({ partners }) => partners.insert(samplePartner()),
    act: ({ apiKeys }, audit) => apiKeys.insert(sampleApiKey('a'), audit),
    refused: ({ apiKeys }, audit) => apiKeys.insert(sampleApiKey('a'), audit),
  },
  'apiKeys.revoke': {
    async prepare({ partners, apiKeys }) {
      await partners.insert(samplePartner());
      await apiKeys.insert(sampleApiKey('a'));
    },
    act: ({ apiKeys }, audit) => apiKeys.revoke('key_a', now, audit),
    refused: ({ apiKeys }, audit) => apiKeys.revoke('key_b', now, audit),
  },
  'apiKeys.roll': {
    async prepare({ partners, apiKeys }) {
      await partners.insert(samplePartner());
      await apiKeys.insert(sampleApiKey('a'));
    },
    act: ({ apiKeys }, audit) =>
      apiKeys.roll({ id: 'key_a', successor: sampleApiKey('b'), endsAt: now + 1, now, audit }),
    refused: ({ apiKeys }, audit) =>
      apiKeys.roll({ id: 'key_x', successor: sampleApiKey('c'), endsAt: now + 1, now, audit }),
  },
  'signingKeys.insert': {
    prepare: async () => undefined,
    act: ({ signingKeys }, audit) => signingKeys.insert(sampleKey('a'), audit),
    refused: null,
  },
  'consents.endUser': {
    prepare: (storage) => redeemed(storage, 'a'),
    act: ({ consents }, audit) => consents.endUser('user-1', now, audit),
    refused: null,
  },
  'webhooks.replace': {
    prepare: (storage) => registered(storage, 'a'),
    act: ({ webhooks }, audit) =>
      webhooks.replace(sampleEndpoint('a', { version: 2, enabled: false }), now, audit),
    refused: ({ webhooks }, audit) => webhooks.replace(sampleEndpoint('a', { version: 2 }), now, audit),
  },
  'webhooks.remove': {
    prepare: (storage) => registered(storage, 'a'),
    act: ({ webhooks }, audit) => webhooks.remove(acme, 'we_a', now, audit),
    refused: ({ webhooks }, audit) => webhooks.remove(acme, 'we_a', now, audit),
  },
  'deliveries.redeliver': {
    async prepare(storage) {
      await registered(storage, 'a');
      await published(storage, 'a');
    },
    act: (storage, audit) => redeliver(storage, 'evt_a', 'again', { audit }),
    refused: (storage, audit) => redeliver(storage, 'evt_x', 'once more', { audit }),
  },
  'deliveries.recover': {
    async prepare(storage) {
      await registered(storage, 'a');
      await published(storage, 'a');
    },
    act: (storage, audit) => recover(storage, 'we_a', 'recovered', { audit }),
    refused: (storage, audit) => recover(storage, 'we_x', 'once more', { audit }),
  },
};

const positionOf = ({ at, id }: Pick<StoredAct, 'at' | 'id'>): ListPosition => ({ time: at, id });

export const auditCases = casesOf('audit', {
  'acts are read back as they were appended, newest first': async (storage) => {
    const sorted = [
      sampleAct('b', { at: now + 1 }),
      sampleAct('a', { at: now + 1, actor: 'Ti “Biznis” 🗝️', details: { scopes: ['a'], at: null, n: 1 } }),
      sampleAct('d'),
      sampleAct('c', { target: 'client:b' }),
    ];
    for (const act of sorted.toReversed()) await storage.audit.append(act);
    const shown = sorted.map(({ digest: _, ...act }) => act);
    assertSame(await storage.audit.list({ target: null, after: null, limit: 10 }), shown);
    assertSame(await ids(storage, 'client:b'), ['c']);
    assertSame(await ids(storage, 'client:'), []);
    const paged: string[] = [];
    for (let after: ListPosition | null = null; ; ) {
      const [next]: StoredAct[] = await storage.audit.list({ target: null, after, limit: 1 });
      if (next === undefined) break;
      paged.push(next.id);
      after = positionOf(next);
    }
    assertSame(paged, ['b', 'a', 'd', 'c']);
    const [, , third, fourth] = shown;
    assertSame(
      await storage.audit.list({ target: 'client:a', after: fourth ? positionOf(fourth) : null, limit: 10 }),
      [],
    );
    assertSame(
      await storage.audit.list({ target: 'client:b', after: third ? positionOf(third) : null, limit: 10 }),
      [fourth],
    );
  },

  'of parallel acts none is lost, and an id is taken once': async (storage) => {
    await inParallel(20, (index) => storage.audit.append(sampleAct(`act ${index}`)));
    assert.equal((await ids(storage)).length, 20);
    await assertUnavailable(() => storage.audit.append(sampleAct('act 1', { actor: 'intruder' })));
    assert.ok(
      (await storage.audit.list({ target: null, after: null, limit: 100 })).every(
        ({ actor }) => actor === 'ana',
      ),
    );
  },

  ...Object.fromEntries(
    Object.entries(acts).map(([call, { prepare, act, refused }]) => [
      `${call} stores its record with its change, and none where nothing changes`,
      async (storage: Storage) => {
        await prepare(storage);
        await act(storage, sampleAct('done'));
        assertSame(await ids(storage), ['done']);
        if (refused === null) return;
        await refused(storage, sampleAct('refused'));
        assertSame(await ids(storage), ['done']);
      },
    ]),
  ),

  'a change whose record cannot be stored is not made': async (storage) => {
    await storage.audit.append(sampleAct('taken'));
    const taken = sampleAct('taken');
    await assertUnavailable(() => storage.partners.insert(samplePartner(), taken));
    assert.equal(await storage.partners.find('acme'), null);
    await assertUnavailable(() => storage.clients.insert(sampleClient(), taken));
    assert.equal(await storage.clients.find('client-1'), null);
    await assertUnavailable(() => storage.signingKeys.insert(sampleKey('a'), taken));
    assertSame(await storage.signingKeys.list(), []);
    const { token } = await redeemed(storage, 'a');
    await assertUnavailable(() => storage.consents.endUser('user-1', now, taken));
    assert.equal(await isLive(storage, token), true);
    await storage.partners.insert(samplePartner());
    await storage.apiKeys.insert(sampleApiKey('a'));
    await assertUnavailable(() => storage.apiKeys.revoke('key_a', now, taken));
    assert.equal((await storage.apiKeys.find('key_a'))?.revokedAt, null);
    await registered(storage, 'a');
    await assertUnavailable(() => storage.webhooks.remove(acme, 'we_a', now, taken));
    assert.notEqual(await storage.webhooks.find(acme, 'we_a'), null);
  },

  'every act takes the next place in the chain, with its change and not without': async (storage) => {
    const { audit } = storage;
    const zero = new Uint8Array(32);
    assertSame(await audit.head(), { number: 0, chain: zero, before: 0, outside: 0 });
    assertSame(await audit.chain({ after: 0, limit: 10 }), []);
    await audit.append(sampleAct('a', { details: { n: [1, { deep: null }] } }));
    await storage.partners.insert(samplePartner(), sampleAct('b', { at: now - 5 }));
    await storage.partners.insert(samplePartner(), sampleAct('refused'));
    await assertUnavailable(() => audit.append(sampleAct('a')));
    await storage.clients.insert(sampleClient(), sampleAct('c'));

    const acts = await audit.chain({ after: 0, limit: 10 });
    assertSame(
      acts.map(({ number, id }) => [number, id]),
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    );
    assertSame(acts[0]?.details, { n: [1, { deep: null }] });
    assertFields(acts, 'chain', chainOf(['a', 'b', 'c']));
    const end = { number: 3, chain: chainOf(['a', 'b', 'c']).at(-1), before: 0, outside: 0 };
    assertSame(await audit.head(), end);
    assertFields(await audit.chain({ after: 1, limit: 1 }), 'id', ['b']);
    assertSame(await audit.chain({ after: 3, limit: 10 }), []);
  },

  'parallel acts of every kind make one chain without a gap': async (storage) => {
    await inParallel<unknown>(12, (index) =>
      index % 2 === 0
        ? storage.audit.append(sampleAct(`${index}`))
        : storage.partners.insert(samplePartner({ slug: `p${index}` }), sampleAct(`${index}`)),
    );
    const acts = await storage.audit.chain({ after: 0, limit: 100 });
    assertFields(
      acts,
      'number',
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    assertFields(acts, 'chain', chainOf(acts.map(({ id }) => id)));
  },

  'a purge leaves what administrators did': async (storage) => {
    await storage.audit.append(sampleAct('old', { at: 0 }));
    await storage.purge({ now: now * 2, before: now * 2, eventsBefore: now * 2, limit: 100 });
    assertSame(await ids(storage), ['old']);
  },
});

/** Each call of this port, as `storage.ts` beside this file tries it. */
export const auditCalls: Calls<'audit'> = {
  append: ({ audit }) => audit.append(sampleAct('a')),
  head: ({ audit }) => audit.head(),
  chain: ({ audit }) => audit.chain({ after: 0, limit: 1 }),
  list: ({ audit }) => audit.list({ target: null, after: null, limit: 1 }),
};
