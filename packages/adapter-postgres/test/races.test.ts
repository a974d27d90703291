import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { samplePartner } from '../../testing/src/contract/partner-samples.ts';
import {
  digestOf,
  isLive,
  issued,
  now,
  redeem,
  sampleClient,
  sampleGrant,
  sampleToken,
} from '../../testing/src/contract/samples.ts';
import { type Stage, serverForTests } from './server.ts';

// Each test stops one call in the middle of its transaction, by a lock, and lets another call arrive there.

const server = serverForTests({ onlyRows: true });
const late = sampleGrant('late');
const disabled = sampleClient({ partner: 'acme', version: 2, disabledAt: now });

/** Prepares a client of a partner, and a user with a consent and one grant. */
async function prepared(): Promise<Stage> {
  const stage = await server.opened();
  await stage.storage.partners.insert(samplePartner());
  await stage.storage.clients.insert(sampleClient({ partner: 'acme' }));
  await issued(stage.storage, 'earlier');
  return stage;
}

/** Ways to end access that was issued. Each prevents new tokens, and then revokes grants. */
const endings: { readonly [name: string]: (storage: Storage) => Promise<unknown> } = {
  'the client is disabled': ({ clients }) => clients.replace(disabled),
  'the partner of the client is disabled': ({ partners }) =>
    partners.replace(samplePartner({ version: 2, updatedAt: now, disabledAt: now })),
  'the consent is revoked': ({ consents }) => consents.revoke('user-1', 'client-1', now),
  'the user ends': ({ consents }) => consents.endUser('user-1', now, []),
};

test.each(Object.entries(endings))('while %s, nothing is issued any more', async (_name, end) => {
  const { storage, meeting } = await prepared();
  const [, issuing] = await meeting(
    'SELECT FROM ostiary.grants FOR UPDATE',
    () => end(storage),
    () => storage.grants.issue(late),
  );
  expect(issuing).toBe(false);
  expect(await storage.grants.find(late.codeDigest)).toBeNull();
});

test.each(Object.entries(endings))(
  'what is just being issued when %s is revoked with the rest',
  async (_name, end) => {
    const { storage, meeting } = await prepared();
    const [issuing] = await meeting(
      [
        `INSERT INTO ostiary.grants
           (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at, sid)
         VALUES ($1, 'other', 'other', '{}', '', 1, 1, 1, 1, 's')`,
        [late.codeDigest],
      ],
      () => storage.grants.issue(late),
      () => end(storage),
    );
    expect(issuing).toBe(true);
    expect(await storage.grants.find(late.codeDigest)).toMatchObject({ revokedAt: now });
  },
);

test('a consent that is just being given when the client is disabled is revoked with the rest', async () => {
  const { storage, meeting } = await prepared();
  const [giving, disabling] = await meeting(
    `INSERT INTO ostiary.consents (sub, client_id, scopes, granted_at, updated_at)
     VALUES ('new', 'client-1', '{}', 1, 1)`,
    () => storage.consents.remember({ sub: 'new', clientId: 'client-1', scopes: ['openid'], now }),
    () => storage.clients.replace(disabled),
  );
  expect(giving).toBe(true);
  expect(disabling).toBe(true);
  expect(await storage.consents.find('new', 'client-1')).toBeNull();
});

test('a code that is redeemed while another redemption of it commits is replayed, and the token dies', async () => {
  const { schema, storage, meeting } = await prepared();
  const { storage: another } = await server.opened({ schema });
  const [first, second] = [sampleToken('first'), sampleToken('second')];
  const [winning, losing] = await meeting(
    ['INSERT INTO ostiary.access_tokens SELECT $1, id, 1, 1 FROM ostiary.grants', [first.digest]],
    () => redeem(storage, sampleGrant('earlier'), first),
    () => redeem(another, sampleGrant('earlier'), second),
  );
  expect(winning).toBe('redeemed');
  expect(losing).toBe('replayed');
  expect(await isLive(storage, first)).toBe(false);
  expect(await storage.grants.findToken(second.digest)).toBeNull();
});

test('a claim passes over jobs that somebody else is just claiming', async () => {
  const { storage, holding } = await prepared();
  const jobs = ['a', 'b', 'c'].map((id, index) => ({ id, kind: 'k', payload: {}, dueAt: index }));
  await storage.queue.enqueue(jobs);
  const holder = await holding("SELECT FROM ostiary.jobs WHERE id = 'a' FOR UPDATE");
  const claim = (claimId: string) =>
    storage.queue.claim({ kinds: ['k'], claimId, now: 9, leaseMs: 9, limit: 2 });
  expect((await claim('one')).map(({ id }) => id)).toEqual(['b', 'c']);
  await holder.query('ROLLBACK');
  expect((await claim('two')).map(({ id }) => id)).toEqual(['a']);
});

test('a purge leaves what somebody else is using for the next time', async () => {
  const { storage, holding } = await prepared();
  for (const label of ['a', 'b']) await storage.interactions.save(digestOf(label), {}, 1);
  const holder = await holding('SELECT FROM ostiary.interactions WHERE digest = $1 FOR UPDATE', [
    digestOf('a'),
  ]);
  const purge = () => storage.purge({ now: 9, before: 0, eventsBefore: 0, limit: 9 });
  expect((await purge()).interactions).toBe(1);
  await holder.query('ROLLBACK');
  expect((await purge()).interactions).toBe(1);
});

test('jobs are stored in the order of their ids, so that waiting transactions do not deadlock', async () => {
  const { schema, storage, holding, waiting } = await server.opened();
  const { storage: another } = await server.opened({ schema });
  const job = (id: string) => ({ id, kind: 'k', payload: {}, dueAt: now });
  const holder = await holding(
    "INSERT INTO ostiary.jobs (id, kind, payload, due_at) VALUES ('b', 'k', '{}', 1)",
  );
  const stopped = storage.queue.enqueue([job('c'), job('b')]);
  await waiting(1);
  await another.queue.enqueue([job('c')]);
  await holder.query('ROLLBACK');
  await stopped;
});
