import assert from 'node:assert/strict';
import type { ClientRecord, Storage } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { hour, minute, now, sampleClient, sampleGrant } from './samples.ts';

const idOf = (name: string): string => `https://${name}.example/client.json`;

/** Makes a client whose metadata document contains this name. */
function documentClient(name: string, changes: Partial<ClientRecord> = {}): ClientRecord {
  return sampleClient({
    clientId: idOf(name),
    name: `${name}.example`,
    secrets: [],
    redirectUris: [`https://${name}.example/callback`, 'http://127.0.0.1/callback'],
    loopbackPorts: 'any',
    document: { claimedName: 'A “name”', freshUntil: now + hour },
    ...changes,
  });
}

/** Stores clients with metadata documents, each used a minute after the previous one. */
async function storeAll({ clientDocuments }: Storage, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const request = { now: now + index * minute, limit: 100 };
    assert.equal(await clientDocuments.insert(documentClient(name), request), 'stored');
  }
}

/** Lists the names of the stored clients with metadata documents. */
async function namesIn({ clientDocuments }: Storage): Promise<string[]> {
  const stored = await clientDocuments.list({ after: null, limit: 100 });
  return stored.map(({ name }) => name.replace('.example', ''));
}

/** Stores a consent for a client and a code that has not been exchanged. */
async function authorize({ consents, grants }: Storage, name: string): Promise<void> {
  const [clientId, scopes] = [idOf(name), ['openid', 'profile']];
  assert.equal(await consents.remember({ sub: 'user-1', clientId, scopes, now }), true);
  assert.equal(await grants.issue(sampleGrant(name, { clientId })), true);
}

