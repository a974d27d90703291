import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../testing/src/contract/samples.ts';
import { expectEnded, rowsFromBefore } from '../../testing/test/adapters/disabled-before.ts';
import { readMigrations } from '../src/migrations.ts';
import { openDatabase, start, temporaryFile } from './temporary.ts';

test('what a partner has that was disabled before the upgrade ends with it, and acts from before stay outside the chain', async () => {
  const file = temporaryFile();
  await start(file, readMigrations().slice(0, 4));
  const driver = new Driver(file);
  onTestFinished(() => void driver.close());
  driver.function('digest_of', (label) => digestOf(String(label)));
  driver.exec(`
    INSERT INTO partners VALUES ${rowsFromBefore.partners};
    INSERT INTO clients (client_id, version, partner, record) VALUES ${rowsFromBefore.clients};
    INSERT INTO audit VALUES ${rowsFromBefore.audit};
    INSERT INTO grants (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at)
    SELECT digest_of(client_id), client_id, 'ana', '[]', '', 1, 1, 99, 99 FROM clients;
    INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at)
    SELECT digest_of('token of ' || substr(client_id, 3)), id, 1, 99 FROM grants;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
    SELECT 'evt_' || slug, slug, 'live', 1, 'x', '', 1 FROM partners;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at, due_at, ready_at)
    SELECT 'dl_' || partner, number, 'we_' || partner, partner, mode, 'pending', 1, 5, 5 FROM events;
  `);
  const { storage } = await openDatabase(file);
  await expectEnded(storage);
  expect(driver.prepare('SELECT ended_at FROM deliveries ORDER BY id').pluck().all()).toEqual([5, null]);
});
