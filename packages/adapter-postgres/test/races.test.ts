import { createHash } from 'node:crypto';
import type { GrantRecord, Storage } from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { holding, untilWaiting } from './locks.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';

// Each test stops one call in the middle of its transaction, by a lock, and has another one arrive there.

let server: TestServer;
let pool: Pool;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
  pool = hostPool(server.url);
});

afterAll(async () => {
  await pool.end();
  await server.remove();
});

const digestOf = (text: string) => createHash('sha256').update(text).digest();

const shop = {
  clientId: 'shop',
  name: 'Shop',
  secrets: [],
  redirectUris: [],
  allowedScopes: ['openid'],
  requirePkce: true,
  requireSecret: false,
  firstParty: false,
  idTokenAlg: 'RS256',
  partner: 'acme',
  createdAt: 1,
  updatedAt: 1,
  disabledAt: null,
  version: 1,
} as const;
const partner = {
  slug: 'acme',
  name: 'Acme',
  createdAt: 1,
  updatedAt: 1,
  disabledAt: null,
  version: 1,
};
const disabled = { ...shop, version: 2, disabledAt: 5 };
const consent = { sub: 'user', clientId: 'shop', scopes: ['openid'], now: 1 };

function grant(label: string): GrantRecord {
  return {
    codeDigest: digestOf(label),
    clientId: 'shop',
    sub: 'user',
    scopes: ['openid'],
    redirectUri: 'https://shop.example/callback',
    codeChallenge: null,
    nonce: null,
    authenticatedAt: 1,
    issuedAt: 1,
    expiresAt: 1000,
  };
}

