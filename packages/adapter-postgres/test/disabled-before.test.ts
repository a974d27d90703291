import { expect, onTestFinished, test } from 'vitest';
import { expectEnded, rowsFromBefore } from '../../testing/test/adapters/disabled-before.ts';
import { Database } from '../src/database.ts';
import { readMigrations } from '../src/migrations.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

test('what a partner has that was disabled before the upgrade ends with it, and acts from before stay outside the chain', async () => {
  const schema = server.nextSchema();
  const before = new Database({ schema, pool: server.pool, migrations: readMigrations().slice(0, 4) });
  await before.open();
  await before.close();
  const client = await server.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query(`
    SET search_path TO "${schema}";
    INSERT INTO partners VALUES ${rowsFromBefore.partners};
    INSERT INTO clients (client_id, version, partner, record) VALUES ${rowsFromBefore.clients};
    INSERT INTO audit VALUES ${rowsFromBefore.audit};
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
  `);
  const { storage } = await server.opened({ schema });
  await expectEnded(storage);
  const { rows } = await client.query('SELECT ended_at::integer FROM deliveries ORDER BY id');
  expect(rows).toEqual([{ ended_at: 5 }, { ended_at: null }]);
  expect((await client.query('SELECT id FROM pending_deliveries')).rows).toEqual([{ id: 'dl_on' }]);
});
