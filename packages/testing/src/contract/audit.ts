import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { AuditFilter, AuditRecord, ListPosition, Storage, StoredAct } from '@ostiary/core/storage';
import { auditedCalls, withKey } from './audited-calls.ts';
import { assertFields, assertSame, assertUnavailable, type Calls, casesOf, inParallel } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { digestOf, isLive, now, redeemed, sampleClient } from './samples.ts';

export function sampleAct(id: string, changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    ...{ id, at: now, actor: 'ana', role: null, action: 'client.create', target: 'client:a', details: {} },
    digest: digestOf(`act ${id}`),
    ...changes,
  };
}

/** Computes the chain values of sample audit acts with the given ids. */
function chainOf(labels: readonly string[]): Uint8Array[] {
  let last: Uint8Array = new Uint8Array(32);
  return labels.map((id) => {
    last = createHash('sha256').update(last).update(sampleAct(id).digest).digest();
    return last;
  });
}

const everyAct: AuditFilter = { target: null, actor: null, action: null, from: null };

async function ids({ audit }: Storage, filter: Partial<AuditFilter> = {}): Promise<string[]> {
  const acts = await audit.list({ ...everyAct, ...filter, after: null, limit: 100 });
  return acts.map(({ id }) => id);
}

const positionOf = ({ at, id }: Pick<StoredAct, 'at' | 'id'>): ListPosition => ({ time: at, id });

