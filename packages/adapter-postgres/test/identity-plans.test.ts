import type { Storage } from '@ostiary/core/storage';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';
import { watchedPool } from './watched-pool.ts';

const count = 20_000;

/** Statements that fill the tables of a schema. */
const rowsIn = (schema: string): string => `
  SET search_path TO "${schema}";
  INSERT INTO partners SELECT 'p' || i, 'p', 1, 1, NULL, 1 FROM generate_series(1, 500) AS i;
  INSERT INTO clients SELECT 'c' || i, 1, NULL, 'p' || i % 500, '{"secrets":[]}' FROM generate_series(1, 2000) AS i;
  INSERT INTO client_origins SELECT 'https://o' || i, 'c' || i FROM generate_series(1, 2000) AS i;
  INSERT INTO api_keys
    SELECT 'key_' || i, 'p' || i % 500 + 1, 'live', 'n', sha256(('key ' || i)::bytea), '{webhooks}', NULL, false, 's',
      'q', i, NULL, NULL, NULL
    FROM generate_series(1, 2000) AS i;
  INSERT INTO consents (sub, client_id, scopes, granted_at, updated_at)
    SELECT 'u' || i / 3, 'c' || 1 + i % 2000, '{openid,kyc}', 1, i FROM generate_series(1, ${count}) AS i;
  INSERT INTO grants
      (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at, consumed_at)
    SELECT sha256(i::text::bytea), 'c' || 1 + i % 2000, 'u' || i / 3, '{openid}', '', 1, i, i + 600, i + 3600, i
    FROM generate_series(1, ${count}) AS i;
  INSERT INTO access_tokens SELECT sha256(('t' || id)::bytea), id, issued_at, ends_at FROM grants;
  INSERT INTO interactions SELECT sha256(i::text::bytea), '{}', i FROM generate_series(1, ${count}) AS i;
  INSERT INTO jobs (id, kind, payload, due_at)
    SELECT 'j' || i, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END, '{}', i FROM generate_series(1, ${count}) AS i;
  INSERT INTO idempotency_records
    SELECT 'p', 'live', i::text, sha256('f'), 200, '', i FROM generate_series(1, ${count}) AS i;
  INSERT INTO rate_limits SELECT 'b' || i, 1, 1, i FROM generate_series(1, ${count}) AS i ON CONFLICT DO NOTHING;
`;

let server: TestServer;
let storage: Storage;
let watched: ReturnType<typeof watchedPool>;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
  watched = watchedPool(server.url);
  const schema = nextSchema();
  storage = postgresStorage({ pool: watched.pool, schema });
  await storage.open();
  await watched.own.query(`${rowsIn(schema)} ANALYZE`);
  watched.ran();
});