/** A client, and a user who consented and has one grant. */
async function prepared(): Promise<{ readonly schema: string; readonly storage: Storage }> {
  const schema = nextSchema();
  const storage = postgresStorage({ pool, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  await storage.partners.insert(partner);
  await storage.clients.insert(shop);
  await storage.consents.remember(consent);
  await storage.grants.issue(grant('earlier'));
  return { schema, storage };
}

/** Ways in which what was issued ends; each keeps more from being issued, and then revokes grants. */
const endings: { readonly [name: string]: (storage: Storage) => Promise<unknown> } = {
  'the client is disabled': ({ clients }) => clients.replace(disabled),
  'the partner of the client is disabled': ({ partners }) =>
    partners.replace({ ...partner, version: 2, updatedAt: 5, disabledAt: 5 }),
  'the consent is revoked': ({ consents }) => consents.revoke('user', 'shop', 5),
  'the user ends': ({ consents }) => consents.endUser('user', 5),
};

for (const [name, end] of Object.entries(endings)) {
  test(`while ${name}, nothing is issued any more`, async () => {
    const { schema, storage } = await prepared();
    const holder = await holding(server.url, `SELECT FROM "${schema}".grants FOR UPDATE`);
    const ending = end(storage);
    await untilWaiting(pool, schema);
    const issuing = storage.grants.issue(grant('late'));
    await untilWaiting(pool, schema, 2);
    await holder.query('ROLLBACK');
    await ending;
    expect(await issuing).toBe(false);
    expect(await storage.grants.find(digestOf('late'))).toBeNull();
  });

  test(`what is just being issued when ${name} is revoked with the rest`, async () => {
    const { schema, storage } = await prepared();
    const holder = await holding(
      server.url,
      `INSERT INTO "${schema}".grants
         (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at)
       VALUES ($1, 'other', 'other', '{}', '', 1, 1, 1, 1)`,
      [digestOf('late')],
    );
    const issuing = storage.grants.issue(grant('late'));
    await untilWaiting(pool, schema);
    const ending = end(storage);
    await untilWaiting(pool, schema, 2);
    await holder.query('ROLLBACK');
    expect(await issuing).toBe(true);
    await ending;
    expect(await storage.grants.find(digestOf('late'))).toMatchObject({ revokedAt: 5 });
  });
}

test('a consent that is just being given when the client is disabled is revoked with the rest', async () => {
  const { schema, storage } = await prepared();
  const holder = await holding(
    server.url,
    `INSERT INTO "${schema}".consents (sub, client_id, scopes, granted_at, updated_at)
     VALUES ('new', 'shop', '{}', 1, 1)`,
  );
  const giving = storage.consents.remember({ ...consent, sub: 'new' });
  await untilWaiting(pool, schema);
  const disabling = storage.clients.replace(disabled);
  await untilWaiting(pool, schema, 2);
  await holder.query('ROLLBACK');
  expect(await giving).toBe(true);
  expect(await disabling).toBe(true);
  expect(await storage.consents.find('new', 'shop')).toBeNull();
});

test('a code that is redeemed while another redemption of it commits is replayed, and the token dies', async () => {
  const { schema, storage } = await prepared();
  const redeem = (label: string) =>
    storage.grants.redeem({
      codeDigest: digestOf('earlier'),
      token: { digest: digestOf(label), issuedAt: 1, expiresAt: 1000 },
      maxFailedVerifiers: 5,
      now: 2,
    });
  const holder = await holding(
    server.url,
    `INSERT INTO "${schema}".access_tokens SELECT $1, id, 1, 1 FROM "${schema}".grants`,
    [digestOf('first')],
  );
  const first = redeem('first');
  await untilWaiting(pool, schema);
  const second = redeem('second');
  await untilWaiting(pool, schema, 2);
  await holder.query('ROLLBACK');
  expect(await first).toBe('redeemed');
  expect(await second).toBe('replayed');
  expect(await storage.grants.findToken(digestOf('first'))).toMatchObject({ revoked: true });
  expect(await storage.grants.findToken(digestOf('second'))).toBeNull();
});

test('a claim passes over jobs that somebody else is just claiming', async () => {
  const { schema, storage } = await prepared();
  const jobs = ['a', 'b', 'c'].map((id, index) => ({ id, kind: 'k', payload: {}, dueAt: index }));
  await storage.queue.enqueue(jobs);
  const holder = await holding(server.url, `SELECT FROM "${schema}".jobs WHERE id = 'a' FOR UPDATE`);
  const claim = (claimId: string) =>
    storage.queue.claim({ kinds: ['k'], claimId, now: 9, leaseMs: 9, limit: 2 });
  expect((await claim('one')).map(({ id }) => id)).toEqual(['b', 'c']);
  await holder.query('ROLLBACK');
  expect((await claim('two')).map(({ id }) => id)).toEqual(['a']);
});

test('a purge leaves what somebody else is using for the next time', async () => {
  const { schema, storage } = await prepared();
  for (const label of ['a', 'b']) await storage.interactions.save(digestOf(label), {}, 1);
  const holder = await holding(
    server.url,
    `SELECT FROM "${schema}".interactions WHERE digest = $1 FOR UPDATE`,
    [digestOf('a')],
  );
  const purge = () => storage.purge({ now: 9, before: 0, eventsBefore: 0, limit: 9 });
  expect((await purge()).interactions).toBe(1);
  await holder.query('ROLLBACK');
  expect((await purge()).interactions).toBe(1);
});

test('events are purged by one at a time, and without a gap while others are published', async () => {
  const { storage } = await prepared();
  const event = (index: number) => ({
    id: `evt_${index}`,
    partner: 'acme',
    mode: 'live' as const,
    type: 't',
    body: '{}',
    createdAt: index < 50 ? 1 : 9,
    deliveryId: `dl_${index}`,
  });
  const publish = (index: number) => storage.events.publish([event(index)], { idempotency: null, now: 1 });
  for (let index = 0; index < 50; index += 1) await publish(index);
  const purges = Array.from({ length: 4 }, () =>
    storage.purge({ now: 0, before: 0, eventsBefore: 5, limit: 20 }),
  );
  const [counts] = await Promise.all([
    Promise.all(purges),
    ...Array.from({ length: 10 }, (_, index) => publish(50 + index)),
  ]);
  expect(counts.map(({ events }) => events).reduce((sum, count) => sum + count)).toBe(50);
  const { events } = await storage.events.list({ partner: 'acme', mode: 'live', after: 0, limit: 99 });
  expect(events.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 10 }, (_, index) => 51 + index),
  );
});