export const auditCases = casesOf('audit', {
  'acts are read back as they were appended, newest first': async (storage) => {
    const sorted = [
      sampleAct('b', { at: now + 1 }),
      sampleAct('a', {
        at: now + 1,
        actor: 'Ti “Biznis” 🗝️',
        role: 'admin',
        details: { scopes: ['a'], at: null, n: 1 },
      }),
      sampleAct('d'),
      sampleAct('c', { target: 'client:b' }),
    ];
    for (const act of sorted.toReversed()) await storage.audit.append(act);
    const shown = sorted.map(({ digest: _, ...act }) => act);
    assertSame(await storage.audit.list({ ...everyAct, after: null, limit: 10 }), shown);
    assertSame(await ids(storage, { target: 'client:b' }), ['c']);
    assertSame(await ids(storage, { target: 'client:' }), []);
    for (const [index, act] of shown.entries()) {
      const after = positionOf(act);
      assertSame(
        await storage.audit.list({ ...everyAct, after, limit: 1 }),
        shown.slice(index + 1, index + 2),
      );
      const ofTarget = { ...everyAct, target: 'client:b', after, limit: 10 };
      assertSame(await storage.audit.list(ofTarget), shown.slice(Math.max(3, index + 1)));
    }
  },

  'acts are listed in both directions up to a time, without some kinds, and counted': async ({ audit }) => {
    const acts = [
      sampleAct('b', { at: now - 1, action: 'staff.sign_in' }),
      sampleAct('a'),
      sampleAct('c'),
      sampleAct('d', { at: now + 1, actor: 'ben' }),
    ];
    for (const act of acts) await audit.append(act);
    for (const [filter, expected] of [
      [{}, ['b', 'a', 'c', 'd']],
      [{ until: now }, ['b', 'a', 'c']],
      [{ until: now - 2 }, []],
      [{ except: ['staff.sign_in', 'x.y'] }, ['a', 'c', 'd']],
      [{ actor: 'ana', from: now, until: now + 1, except: [] }, ['a', 'c']],
    ] as const) {
      const given = { ...everyAct, ...filter };
      for (const oldestFirst of [false, true]) {
        const sorted = oldestFirst ? expected : expected.toReversed();
        const list = (after: ListPosition | null) => audit.list({ ...given, oldestFirst, after, limit: 10 });
        assertFields(await list(null), 'id', sorted);
        for (const [index, id] of sorted.entries()) {
          const at = acts.find((act) => act.id === id)?.at ?? 0;
          assertFields(await list({ time: at, id }), 'id', sorted.slice(index + 1));
        }
      }
      assert.equal(await audit.count(given, 10), expected.length);
      assert.equal(await audit.count(given, 1), Math.min(1, expected.length));
    }
  },

  'a list is narrowed by target, actor, action and the earliest time, each alone and all together': async (
    storage,
  ) => {
    const fields = { target: 'client:b', actor: 'ben', action: 'client.disable', from: now } as const;
    const names = ['target', 'actor', 'action', 'from'] as const;
    // One act for each combination of fields that match the filter: bit `index` of the number stands for
    // `names[index]`.
    for (let number = 0; number < 16; number += 1) {
      const has = (name: (typeof names)[number]) => (number >> names.indexOf(name)) % 2 === 1;
      const { target, actor, action } = sampleAct('');
      await storage.audit.append(
        sampleAct(`${number}`, {
          target: has('target') ? fields.target : target,
          actor: has('actor') ? fields.actor : actor,
          action: has('action') ? fields.action : action,
          at: has('from') ? now : now - 1,
        }),
      );
    }
    for (let number = 0; number < 16; number += 1) {
      const given = names.filter((_, index) => (number >> index) % 2 === 1);
      const filter = Object.fromEntries(given.map((name) => [name, fields[name]]));
      const expected = Array.from({ length: 16 }, (_, act) => act).filter((act) => (act & number) === number);
      assertSame(new Set(await ids(storage, filter)), new Set(expected.map(String)), `filter ${given}`);
    }
  },

  ...Object.fromEntries(
    Object.entries(auditedCalls).map(([call, { prepare, act, refused = act }]) => [
      `${call} stores its record with its change, and none where nothing changes`,
      async (storage: Storage) => {
        await prepare?.(storage);
        await storage.audit.append(sampleAct('taken'));
        await assertUnavailable(() => act(storage, sampleAct('taken')));
        // If the change had been made without its record, this second call would change nothing.
        await act(storage, sampleAct('done'));
        assertSame(await ids(storage), ['taken', 'done']);
        await refused?.(storage, sampleAct('refused'));
        assertSame(await ids(storage), ['taken', 'done']);
      },
    ]),
  ),

  'a change that could be made twice is not made without its record': async (storage) => {
    await storage.audit.append(sampleAct('taken'));
    const taken = sampleAct('taken');
    const { token } = await redeemed(storage, 'a');
    const notice = { id: 'notice', kind: 'notice', payload: {}, dueAt: now };
    await assertUnavailable(() => storage.consents.endUser('user-1', now, [notice], taken));
    assertSame(await storage.queue.claim({ kinds: ['notice'], claimId: 'c', now, leaseMs: 1, limit: 9 }), []);
    assert.equal(await isLive(storage, token), true);
    await withKey(storage);
    await assertUnavailable(() => storage.apiKeys.revoke('key_a', now, taken));
    assert.equal((await storage.apiKeys.find('key_a'))?.revokedAt, null);
  },

  'every act takes the next place in the chain, with its change and not without': async (storage) => {
    const { audit } = storage;
    const zero = new Uint8Array(32);
    assertSame(await audit.head(), { number: 0, chain: zero, before: 0, outside: 0 });
    assertSame(await audit.chain({ after: 0, limit: 10 }), []);
    await audit.append(sampleAct('a', { details: { n: [1, { deep: null }] } }));
    await storage.partners.insert(samplePartner(), sampleAct('b', { at: now - 5 }));
    await storage.partners.insert(samplePartner(), sampleAct('refused'));
    await assertUnavailable(() => audit.append(sampleAct('a', { actor: 'intruder' })));
    await storage.clients.insert(sampleClient(), sampleAct('c'));

    const acts = await audit.chain({ after: 0, limit: 10 });
    assertFields(acts, 'id', ['a', 'b', 'c']);
    assertFields(acts, 'number', [1, 2, 3]);
    assertSame([acts[0]?.actor, acts[0]?.details], ['ana', { n: [1, { deep: null }] }]);
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

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const auditCalls: Calls<'audit'> = {
  count: ({ audit }) => audit.count(everyAct, 1),
  append: ({ audit }) => audit.append(sampleAct('a')),
  head: ({ audit }) => audit.head(),
  chain: ({ audit }) => audit.chain({ after: 0, limit: 1 }),
  list: ({ audit }) => audit.list({ ...everyAct, after: null, limit: 1 }),
};
