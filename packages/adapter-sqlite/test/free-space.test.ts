import { statSync } from 'node:fs';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { temporaryFile } from './temporary.ts';

const megabyte = 2 ** 20;

async function opened(file: string) {
  const storage = sqliteStorage({ file });
  await storage.open();
  onTestFinished(() => storage.close());
  return storage;
}

/** Stores interactions of about 4 KiB each that have already expired. */
async function flood({ interactions }: Awaited<ReturnType<typeof opened>>, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => {
        const digest = Buffer.alloc(32);
        digest.writeUInt32BE(from + index);
        return interactions.save(digest, { state: 'x'.repeat(4000) }, 1);
      }),
    );
  }
}

/** Removes expired rows, as the worker does. */
async function purge(storage: Awaited<ReturnType<typeof opened>>): Promise<void> {
  let removed: number;
  do {
    ({ interactions: removed } = await storage.purge({ now: 2, before: 0, eventsBefore: 0, limit: 500 }));
  } while (removed === 500);
}

test('what strangers have filled is given back to the file system once it is purged', async () => {
  const file = temporaryFile();
  const storage = await opened(file);
  await flood(storage, 5000);
  await purge(storage);
  await storage.close();
  // Four megabytes are kept free for new rows.
  expect(statSync(file).size).toBeLessThan(6 * megabyte);
  const driver = new Driver(file);
  onTestFinished(() => void driver.close());
  expect(driver.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('vacuuming goes in steps, between which other calls get their turn', async () => {
  const storage = await opened(temporaryFile());
  await flood(storage, 5000);
  await storage.purge({ now: 2, before: 0, eventsBefore: 0, limit: 5000 });
  await flood(storage, 5000);
  let turns = 0;
  let isPurging = true;
  const purging = storage.purge({ now: 2, before: 0, eventsBefore: 0, limit: 5000 }).then(() => {
    isPurging = false;
  });
  while (isPurging) {
    await storage.ping();
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await purging;
  expect(turns).toBeGreaterThan(10);
});

test('the write-ahead log shrinks while the storage is open, once a long reader has ended', async () => {
  const file = temporaryFile();
  const storage = await opened(file);
  const reader = new Driver(file);
  onTestFinished(() => void reader.close());
  reader.exec('BEGIN; SELECT count(*) FROM interactions');
  reader.prepare('SELECT count(*) FROM interactions').get();
  await flood(storage, 2000);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(6 * megabyte);
  reader.exec('COMMIT');
  await flood(storage, 500);
  await flood(storage, 500);
  expect(statSync(`${file}-wal`).size).toBeLessThan(6 * megabyte);
});

/** Opens a connection that keeps a snapshot of the database file open until the test ends it. */
function longReader(file: string): { end(): void } {
  const reader = new Driver(file);
  onTestFinished(() => void reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM interactions').get();
  return { end: () => void reader.exec('COMMIT') };
}

test('the next purge empties the log that grew during a long read, even if nothing is written afterwards', async () => {
  const file = temporaryFile();
  const storage = await opened(file);
  const purgeNothing = () => storage.purge({ now: 0, before: 0, eventsBefore: 0, limit: 500 });
  const reader = longReader(file);
  await flood(storage, 4000);
  await purgeNothing();
  const grown = statSync(`${file}-wal`).size;
  expect(grown).toBeGreaterThan(16 * megabyte);
  reader.end();
  await purgeNothing();
  expect(statSync(`${file}-wal`).size).toBe(0);
  await flood(storage, 500);
  const driver = new Driver(file);
  onTestFinished(() => void driver.close());
  expect(driver.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(driver.prepare('SELECT count(*) FROM interactions').pluck().get()).toBe(4000);
});

test('a log that another reader still needs is left, without waiting for that reader', async () => {
  const file = temporaryFile();
  const storage = await opened(file);
  const first = longReader(file);
  await flood(storage, 4000);
  const second = longReader(file);
  first.end();
  const began = performance.now();
  await storage.purge({ now: 0, before: 0, eventsBefore: 0, limit: 500 });
  expect(performance.now() - began).toBeLessThan(1_500);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(16 * megabyte);
  second.end();
  await storage.purge({ now: 0, before: 0, eventsBefore: 0, limit: 500 });
  expect(statSync(`${file}-wal`).size).toBe(0);
});
