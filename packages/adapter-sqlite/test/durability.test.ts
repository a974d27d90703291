import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { now } from '../../testing/src/contract/samples.ts';
import { claim, leaseMs, listed, registered } from '../../testing/src/contract/webhook-samples.ts';
import { sequence } from '../../testing/test/adapters/host-transactions.ts';
import { child as processOf } from '../../testing/test/adapters/processes.ts';
import { assertDurable, type Connection } from '../src/connection.ts';
import { Database } from '../src/database.ts';
import { sqliteStorage } from '../src/index.ts';
import { openDatabase, placeOf, temporaryFile } from './temporary.ts';

const pragma = (name: string) => (connection: Connection) => connection.pragma(name, { simple: true });

test('commits wait for the disk: after the first write, and after reopening', async () => {
  const file = temporaryFile();
  for (const opening of ['new file', 'reopened', 'reopened again']) {
    const database = new Database({ file });
    await database.open();
    expect(await database.read(pragma('synchronous')), opening).toBe(2);
    await database.write((connection) => connection.exec(`CREATE TABLE "${opening}" (id INTEGER) STRICT`));
    expect(await database.read(pragma('synchronous')), opening).toBe(2);
    expect(await database.read(pragma('journal_mode'))).toBe('wal');
    expect(await database.read(pragma('foreign_keys'))).toBe(1);
    expect(await database.read(pragma('busy_timeout'))).toBeLessThanOrEqual(5);
    await database.close();
  }
});

test('a connection that does not wait for the disk is refused', async () => {
  const database = new Database({ file: temporaryFile() });
  await database.open();
  await database.read((connection) => {
    assertDurable(connection);
    connection.pragma('synchronous = NORMAL');
    expect(() => assertDurable(connection)).toThrow('synchronous = 1');
  });
  await database.close();
});

test.skipIf(process.platform === 'win32')('the files are readable by their owner only', async () => {
  const file = temporaryFile();
  const umask = process.umask(0);
  try {
    const storage = sqliteStorage({ file });
    await storage.open();
    const folder = dirname(file);
    const files = readdirSync(folder);
    expect(files.toSorted()).toEqual(['ostiary.db', 'ostiary.db-shm', 'ostiary.db-wal']);
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    await storage.close();
  } finally {
    process.umask(umask);
  }
});

test('a confirmed write survives kill -9 right after the confirmation', async () => {
  const file = temporaryFile();
  const child = processOf(new URL('children/write-until-killed.ts', import.meta.url), file);
  let acknowledged = -1;
  child.on('message', (written) => {
    acknowledged = Number(written);
    if (acknowledged === 50) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(acknowledged).toBeGreaterThanOrEqual(50);

  const storage = sqliteStorage({ file });
  await storage.open();
  const jobs = await storage.queue.claim({
    kinds: ['note'],
    claimId: 'c',
    now: 0,
    leaseMs: 1,
    limit: 100_000,
  });
  const stored = new Set(jobs.map((job) => job.id));
  for (let number = 0; number <= acknowledged; number += 1) {
    expect(stored.has(String(number)), `write ${number}`).toBe(true);
  }
  await storage.close();
});

test('kill -9 in the middle of deliveries loses none of them and no confirmed result', async () => {
  const { file, storage } = await openDatabase();
  await registered(storage, '1');
  const script = new URL('children/deliver.ts', import.meta.url);
  const child = processOf(script, JSON.stringify(placeOf(file)), 'x', '100000');
  const answered = new Set<string>();
  child.on('message', (message) => {
    if (message === 'ready') child.send('go');
    else for (const id of message as string[]) answered.add(id);
    if (answered.size > 50) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');

  const published = await sequence(storage);
  const all = { limit: 100_000 };
  const done = await listed(storage, { ...all, status: 'delivered' });
  const ids = new Set(done.map(({ id }) => id));
  expect([...answered].filter((id) => !ids.has(id))).toEqual([]);
  expect(done.filter(({ attempts }) => attempts.length !== 1)).toEqual([]);
  const rest = await claim(storage, 'c', { ...all, endpointLimit: 100_000, now: now + leaseMs });
  expect(done.length + rest.length).toBe(published.length);
  // Requests that the killed process held may have been sent, so their next attempt has another number.
  expect(rest.filter(({ attempt, failures }) => attempt > 2 || failures > 0)).toEqual([]);
});
