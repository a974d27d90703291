import type { NewEvent, Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { acme } from '../../testing/src/contract/partner-samples.ts';
import { sampleEndpoint } from '../../testing/src/contract/webhook-samples.ts';
import { Database } from '../src/database.ts';
import { readMigrations } from '../src/migrations.ts';
import { openDatabase, temporaryFile } from './temporary.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };
const endpoint = sampleEndpoint('1');
const claim = { claimId: 'c', now: 9, leaseMs: 5, limit: 9, room: 9, rooms: new Map() };

function sampleEvent(label: string): NewEvent {
  const deliveryId = `dl_${label}`;
  return { ...acme, id: `evt_${label}`, type: 'payment.completed', body: '{}', createdAt: 5, deliveryId };
}

function published({ events }: Storage, ...labels: string[]) {
  return events.publish(labels.map(sampleEvent), { idempotency: null, now: 5 });
}

test('what was there before webhooks stays as it was, and can be settled with an event', async () => {
  const file = temporaryFile();
  const before = new Database({ file, migrations: readMigrations().slice(0, 2) });
  await before.open();
  await before.write((connection) =>
    connection.exec(`
      INSERT INTO partners (slug, name, created_at, updated_at, version) VALUES ('acme', 'Acme', 1, 1, 1);
      INSERT INTO transfers (
        id, partner, mode, status, amount, currency, recipient_kid, created_at, updated_at
      )
      VALUES ('tr_1', 'acme', 'live', 'pending', 99999999999999999, 'HTG', 'kid-1', 1, 1);
      INSERT INTO jobs (id, kind, payload, due_at) VALUES ('execute tr_1', 'transfer', '{}', 1);
    `),
  );
  await before.close();

  const { storage } = await openDatabase(file);
  expect(await storage.partners.find('acme')).toMatchObject({ name: 'Acme' });
  expect(await storage.webhooks.list(acme)).toEqual([]);
  await storage.webhooks.create({ endpoint, idempotency: null, max: 1, now: 2 });
  const event = sampleEvent('1');
  const settled = await storage.transfers.settle({
    id: 'tr_1',
    status: 'completed',
    failure: null,
    event,
    now: 5,
  });
  expect(settled).toMatchObject({ settled: true, transfer: { amount: 99_999_999_999_999_999n } });
  expect(await storage.deliveries.claim(claim)).toMatchObject([{ id: 'dl_1_1', eventId: 'evt_1' }]);
  expect(await storage.queue.claim({ ...claim, kinds: ['transfer'] })).toHaveLength(1);
});

test('a settlement whose delivery cannot be stored is undone, and takes nobody of its group along', async () => {
  const { storage, all, execute } = await openDatabase();
  await storage.webhooks.create({ endpoint, idempotency: null, max: 1, now: 1 });
  await execute(`
    INSERT INTO transfers (id, partner, mode, status, amount, currency, recipient_kid, created_at, updated_at)
    VALUES
      ('tr_1', 'acme', 'live', 'pending', 1, 'HTG', 'kid-1', 1, 1),
      ('tr_2', 'acme', 'live', 'pending', 1, 'HTG', 'kid-1', 1, 1);
    CREATE TRIGGER full BEFORE INSERT ON deliveries WHEN NEW.id = 'dl_1_1'
    BEGIN SELECT RAISE (ABORT, 'no delivery today'); END
  `);
  const settle = (label: string) =>
    storage.transfers.settle({
      id: `tr_${label}`,
      status: 'completed',
      failure: null,
      event: sampleEvent(label),
      now: 5,
    });
  const answers = await Promise.allSettled([settle('1'), settle('2')]);
  expect(answers).toMatchObject([
    { status: 'rejected', reason: unavailable },
    { status: 'fulfilled', value: { settled: true } },
  ]);
  expect(await all('SELECT id, status FROM transfers ORDER BY id')).toEqual([
    ['tr_1', 'pending'],
    ['tr_2', 'completed'],
  ]);
  expect(await all('SELECT id, sequence FROM events')).toEqual([['evt_2', 1]]);
  expect(await all('SELECT last FROM event_sequences')).toEqual([[1]]);
  expect(await all('SELECT id FROM deliveries')).toEqual([['dl_2_1']]);
});

test('an attempt that cannot be logged leaves its delivery with the worker', async () => {
  const { storage, execute, all } = await openDatabase();
  await storage.webhooks.create({ endpoint, idempotency: null, max: 1, now: 1 });
  await published(storage, '1', '2');
  await storage.deliveries.claim(claim);
  await execute(`
    CREATE TRIGGER full BEFORE INSERT ON delivery_attempts WHEN NEW.delivery_number = 2
    BEGIN SELECT RAISE (ABORT, 'no log today'); END
  `);
  const attempt = { number: 1, at: 5, durationMs: 1, httpStatus: 200, error: null, response: '' };
  const results = ['dl_1_1', 'dl_2_1'].map((id) => ({
    id,
    claimId: 'c',
    attempt,
    next: { status: 'pending', dueAt: 9 } as const,
  }));
  await expect(storage.deliveries.finish(results)).rejects.toMatchObject(unavailable);
  expect(await all('SELECT status, claim_id, attempts FROM deliveries')).toEqual([
    ['pending', 'c', 0],
    ['pending', 'c', 0],
  ]);
  await execute('DROP TRIGGER full');
  expect(await storage.deliveries.finish(results)).toEqual([true, true]);
});

test('the tables refuse what would break the sequence, the log or the outbox', async () => {
  const { storage, execute } = await openDatabase();
  await storage.webhooks.create({ endpoint, idempotency: null, max: 1, now: 1 });
  await published(storage, '1', '2');
  const attempt = { number: 1, at: 5, durationMs: 1, httpStatus: 200, error: null, response: '' };
  await storage.deliveries.claim(claim);
  const next = { status: 'pending', dueAt: 5 } as const;
  await storage.deliveries.finish([{ id: 'dl_1_1', claimId: 'c', attempt, next }]);
  const broken = {
    'UPDATE events SET sequence = 2 WHERE sequence = 1': 'SQLITE_CONSTRAINT_UNIQUE',
    "UPDATE events SET id = 'evt_2' WHERE sequence = 1": 'SQLITE_CONSTRAINT_UNIQUE',
    'DELETE FROM events WHERE sequence = 1': 'SQLITE_CONSTRAINT_FOREIGNKEY',
    "UPDATE deliveries SET id = 'dl_1_1'": 'SQLITE_CONSTRAINT_UNIQUE',
    "UPDATE deliveries SET status = 'lost'": 'SQLITE_CONSTRAINT_CHECK',
    "UPDATE deliveries SET ready_at = 'soon'": 'SQLITE_CONSTRAINT_DATATYPE',
    'INSERT INTO delivery_attempts SELECT * FROM delivery_attempts': 'SQLITE_CONSTRAINT_PRIMARYKEY',
    "UPDATE webhook_endpoints SET mode = 'both'": 'SQLITE_CONSTRAINT_CHECK',
  };
  for (const [sql, code] of Object.entries(broken)) {
    await expect(execute(sql), sql).rejects.toMatchObject({ ...unavailable, cause: { code } });
  }
});

test('a purge takes the attempts along', async () => {
  const { storage, all } = await openDatabase();
  await storage.webhooks.create({ endpoint, idempotency: null, max: 1, now: 1 });
  await published(storage, '1', '2');
  const attempt = { number: 1, at: 5, durationMs: 1, httpStatus: 500, error: 'HTTP 500', response: '' };
  const claimId = 'c';
  await storage.deliveries.claim(claim);
  const next = { status: 'pending', dueAt: 1 } as const;
  await storage.deliveries.finish(['dl_1_1', 'dl_2_1'].map((id) => ({ id, claimId, attempt, next })));
  await storage.deliveries.claim(claim);
  const last = { attempt: { ...attempt, number: 2 }, next: { status: 'dropped' } } as const;
  expect(await storage.deliveries.finish([{ id: 'dl_1_1', claimId, ...last }])).toEqual([true]);
  expect(await all('SELECT count(*) FROM delivery_attempts')).toEqual([[2]]);
  const count = await storage.purge({ now: 9, before: 9, eventsBefore: 9, limit: 9 });
  expect(count).toMatchObject({ events: 1, deliveries: 1 });
  expect(await all('SELECT delivery_number FROM delivery_attempts')).toEqual([[2]]);
});
