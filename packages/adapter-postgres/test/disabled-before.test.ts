import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { postgresStorage } from '../src/index.ts';
import { readMigrations } from '../src/migrations.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';

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

test('what a partner has that was disabled before the upgrade ends with it, and acts from before stay outside the chain', async () => {
  const schema = nextSchema();
  const before = new Database({ schema, pool, migrations: readMigrations().slice(0, 4) });
  await before.open();
  await before.close();
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  await client.query(`
    SET search_path TO "${schema}";
    INSERT INTO partners VALUES ('off', 'Off', 1, 7, 7, 2), ('on', 'On', 1, 1, NULL, 1);
    INSERT INTO clients (client_id, version, partner, record) VALUES
      ('c-off', 1, 'off', '{"secrets":[]}'), ('c-on', 1, 'on', '{"secrets":[]}'), ('c-none', 1, NULL, '{"secrets":[]}');
    INSERT INTO grants
      (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at)
    SELECT sha256(convert_to(name, 'UTF8')), 'c-' || name, 'ana', '{}', '', 1, 1, 99, 99
    FROM unnest(ARRAY['off', 'on', 'none']) AS name;
    INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at)
    SELECT sha256(convert_to('token of ' || substr(client_id, 3), 'UTF8')), id, 1, 99 FROM grants;
    INSERT INTO webhook_endpoints
    SELECT 'we_' || slug, slug, 'live', '', '{*}', true, 's', 1, 1, 1 FROM partners;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
    SELECT 'evt_' || slug, slug, 'live', 1, 'x', '', 1 FROM partners;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
    SELECT 'dl_' || partner, number, 'we_' || partner, partner, mode, 'pending', 1 FROM events;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, endpoint_id, event_number, 5 FROM deliveries;
    INSERT INTO audit VALUES ('aud_1', 1, 'ana', 'partner.disable', 'partner:off', '{}');
  `);

  const storage = postgresStorage({ pool, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const revoked = async (name: string) =>
    (await storage.grants.findToken(digestOf(`token of ${name}`)))?.revoked;
  expect([await revoked('off'), await revoked('on'), await revoked('none')]).toEqual([true, false, false]);
  const disabled = async (id: string) => (await storage.clients.find(id))?.partnerDisabled;
  expect([await disabled('c-off'), await disabled('c-on'), await disabled('c-none')]).toEqual([
    true,
    false,
    false,
  ]);
  const { rows } = await client.query('SELECT id, status, ended_at::integer FROM deliveries ORDER BY id');
  expect(rows).toEqual([
    { id: 'dl_off', status: 'cancelled', ended_at: 5 },
    { id: 'dl_on', status: 'pending', ended_at: null },
  ]);
  expect((await client.query('SELECT id FROM pending_deliveries')).rows).toEqual([{ id: 'dl_on' }]);

  expect(await storage.audit.head()).toMatchObject({ number: 0, before: 1, outside: 1 });
  const act = { at: 9, actor: 'ana', action: 'partner.enable', target: 'partner:off', details: {} };
  await storage.audit.append({ id: 'aud_2', ...act, digest: digestOf('an act') });
  expect(await storage.audit.head()).toMatchObject({ number: 1, before: 1, outside: 1 });
  expect((await storage.audit.chain({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['aud_2']);
});
