import assert from 'node:assert/strict';
import type { SealedSecret, SealedSecrets, Storage } from '@ostiary/core/storage';
import { issuedKey } from './api-keys.ts';
import { alternating, assertFields, assertSame, casesOf, inParallel } from './case.ts';
import { acme } from './partner-samples.ts';
import { now } from './samples.ts';
import { registered } from './webhook-samples.ts';

/** A store whose rows hold encrypted secrets, and that lists and reseals them in batches. */
interface Kind {
  readonly store: (storage: Storage) => SealedSecrets;
  /** Stores a row with an encrypted secret and returns its id. */
  readonly put: (storage: Storage, label: string, sealed?: string) => Promise<string>;
  /** Returns everything that a row with an encrypted secret contains. */
  readonly read: (storage: Storage, id: string) => Promise<object | null>;
}

const kinds: Readonly<Record<string, Kind>> = {
  'API keys': {
    store: ({ apiKeys }) => apiKeys,
    put: async (storage, label, sealed = `sealed ${label}`) =>
      (await issuedKey(storage, label, { sealedSigningSecret: sealed })).id,
    read: async ({ apiKeys }, id) => await apiKeys.find(id),
  },
  'webhook endpoints': {
    store: ({ webhooks }) => webhooks,
    put: async (storage, label, sealed = `sealed ${label}`) =>
      (await registered(storage, label, { sealedSecret: sealed })).id,
    read: async ({ webhooks }, id) => await webhooks.find(acme, id),
  },
};

/** Makes the same test cases for each store of `kinds`: API keys and webhook endpoints. */
const ofEachKind = (cases: {
  readonly [name: string]: (kind: Kind, storage: Storage) => Promise<void>;
}): Parameters<typeof casesOf>[1] =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, access]) =>
      Object.entries(cases).map(([name, run]) => [`of ${kind}: ${name}`, (storage) => run(access, storage)]),
    ),
  );

/** Lists all encrypted secrets, page by page. */
async function allOf(store: SealedSecrets, limit: number): Promise<SealedSecret[]> {
  const all: SealedSecret[] = [];
  for (let after: string | null = null; ; ) {
    const page = await store.listSealed({ after, limit });
    assert.ok(page.length <= limit, `${page.length} are more than ${limit}`);
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined) return all;
    after = last.id;
  }
}

/** Returns changes that replace each encrypted secret by another text, as a new sealing key would. */
const anew = (secrets: readonly SealedSecret[]) =>
  secrets.map(({ id, sealed }) => ({ id, before: sealed, sealed: `${sealed} anew` }));

