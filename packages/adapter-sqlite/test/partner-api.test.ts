import type { ApiKeyRecord, TransferRecord } from '@ostiary/core/storage';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { readMigrations } from '../src/migrations.ts';
import { storageOn } from '../src/storage.ts';
import { temporaryFile } from './temporary.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };
const acme = { partner: 'acme', mode: 'live' } as const;

async function openDatabase() {
  const database = new Database({ file: temporaryFile() });
  const storage = storageOn(database);
  await storage.open();
  onTestFinished(() => storage.close());
  const all = (sql: string) => database.read((connection) => connection.prepare(sql).raw().all());
  return { database, storage, all };
}

function sampleTransfer(id: string, changes: Partial<TransferRecord> = {}): TransferRecord {
  return {
    ...acme,
    id,
    status: 'pending',
    amount: 12_550n,
    currency: 'HTG',
    recipientKid: 'kid-1',
    description: null,
    reference: null,
    metadata: null,
    failure: null,
    createdAt: 1,
    updatedAt: 1,
    completedAt: null,
    ...changes,
  };
}

function creationOf(transfer: TransferRecord) {
  const fingerprint = Buffer.alloc(32, 7);
  const idempotency = {
    ...acme,
    key: transfer.id,
    fingerprint,
    answer: { status: 201, body: '{}' },
    endsAt: 9,
  };
  return { transfer, idempotency, job: { id: transfer.id, kind: 'k', payload: {}, dueAt: 1 }, now: 1 };
}

test('clients from before the partner API belong to nobody, and can get a partner', async () => {
  const file = temporaryFile();
  const before = new Database({ file, migrations: readMigrations().slice(0, 1) });
  await before.open();
  const record = {
    clientId: 'shop',
    name: 'Ti “Biznis” 🗝️',
    secrets: [],
    redirectUris: ['https://shop.example/'],
    allowedScopes: ['openid', 'kyc'],
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    createdAt: 1,
    updatedAt: 1,
    disabledAt: null,
    version: 1,
  } as const;
  await before.write((connection) => {
    connection
      .prepare("INSERT INTO clients (client_id, version, record) VALUES ('shop', 1, ?)")
      .run(JSON.stringify(record));
    connection.exec(`
      INSERT INTO consents (sub, client_id, scopes, granted_at, updated_at)
      VALUES ('user-1', 'shop', '["openid","kyc"]', 1, 1)
    `);
  });
  await before.close();

  const storage = storageOn(new Database({ file }));
  await storage.open();
  onTestFinished(() => storage.close());
  expect(await storage.clients.find('shop')).toEqual({ ...record, partner: null, partnerDisabled: false });
  const holds = { partner: 'acme', sub: 'user-1', scope: 'kyc' };
  expect(await storage.consents.partnerHolds(holds)).toBe(false);
  expect(await storage.clients.replace({ ...record, partner: 'acme', version: 2 })).toBe(true);
  expect(await storage.consents.partnerHolds(holds)).toBe(true);
});

test('amounts are integers in the file, so that SQL can add and sort them', async () => {
  const { storage, all } = await openDatabase();
  const amounts = [99_999_999_999_999_999n, 2n ** 53n + 1n, 9n, 10n];
  for (const [index, amount] of amounts.entries()) {
    await storage.transfers.create(creationOf(sampleTransfer(`tr_${index}`, { amount })));
  }
  expect(
    await all("SELECT CAST(amount AS TEXT) FROM transfers WHERE typeof(amount) = 'integer' ORDER BY amount"),
  ).toEqual([['9'], ['10'], ['9007199254740993'], ['99999999999999999']]);
});

test('an amount that no transfer can have is refused by the schema, with everything beside it', async () => {
  const { storage, all } = await openDatabase();
  for (const amount of [0n, -1n, 10n ** 17n, 2n ** 64n]) {
    const creating = storage.transfers.create(creationOf(sampleTransfer('tr_1', { amount })));
    await expect(creating, String(amount)).rejects.toMatchObject(unavailable);
  }
  expect(await all('SELECT id FROM transfers')).toEqual([]);
  expect(await all('SELECT key FROM idempotency_records')).toEqual([]);
  expect(await all('SELECT id FROM jobs')).toEqual([]);
});

test('a transfer whose job cannot be stored is not stored either', async () => {
  const { database, storage, all } = await openDatabase();
  await database.write((connection) =>
    connection.exec(`
      CREATE TRIGGER no_jobs BEFORE INSERT ON jobs WHEN NEW.id = 'tr_1'
      BEGIN SELECT RAISE (ABORT, 'no jobs today'); END
    `),
  );
  const answers = await Promise.allSettled([
    storage.transfers.create(creationOf(sampleTransfer('tr_1', { reference: 'order 7' }))),
    storage.transfers.create(creationOf(sampleTransfer('tr_2'))),
  ]);
  expect(answers).toMatchObject([
    { status: 'rejected', reason: unavailable },
    { status: 'fulfilled', value: { outcome: 'created' } },
  ]);
  expect(await all('SELECT id FROM transfers')).toEqual([['tr_2']]);
  expect(await all('SELECT key FROM idempotency_records')).toEqual([['tr_2']]);
});

test('two transfers of one reference are refused by the schema too', async () => {
  const { database, storage } = await openDatabase();
  await storage.transfers.create(creationOf(sampleTransfer('tr_1', { reference: 'order 7' })));
  const copying = (id: string, mode: string) =>
    database.write((connection) =>
      connection
        .prepare(`
          INSERT INTO transfers (
            id, partner, mode, status, amount, currency, recipient_kid, reference, created_at, updated_at
          )
          SELECT ?, partner, ?, status, amount, currency, recipient_kid, reference, created_at, updated_at
          FROM transfers WHERE id = 'tr_1'
        `)
        .run(id, mode),
    );
  await expect(copying('tr_2', 'live')).rejects.toMatchObject({
    ...unavailable,
    cause: { code: 'SQLITE_CONSTRAINT_UNIQUE' },
  });
  await copying('tr_2', 'test');
});

test('no API key is in the file, only its digest', async () => {
  const { storage, all } = await openDatabase();
  await storage.partners.insert({
    slug: 'acme',
    name: 'Acme Pay',
    createdAt: 1,
    updatedAt: 1,
    disabledAt: null,
    version: 1,
  });
  const key: ApiKeyRecord = {
    ...acme,
    id: 'key_1',
    name: 'Server',
    digest: Buffer.alloc(32, 7),
    scopes: ['webhooks'],
    allowlist: null,
    requireSignature: true,
    sealedSigningSecret: 'sealed',
    quotaId: 'quota',
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
  const short = storage.apiKeys.insert({ ...key, digest: Buffer.from('svc_live_1234') });
  await expect(short).rejects.toMatchObject({ ...unavailable, cause: { code: 'SQLITE_CONSTRAINT_CHECK' } });
  expect(await storage.apiKeys.insert(key)).toBe(true);
  expect(await all('SELECT digest FROM api_keys')).toEqual([[Buffer.alloc(32, 7)]]);
});
