import { createHash } from 'node:crypto';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { sqliteStorage } from '../src/index.ts';
import { readMigrations } from '../src/migrations.ts';
import { temporaryFile } from './temporary.ts';

test('what a partner has that was disabled before the upgrade ends with it, and acts from before stay outside the chain', async () => {
  const file = temporaryFile();
  const before = new Database({ file, migrations: readMigrations().slice(0, 4) });
  await before.open();
  await before.close();
  const driver = new Driver(file);
  onTestFinished(() => void driver.close());
  driver.exec(`
    INSERT INTO partners VALUES ('off', 'Off', 1, 7, 7, 2), ('on', 'On', 1, 1, NULL, 1);
    INSERT INTO clients (client_id, version, partner, record) VALUES
      ('c-off', 1, 'off', '{"secrets":[]}'), ('c-on', 1, 'on', '{"secrets":[]}'), ('c-none', 1, NULL, '{"secrets":[]}');
    INSERT INTO audit VALUES ('aud_1', 1, 'ana', 'partner.disable', 'partner:off', '{}');
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at) VALUES
      ('evt_off', 'off', 'live', 1, 'x', '', 1), ('evt_on', 'on', 'live', 1, 'x', '', 1);
  `);
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  for (const [index, name] of ['off', 'on', 'none'].entries()) {
    driver
      .prepare(`
        INSERT INTO grants (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at)
        VALUES (?, ?, 'ana', '[]', '', 1, 1, 99, 99)
      `)
      .run(digestOf(name), `c-${name}`);
    driver
      .prepare('INSERT INTO access_tokens (digest, grant_id, issued_at, expires_at) VALUES (?, ?, 1, 99)')
      .run(digestOf(`token of ${name}`), index + 1);
    if (name === 'none') continue;
    driver
      .prepare(`
        INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at, due_at, ready_at)
        VALUES (?, ?, ?, ?, 'live', 'pending', 1, 5, 5)
      `)
      .run(`dl_${name}`, index + 1, `we_${name}`, name);
  }

  const storage = sqliteStorage({ file });
  await storage.open();
  onTestFinished(() => storage.close());
  const revoked = async (name: string) =>
    (await storage.grants.findToken(digestOf(`token of ${name}`)))?.revoked;
  expect([await revoked('off'), await revoked('on'), await revoked('none')]).toEqual([true, false, false]);
  const disabled = async (id: string) => (await storage.clients.find(id))?.partnerDisabled;
  expect([await disabled('c-off'), await disabled('c-on'), await disabled('c-none')]).toEqual([
    true,
    false,
    false,
  ]);
  const statuses = driver.prepare('SELECT id, status, ended_at FROM deliveries ORDER BY id').raw().all();
  expect(statuses).toEqual([
    ['dl_off', 'cancelled', 5],
    ['dl_on', 'pending', null],
  ]);

  expect(await storage.audit.head()).toMatchObject({ number: 0, before: 1, outside: 1 });
  const act = { at: 9, actor: 'ana', action: 'partner.enable', target: 'partner:off', details: {} };
  await storage.audit.append({ id: 'aud_2', ...act, digest: digestOf('an act') });
  expect(await storage.audit.head()).toMatchObject({ number: 1, before: 1, outside: 1 });
  expect((await storage.audit.chain({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['aud_2']);
  expect((await storage.audit.list({ target: null, after: null, limit: 9 })).map(({ id }) => id)).toEqual([
    'aud_2',
    'aud_1',
  ]);
});