export const clientDocumentCases = casesOf('clients with metadata documents', {
  'a client is found as it was stored, and replaced like every other': async ({
    clients,
    clientDocuments,
  }) => {
    const client = documentClient('app');
    assert.equal(await clientDocuments.insert(client, { now, limit: 10 }), 'stored');
    assertSame(await clients.find(client.clientId), { ...client, partnerDisabled: false });
    const next = { ...client, redirectUris: ['https://app.example/other'], version: 2 };
    assert.equal(await clients.replace(next), true);
    assertSame(await clients.find(client.clientId), { ...next, partnerDisabled: false });
    assert.equal(await clients.originRegistered('https://app.example'), true);
    assert.equal(await clients.originRegistered('http://127.0.0.1:*'), false);
  },

  'its list has no other clients, and the list of clients has none of them': async ({
    clients,
    clientDocuments,
  }) => {
    await clients.insert(sampleClient());
    for (const name of ['b', 'a', 'c'])
      await clientDocuments.insert(documentClient(name), { now, limit: 10 });
    const ids = async (after: string | null, limit: number) =>
      (await clientDocuments.list({ after, limit })).map(({ clientId }) => clientId);
    assertSame(await ids(null, 10), [idOf('a'), idOf('b'), idOf('c')]);
    assertSame(await ids(idOf('a'), 1), [idOf('b')]);
    const back = async (after: string | null, limit: number) =>
      (await clientDocuments.list({ after, descending: true, limit })).map(({ clientId }) => clientId);
    assertSame(await back(null, 2), [idOf('c'), idOf('b')]);
    assertSame(await back(idOf('c'), 10), [idOf('b'), idOf('a')]);
    assertSame(await back(idOf('a'), 10), []);
    assert.equal(await clientDocuments.count(), 3);
    const provisioned = await clients.list({ after: null, limit: 10 });
    assertSame(
      provisioned.map(({ clientId }) => clientId),
      ['client-1'],
    );
  },

  'an id is taken once, by one of several callers': async (storage) => {
    const client = documentClient('app');
    const outcomes = await inParallel(8, () => storage.clientDocuments.insert(client, { now, limit: 10 }));
    assertSame(countAnswers(outcomes), { stored: 1, exists: 7 });
    assertSame(await namesIn(storage), ['app']);
  },

  'the one that was not used for the longest time makes room': async (storage) => {
    await storeAll(storage, ['first', 'second', 'third']);
    const { clientDocuments } = storage;
    await clientDocuments.use(idOf('first'), now + 2 * hour);
    const later = { now: now + 3 * hour, limit: 3 };
    assert.equal(await clientDocuments.insert(documentClient('fourth'), later), 'stored');
    assertSame(await namesIn(storage), ['first', 'fourth', 'third']);
    assert.equal(await storage.clients.find(idOf('second')), null);
  },

  'one that has a grant or is disabled never makes room': async (storage) => {
    const { clients, clientDocuments } = storage;
    await storeAll(storage, ['granted', 'blocked']);
    await authorize(storage, 'granted');
    assert.equal(await clients.replace(documentClient('blocked', { disabledAt: now, version: 2 })), true);
    const full = { now: now + hour, limit: 2 };
    assert.equal(await clientDocuments.insert(documentClient('late'), full), 'full');
    assertSame(await namesIn(storage), ['blocked', 'granted']);
    assert.equal(await clientDocuments.insert(documentClient('late'), { ...full, limit: 3 }), 'stored');
  },

  'a limit that was lowered is kept from the next insertion on': async (storage) => {
    await storeAll(storage, ['a', 'b', 'c', 'd']);
    const request = { now: now + hour, limit: 2 };
    assert.equal(await storage.clientDocuments.insert(documentClient('e'), request), 'stored');
    assertSame(await namesIn(storage), ['d', 'e']);
  },

  'a use is recorded after an hour': async (storage) => {
    await storeAll(storage, ['app']);
    const { clientDocuments } = storage;
    await clientDocuments.use(idOf('app'), now + hour - 1);
    assert.equal(await clientDocuments.purge(now + 1, 10), 1, 'too early');
    await storeAll(storage, ['app']);
    await clientDocuments.use(idOf('app'), now + hour);
    assert.equal(await clientDocuments.purge(now + hour, 10), 0);
    await clientDocuments.use(idOf('unknown'), now + hour);
    assertSame(await namesIn(storage), ['app']);
    assert.equal(await clientDocuments.purge(now + hour + 1, 10), 1);
  },

  'a purge removes unused ones with their consents, the longest unused first': async (storage) => {
    await storeAll(storage, ['a', 'b', 'c']);
    const { clients, clientDocuments, consents } = storage;
    await clients.insert(sampleClient());
    const consent = { sub: 'user-1', scopes: ['openid'], now };
    await consents.remember({ ...consent, clientId: idOf('a') });
    await consents.remember({ ...consent, clientId: idOf('b') });
    await consents.revoke('user-1', idOf('b'), now);
    await consents.remember({ ...consent, clientId: 'client-1' });
    assert.equal(await clientDocuments.purge(now + 2 * minute, 1), 1);
    assertSame(await namesIn(storage), ['b', 'c']);
    assert.equal(await clientDocuments.purge(now + 2 * minute, 10), 1);
    assertSame(await namesIn(storage), ['c'], 'one that was used at the very time stays');
    const left = await consents.list('user-1');
    assertSame(
      left.map(({ clientId }) => clientId),
      ['client-1'],
    );
    assert.equal(await clients.originRegistered('https://a.example'), false);
  },

  'a purge leaves a client with a grant, until the grant is gone': async (storage) => {
    await storeAll(storage, ['app']);
    await authorize(storage, 'app');
    const { clientDocuments } = storage;
    assert.equal(await clientDocuments.purge(now + hour, 10), 0);
    const end = now + 20 * minute;
    await storage.purge({ now: end, before: end, eventsBefore: now, limit: 10 });
    assert.equal(await clientDocuments.purge(now + hour, 10), 1);
    assertSame(await storage.consents.list('user-1'), []);
  },

  'a grant and a purge that race leave no grant without its client': async (storage) => {
    for (let round = 0; round < 10; round += 1) {
      const name = `race-${round}`;
      await storeAll(storage, [name]);
      const clientId = idOf(name);
      await storage.consents.remember({ sub: 'user-1', clientId, scopes: ['openid', 'profile'], now });
      const issued = storage.grants.issue(sampleGrant(name, { clientId }));
      const purged = storage.clientDocuments.purge(now + hour, 1);
      assert.equal((await storage.clients.find(clientId)) !== null || !(await issued), true);
      assertSame([await issued, await purged].filter(Boolean).length, 1, 'one of both');
      assert.equal((await storage.clients.find(clientId)) !== null, await issued);
    }
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const clientDocumentCalls: Calls<'clientDocuments'> = {
  insert: ({ clientDocuments }) => clientDocuments.insert(documentClient('app'), { now, limit: 1 }),
  use: ({ clientDocuments }) => clientDocuments.use(idOf('app'), now),
  count: ({ clientDocuments }) => clientDocuments.count(),
  list: ({ clientDocuments }) => clientDocuments.list({ after: null, limit: 1 }),
  purge: ({ clientDocuments }) => clientDocuments.purge(now, 1),
};