afterAll(async () => {
  await storage.close();
  await watched.end();
  await server.remove();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Tables that a call reads from their beginning to their end. */
async function scansOf(call: (storage: Storage) => Promise<unknown>): Promise<string[]> {
  await call(storage);
  const scans: string[] = [];
  const visit = (node: PlanNode) => {
    if (node['Node Type'] === 'Seq Scan') scans.push(String(node['Relation Name']));
    node.Plans?.forEach(visit);
  };
  for (const { text, values } of watched.ran()) {
    if (/^\s*(BEGIN|COMMIT|ROLLBACK|LOCK)/.test(text)) continue;
    const { rows } = await watched.own.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
    visit(rows[0]['QUERY PLAN'][0].Plan);
  }
  return scans;
}

const digest = Buffer.alloc(32, 7);
const grant = {
  codeDigest: digest,
  clientId: 'c8',
  sub: 'u2',
  scopes: ['openid'],
  redirectUri: '',
  codeChallenge: null,
  nonce: null,
  authenticatedAt: 1,
  issuedAt: 1,
  expiresAt: 1,
};
const token = { digest, issuedAt: 1, expiresAt: 9 };
const lookedUp: { readonly [name: string]: (storage: Storage) => Promise<unknown> } = {
  'clients.find': ({ clients }) => clients.find('c7'),
  'clients.list': ({ clients }) => clients.list({ after: 'c7', limit: 10 }),
  'clients.originRegistered': ({ clients }) => clients.originRegistered('https://o7'),
  'grants.issue': ({ grants }) => grants.issue(grant),
  'grants.find': ({ grants }) => grants.find(digest),
  'grants.redeem': ({ grants }) =>
    grants.redeem({ codeDigest: digest, token, maxFailedVerifiers: 5, now: 0 }),
  'grants.recordFailedVerifier': ({ grants }) => grants.recordFailedVerifier(digest),
  'grants.revoke': ({ grants }) => grants.revoke(digest, 1),
  'grants.findToken': ({ grants }) => grants.findToken(digest),
  'grants.revokeToken': ({ grants }) => grants.revokeToken(digest, 1),
  'consents.find': ({ consents }) => consents.find('u7', 'c7'),
  'consents.list': ({ consents }) => consents.list('u7'),
  'consents.remember': ({ consents }) =>
    consents.remember({ sub: 'u7', clientId: 'c7', scopes: ['kyc'], now: 1 }),
  'consents.revoke': ({ consents }) => consents.revoke('u7', 'c7', 1),
  'consents.partnerHolds': ({ consents }) =>
    consents.partnerHolds({ partner: 'p7', sub: 'u9', scope: 'kyc' }),
  'consents.endUser': ({ consents }) => consents.endUser('u8', 1),
  'interactions.save': ({ interactions }) => interactions.save(digest, {}, 1),
  'interactions.count': ({ interactions }) => interactions.count(count - 1),
  'interactions.extend': ({ interactions }) => interactions.extend(digest, 1),
  'interactions.find': ({ interactions }) => interactions.find(digest, 1),
  'interactions.remove': ({ interactions }) => interactions.remove(digest),
  'partners.find': ({ partners }) => partners.find('p7'),
  'partners.list': ({ partners }) => partners.list({ after: 'p7', limit: 10 }),
  'apiKeys.findByDigest': ({ apiKeys }) => apiKeys.findByDigest(digest),
  'apiKeys.isLive': ({ apiKeys }) => apiKeys.isLive('key_7', 1),
  'apiKeys.list': ({ apiKeys }) => apiKeys.list('p7'),
  'apiKeys.touch': ({ apiKeys }) => apiKeys.touch('key_7', 1),
  'apiKeys.listSealed': ({ apiKeys }) => apiKeys.listSealed({ after: 'key_7', limit: 10 }),
  'apiKeys.reseal': ({ apiKeys }) => apiKeys.reseal([{ id: 'key_7', before: 's', sealed: 'sealed anew' }]),
  'queue.claim': ({ queue }) =>
    queue.claim({ kinds: ['even', 'odd'], claimId: 'c', now: count, leaseMs: 1, limit: 20 }),
  'queue.complete': ({ queue }) => queue.complete({ id: 'j7', claimId: 'c' }),
  'rateLimits.consume': ({ rateLimits }) =>
    rateLimits?.consume({ bucket: 'b7', limit: 9, windowMs: 9, now: 1 }) ?? Promise.reject(),
  'rateLimits.consumeOfKey': ({ rateLimits }) =>
    rateLimits?.consumeOfKey('key_7', { bucket: 'b7', limit: 9, windowMs: 9, now: 1 }) ?? Promise.reject(),
  'rateLimits.peek': ({ rateLimits }) =>
    rateLimits?.peek({ bucket: 'b7', limit: 9, windowMs: 9, now: 1 }) ?? Promise.reject(),
  purge: (all) => all.purge({ now: 9, before: 9, eventsBefore: 9, limit: 10 }),
};

for (const [name, call] of Object.entries(lookedUp)) {
  test(`${name} reads no table of ${count} rows from its beginning to its end`, async () => {
    const scans = await scansOf(call);
    // These are empty here.
    const empty = ['event_sequences', 'events', 'deliveries', 'delivery_attempts'];
    expect(scans.filter((table) => !empty.includes(table))).toEqual([]);
  });
}

test('what was prepared while there was nothing reads no table of many rows from its beginning to its end', async () => {
  const single = hostPool(server.url);
  single.options.max = 1;
  onTestFinished(() => single.end());
  const schema = nextSchema();
  const young = postgresStorage({ pool: single, schema });
  await young.open();
  // More often than PostgreSQL plans for the values at hand before it keeps a plan for all.
  for (let time = 0; time < 8; time += 1) for (const call of Object.values(lookedUp)) await call(young);
  const { rows: kept } = await single.query('SELECT sum(generic_plans) AS plans FROM pg_prepared_statements');
  expect(Number(kept[0].plans)).toBeGreaterThan(20);
  await single.query(rowsIn(schema));
  const rowsRead = async (): Promise<number> => {
    await single.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await single.query(
      'SELECT sum(seq_tup_read) AS count FROM pg_stat_user_tables WHERE schemaname = $1',
      [schema],
    );
    return Number(rows[0].count);
  };
  const before = await rowsRead();
  for (const call of Object.values(lookedUp)) await call(young);
  expect((await rowsRead()) - before).toBeLessThan(1_000);
  await young.close();
});
