import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { patienceMs } from '../src/busy.ts';
import { Database } from '../src/database.ts';
import { StorageUnavailableError, sqliteStorage } from '../src/index.ts';
import { storageOn } from '../src/storage.ts';
import { temporaryFile } from './temporary.ts';
import { fakeTiming } from './timing.ts';

const digest = Buffer.alloc(32, 7);
const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

async function openDatabase() {
  const file = temporaryFile();
  const timing = fakeTiming();
  const database = new Database({ file, timing });
  const storage = storageOn(database);
  await storage.open();
  onTestFinished(() => storage.close());
  return { file, timing, database, storage };
}

test('while another process writes, reads go on and writes are refused after the deadline', async () => {
  const { file, storage, timing } = await openDatabase();
  await storage.interactions.save(digest, { step: 1 }, 1000);
  const other = new Driver(file);
  other.exec('BEGIN IMMEDIATE; UPDATE interactions SET expires_at = 0');

  await expect(storage.interactions.save(digest, { step: 2 }, 1000)).rejects.toMatchObject({
    ...unavailable,
    cause: { code: 'SQLITE_BUSY' },
  });
  expect(timing.elapsed()).toBeGreaterThanOrEqual(patienceMs);
  expect(await storage.interactions.find(digest, 0)).toEqual({ step: 1 });

  other.exec('ROLLBACK');
  other.close();
  await storage.interactions.save(digest, { step: 3 }, 1000);
  expect(await storage.interactions.find(digest, 0)).toEqual({ step: 3 });
});

test('a full disk is unavailable and changes nothing', async () => {
  const { storage, database } = await openDatabase();
  await database.write((connection) => {
    const pages = Number(connection.pragma('page_count', { simple: true }));
    connection.pragma(`max_page_count = ${pages + 1}`);
  });
  const save = storage.interactions.save(digest, { text: 'x'.repeat(100_000) }, 1000);
  const beside = storage.interactions.save(Buffer.alloc(32, 8), {}, 1000);
  await expect(save).rejects.toMatchObject({ ...unavailable, cause: { code: 'SQLITE_FULL' } });
  await expect(beside).rejects.toMatchObject({ ...unavailable, cause: { code: 'SQLITE_FULL' } });
  expect(await storage.interactions.find(digest, 0)).toBeNull();
});

test('a read that fails is unavailable and keeps the cause', async () => {
  const { storage, database } = await openDatabase();
  await database.write((connection) => connection.exec('DROP TABLE interactions'));
  const error = await storage.interactions.find(digest, 0).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageUnavailableError);
  expect(error).toMatchObject({ ...unavailable, cause: { code: 'SQLITE_ERROR' } });
});

test('a digest of the wrong length is refused by the schema', async () => {
  const { storage } = await openDatabase();
  await expect(storage.interactions.save(Buffer.from('a session id'), {}, 1)).rejects.toMatchObject({
    ...unavailable,
    cause: { code: 'SQLITE_CONSTRAINT_CHECK' },
  });
});

test('calls before open and after close are unavailable', async () => {
  const storage = sqliteStorage({ file: temporaryFile() });
  await expect(storage.ping()).rejects.toMatchObject({ ...unavailable, message: 'the storage is not open' });
  await expect(storage.interactions.remove(digest)).rejects.toMatchObject(unavailable);
  await storage.open();
  await storage.ping();
  await storage.close();
  await expect(storage.ping()).rejects.toMatchObject({ ...unavailable, message: 'the storage is closed' });
  await expect(storage.open()).rejects.toMatchObject(unavailable);
});

test('a storage that was never opened can be closed', async () => {
  const storage = sqliteStorage({ file: temporaryFile() });
  await storage.close();
  await expect(storage.open()).rejects.toMatchObject(unavailable);
});

test('close waits for an open under way', async () => {
  const file = temporaryFile();
  const storage = sqliteStorage({ file });
  const opening = storage.open();
  await storage.close();
  await opening;
  await expect(storage.ping()).rejects.toMatchObject(unavailable);
});

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

test('two storages on one file see each other’s commits at once', async () => {
  const { file, storage } = await openDatabase();
  const second = sqliteStorage({ file });
  await second.open();
  onTestFinished(() => second.close());
  for (let step = 0; step < 20; step += 1) {
    await (step % 2 === 0 ? storage : second).interactions.save(digest, { step }, 1000);
    expect(await storage.interactions.find(digest, 0)).toEqual({ step });
    expect(await second.interactions.find(digest, 0)).toEqual({ step });
  }
});

const shop = {
  clientId: 'shop',
  name: 'Shop',
  secrets: [],
  redirectUris: [],
  allowedScopes: ['openid'],
  requirePkce: true,
  requireSecret: false,
  firstParty: false,
  idTokenAlg: 'RS256',
  partner: null,
  createdAt: 1,
  updatedAt: 1,
  disabledAt: null,
  version: 1,
} as const;

test('a revoked consent stays on record', async () => {
  const { storage, database } = await openDatabase();
  await storage.clients.insert(shop);
  const user = { sub: 'user-1', clientId: 'shop' };
  await storage.consents.remember({ ...user, scopes: ['openid'], now: 1 });
  await storage.consents.revoke('user-1', 'shop', 2);
  await storage.consents.remember({ ...user, scopes: ['openid', 'kyc'], now: 3 });
  const history = await database.read((connection) =>
    connection.prepare('SELECT scopes, granted_at, revoked_at FROM consents ORDER BY id').all(),
  );
  expect(history).toEqual([
    { scopes: '["openid"]', granted_at: 1, revoked_at: 2 },
    { scopes: '["openid","kyc"]', granted_at: 3, revoked_at: null },
  ]);
});

test('the purge can tell from a grant when its token ends', async () => {
  const { storage, database } = await openDatabase();
  await storage.clients.insert(shop);
  await storage.consents.remember({ sub: 'user-1', clientId: 'shop', scopes: ['openid'], now: 1 });
  const codeDigest = digest;
  await storage.grants.issue({
    codeDigest,
    clientId: 'shop',
    sub: 'user-1',
    scopes: ['openid'],
    redirectUri: 'https://shop.example/callback',
    codeChallenge: null,
    nonce: null,
    authenticatedAt: 1,
    issuedAt: 1,
    expiresAt: 600,
  });
  const endsAt = () =>
    database.read((connection) => connection.prepare('SELECT ends_at FROM grants').pluck().get());
  expect(await endsAt()).toBe(600);
  const token = { digest, issuedAt: 1, expiresAt: 3600 };
  expect(await storage.grants.redeem({ codeDigest, token, maxFailedVerifiers: 5, now: 1 })).toBe('redeemed');
  expect(await endsAt()).toBe(3600);
});
