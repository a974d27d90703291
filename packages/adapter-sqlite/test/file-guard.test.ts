import {
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Driver from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { fileGuard, memoryStorage, sqliteStorage } from '../src/index.ts';
import { openDatabase, temporaryFile } from './temporary.ts';

const digest = Buffer.alloc(32, 7);
const refusal = (message: RegExp) => ({
  name: 'StorageUnavailableError',
  code: 'STORAGE_UNAVAILABLE',
  message: expect.stringMatching(message),
});

/** Ways to remove the database file of a running process, with the error that the process reports. */
const accidents: readonly [string, (file: string) => void, RegExp][] = [
  ['moved', (file) => renameSync(file, `${file}.old`), /ostiary\.db was moved or deleted/],
  ['deleted', (file) => rmSync(file), /ostiary\.db was moved or deleted/],
  ['emptied', (file) => truncateSync(file), /ostiary\.db was emptied/],
  [
    'replaced by a copy of itself',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    /ostiary\.db was replaced by another file/,
  ],
  ['without its log', (file) => rmSync(`${file}-wal`), /ostiary\.db-wal was moved or deleted/],
  ['without its index', (file) => rmSync(`${file}-shm`), /ostiary\.db-shm was moved or deleted/],
  [
    'with the log of another database',
    (file) => {
      rmSync(`${file}-wal`);
      writeFileSync(`${file}-wal`, '');
    },
    /ostiary\.db-wal was replaced by another file/,
  ],
  [
    'deleted with its folder',
    (file) => rmSync(dirname(file), { recursive: true }),
    /ostiary\.db was moved or deleted/,
  ],
];

describe.skipIf(process.platform === 'win32')('a database file under an open storage', () => {
  test.each(accidents)('%s: writes and ping are refused with the reason', async (_, happens, reason) => {
    const { file, storage } = await openDatabase();
    await storage.interactions.save(digest, { step: 1 }, 1000);
    happens(file);
    await expect(storage.interactions.save(digest, { step: 2 }, 1000)).rejects.toMatchObject(refusal(reason));
    await expect(storage.ping()).rejects.toMatchObject(refusal(reason));
    expect(await storage.interactions.find(digest, 0)).toEqual({ step: 1 });
  });

  test('moved away and back again is used again, and contains no refused write', async () => {
    const { file, storage } = await openDatabase();
    await storage.interactions.save(digest, { step: 1 }, 1000);
    renameSync(file, `${file}.old`);
    await expect(storage.interactions.save(digest, { step: 2 }, 1000)).rejects.toMatchObject(
      refusal(/moved/),
    );
    renameSync(`${file}.old`, file);
    await storage.ping();
    expect(await storage.interactions.find(digest, 0)).toEqual({ step: 1 });
    await storage.interactions.save(digest, { step: 3 }, 1000);
    expect(await storage.interactions.find(digest, 0)).toEqual({ step: 3 });
  });

  test('emptied when nothing of it is in memory or in the log is refused with the reason, too', async () => {
    const { file, storage, database } = await openDatabase();
    await storage.interactions.save(digest, { step: 1 }, 1000);
    await database.read((connection) => {
      connection.pragma('wal_checkpoint(TRUNCATE)');
      connection.pragma('shrink_memory');
    });
    truncateSync(file);
    await expect(storage.interactions.save(digest, { step: 2 }, 1000)).rejects.toMatchObject(
      refusal(/emptied/),
    );
  });

  test('behind a link is reported missing when the link has another target, or the file was removed', async () => {
    const file = temporaryFile();
    const link = join(dirname(file), 'link.db');
    writeFileSync(file, '');
    symlinkSync(file, link);
    const { storage } = await openDatabase(link);
    await storage.interactions.save(digest, { step: 1 }, 1000);
    rmSync(link);
    const other = join(dirname(file), 'other.db');
    writeFileSync(other, 'another one');
    symlinkSync(other, link);
    await expect(storage.ping()).rejects.toMatchObject(refusal(/link\.db was replaced/));
    rmSync(link);
    symlinkSync(file, link);
    await storage.ping();
    renameSync(`${file}-wal`, `${file}-away`);
    await expect(storage.ping()).rejects.toMatchObject(refusal(/ostiary\.db-wal was moved or deleted/));
  });

  test('that goes during a write answers no writer and takes nothing', async () => {
    const { file, database } = await openDatabase();
    const write = database.write((connection) => {
      connection.exec('CREATE TABLE late (x)');
      rmSync(file);
    });
    await expect(write).rejects.toMatchObject(refusal(/moved or deleted/));
    const late = await database.read((connection) =>
      connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'late'").pluck().get(),
    );
    expect(late).toBe(0);
  });

  test('without its log keeps confirmed writes, once the storage is closed', async () => {
    const file = temporaryFile();
    const storage = sqliteStorage({ file });
    await storage.open();
    await storage.interactions.save(digest, { step: 1 }, 1000);
    rmSync(`${file}-wal`);
    await expect(storage.ping()).rejects.toMatchObject(refusal(/-wal was moved or deleted/));
    await storage.close();
    const again = sqliteStorage({ file });
    await again.open();
    expect(await again.interactions.find(digest, 0)).toEqual({ step: 1 });
    await again.close();
  });

  test('is missed by a relative name, too, after the process has changed its folder', async () => {
    const file = temporaryFile();
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(dirname(file));
    const { storage } = await openDatabase('ostiary.db');
    mkdirSync(join(dirname(file), 'elsewhere'));
    process.chdir('elsewhere');
    await storage.ping();
    await storage.interactions.save(digest, { step: 1 }, 1000);
    rmSync(file);
    await expect(storage.ping()).rejects.toMatchObject(refusal(/moved or deleted/));
  });

  test("takes no event in a host's transaction", async () => {
    const { file, storage } = await openDatabase();
    const handle = new Driver(file);
    onTestFinished(() => void handle.close());
    const publish = handle.transaction(() => storage.events.within(handle).publish([sampleEvent('1')]));
    publish();
    rmSync(file);
    expect(publish).toThrow(expect.objectContaining(refusal(/moved or deleted/)));
  });

  test("is watched for a host's own tables", () => {
    const file = temporaryFile();
    const handle = new Driver(file);
    onTestFinished(() => void handle.close());
    handle.exec('CREATE TABLE users (name TEXT)');
    const check = fileGuard(handle);
    check();
    rmSync(file);
    expect(check).toThrow(expect.objectContaining(refusal(/moved or deleted/)));
  });
});

test('a database in memory has no file that could go', async () => {
  const storage = memoryStorage();
  await storage.open();
  await storage.interactions.save(digest, { step: 1 }, 1000);
  await storage.ping();
  await storage.close();
  const handle = new Driver(':memory:');
  fileGuard(handle)();
  handle.close();
});
