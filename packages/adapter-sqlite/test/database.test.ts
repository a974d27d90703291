import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Driver from 'better-sqlite3';
import { expect, test } from 'vitest';
import { consented, issued, now, redeem, sampleToken } from '../../testing/src/contract/samples.ts';
import { lifeTests } from '../../testing/test/adapters/life.ts';
import { callTimeoutMs } from '../src/busy.ts';
import { StorageUnavailableError, sqliteStorage } from '../src/index.ts';
import { openDatabase, temporaryFile } from './temporary.ts';

const digest = Buffer.alloc(32, 7);
const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

test('while another process writes, reads succeed and writes are refused after the deadline', async () => {
  const { file, storage, timing } = await openDatabase();
  await storage.interactions.save(digest, { step: 1 }, 1000);
  const other = new Driver(file);
  other.exec('BEGIN IMMEDIATE; UPDATE interactions SET expires_at = 0');

  await expect(storage.interactions.save(digest, { step: 2 }, 1000)).rejects.toMatchObject({
    ...unavailable,
    cause: { code: 'SQLITE_BUSY' },
  });
  expect(timing.elapsed()).toBeGreaterThanOrEqual(callTimeoutMs);
  expect(await storage.interactions.find(digest, 0)).toEqual({ step: 1 });

  other.exec('ROLLBACK');
  other.close();
  await storage.interactions.save(digest, { step: 3 }, 1000);
  expect(await storage.interactions.find(digest, 0)).toEqual({ step: 3 });
});

test('a read that fails is unavailable and keeps the cause', async () => {
  const { storage, execute } = await openDatabase();
  await execute('DROP TABLE interactions');
  const error = await storage.interactions.find(digest, 0).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageUnavailableError);
  expect(error).toMatchObject({ ...unavailable, cause: { code: 'SQLITE_ERROR' } });
});

lifeTests(() => sqliteStorage({ file: temporaryFile() }), 'SQLITE_CONSTRAINT_CHECK');

test('an open that failed can be tried again', async () => {
  const file = join(dirname(temporaryFile()), 'later', 'ostiary.db');
  const storage = sqliteStorage({ file });
  await expect(storage.open()).rejects.toMatchObject({
    ...unavailable,
    message: expect.stringMatching(/^the directory .+ does not exist; make it first$/),
    cause: { code: 'ENOENT' },
  });
  mkdirSync(dirname(file));
  await storage.open();
  await storage.ping();
  await storage.close();
});

test('a file that is no database is unavailable', async () => {
  const file = temporaryFile();
  writeFileSync(file, 'this is not a database, '.repeat(100));
  await expect(sqliteStorage({ file }).open()).rejects.toMatchObject({
    ...unavailable,
    message: `${file} is no SQLite database; name another file, or move this one away`,
    cause: { code: 'SQLITE_NOTADB' },
  });
});

test('a directory is refused as one', async () => {
  const folder = dirname(temporaryFile());
  const storage = sqliteStorage({ file: folder });
  await expect(storage.open()).rejects.toMatchObject({
    ...unavailable,
    message: `${folder} is a directory; name a file in it, such as ${join(folder, 'ostiary.db')}`,
  });
});

test('a link to a file that does not exist is refused with its target', async () => {
  const file = temporaryFile();
  const target = join(dirname(file), 'missing.db');
  symlinkSync(target, file);
  await expect(sqliteStorage({ file }).open()).rejects.toMatchObject({
    ...unavailable,
    message: `${file} is a link to ${target}, which does not exist; name ${target} itself, or remove the link`,
  });
});

test('a revoked consent stays on record', async () => {
  const { storage, all } = await openDatabase();
  await consented(storage, { scopes: ['openid'] });
  await storage.consents.revoke('user-1', 'client-1', now + 1);
  await consented(storage, { scopes: ['openid', 'kyc'] });
  expect(await all('SELECT scopes, revoked_at FROM consents ORDER BY id')).toEqual([
    ['["openid"]', now + 1],
    ['["openid","kyc"]', null],
  ]);
});

test('the purge can tell from a grant when its token ends', async () => {
  const { storage, all } = await openDatabase();
  const grant = await issued(storage, 'a');
  const ends = () => all('SELECT ends_at FROM grants');
  expect(await ends()).toEqual([[grant.expiresAt]]);
  const token = sampleToken('a');
  expect(await redeem(storage, grant, token)).toBe('redeemed');
  expect(await ends()).toEqual([[token.expiresAt]]);
});