export const sealedSecretCases = casesOf('sealed secrets', {
  ...ofEachKind({
    'pages go by id, in code unit order, and leave nothing out': async ({ store, put }, storage) => {
      const labels = ['10', '9', 'B', 'Z', 'a', 'a-', 'b'];
      const expected: SealedSecret[] = [];
      for (const label of labels) expected.push({ id: await put(storage, label), sealed: `sealed ${label}` });
      for (const limit of [1, 3, 7, 100]) assertSame(await allOf(store(storage), limit), expected);
      assertSame(await store(storage).listSealed({ after: '~', limit: 9 }), []);
    },

    'what a row held when it was read is replaced, and nothing else of it': async (kind, storage) => {
      const store = kind.store(storage);
      const ids = [];
      for (const label of ['a', 'b', 'c']) ids.push(await kind.put(storage, label));
      const [a = '', b = '', c = ''] = ids;
      const rows = await Promise.all(ids.map((id) => kind.read(storage, id)));
      const replaced = await store.reseal([
        { id: c, before: 'sealed c', sealed: 'c anew' },
        { id: a, before: 'sealed a', sealed: 'a anew' },
        { id: b, before: 'SEALED b', sealed: 'never' },
        { id: 'nobody', before: 'sealed a', sealed: 'never' },
      ]);
      assert.equal(replaced, 2);
      const secrets = await allOf(store, 10);
      assertSame(secrets, [
        { id: a, sealed: 'a anew' },
        { id: b, sealed: 'sealed b' },
        { id: c, sealed: 'c anew' },
      ]);
      for (const [index, { id, sealed }] of secrets.entries()) {
        const before = JSON.stringify(rows[index]);
        const after = JSON.stringify(await kind.read(storage, id));
        assert.equal(after, before.replace(/"sealed [abc]"/, JSON.stringify(sealed)));
      }
      assert.equal(await store.reseal([]), 0);
    },

    'of parallel calls for the same rows one replaces each, whatever their order': async (kind, storage) => {
      const store = kind.store(storage);
      await inParallel(40, (index) => kind.put(storage, `${index}`));
      const secrets = anew(await store.listSealed({ after: null, limit: 40 }));
      const counts = await inParallel(10, (index) =>
        store.reseal(index % 2 === 0 ? secrets : secrets.toReversed()),
      );
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        40,
      );
      assertSame(
        await allOf(store, 100),
        secrets.map(({ id, sealed }) => ({ id, sealed })),
      );
    },
  }),

  'rows of every partner and mode are there, those that have ended too': async (storage) => {
    await issuedKey(storage, 'acme');
    await issuedKey(storage, 'ended', { partner: 'other', mode: 'test', expiresAt: now - 1 });
    await issuedKey(storage, 'revoked', { revokedAt: now });
    const keys = await storage.apiKeys.listSealed({ after: null, limit: 10 });
    assertFields(keys, 'id', ['key_acme', 'key_ended', 'key_revoked']);
    await registered(storage, 'acme');
    await registered(storage, 'disabled', { enabled: false });
    await registered(storage, 'other', { partner: 'other', mode: 'test' });
    const endpoints = await storage.webhooks.listSealed({ after: null, limit: 10 });
    assertFields(endpoints, 'id', ['we_acme', 'we_disabled', 'we_other']);
  },

  'a webhook secret that was rotated between read and replace stays': async (storage) => {
    const { webhooks } = storage;
    const endpoint = await registered(storage, 'a');
    const gone = await registered(storage, 'b');
    const read = anew(await webhooks.listSealed({ after: null, limit: 10 }));
    const rotated = { ...endpoint, sealedSecret: 'rotated', version: 2 };
    assert.equal(await webhooks.replace(rotated, now), true);
    assert.equal(await webhooks.remove(acme, gone.id, now), true);
    assert.equal(await webhooks.reseal(read), 0);
    assertSame(await webhooks.list(acme), [rotated]);
  },

  'a rotation that meets a replacement wins, and is not refused': async (storage) => {
    const { webhooks } = storage;
    for (let round = 0; round < 20; round += 1) {
      const endpoint = await registered(storage, `${round}`);
      const rotated = { ...endpoint, sealedSecret: `rotated ${round}`, version: 2 };
      const { id, sealedSecret: before } = endpoint;
      const calls = [
        () => webhooks.replace(rotated, now),
        () => webhooks.reseal([{ id, before, sealed: 'sealed anew' }]),
      ];
      const answers = await alternating<unknown>(round, calls);
      assert.ok(answers.includes(true), 'the version is what it was');
      assertSame(await webhooks.find(acme, id), rotated);
    }
  },

  'a key that is revoked or used while its secret is replaced stays so': async (storage) => {
    const { apiKeys } = storage;
    for (let round = 0; round < 20; round += 1) {
      const { id } = await issuedKey(storage, `${round}`, { sealedSigningSecret: 'sealed' });
      const calls = [
        () => apiKeys.reseal([{ id, before: 'sealed', sealed: 'sealed anew' }]),
        () => apiKeys.revoke(id, now + 1),
        () => apiKeys.touch(id, now + 2),
      ];
      await alternating<unknown>(round, calls);
      const key = await apiKeys.find(id);
      assertSame(
        [key?.sealedSigningSecret, key?.revokedAt, key?.lastUsedAt],
        ['sealed anew', now + 1, now + 2],
      );
    }
  },
});
