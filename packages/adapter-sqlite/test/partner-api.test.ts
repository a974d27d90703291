import { expect, test } from 'vitest';
import {
  create,
  created,
  sampleApiKey,
  sampleClaim,
  samplePartner,
  sampleTransfer,
} from '../../testing/src/contract/partner-samples.ts';
import { openDatabase } from './temporary.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

test('amounts are integers in the file, so that SQL can add and sort them', async () => {
  const { storage, all } = await openDatabase();
  const amounts = [99_999_999_999_999_999n, 2n ** 53n + 1n, 9n, 10n];
  for (const [index, amount] of amounts.entries()) {
    await created(storage, `${index}`, { amount });
  }
  expect(
    await all("SELECT CAST(amount AS TEXT) FROM transfers WHERE typeof(amount) = 'integer' ORDER BY amount"),
  ).toEqual([['9'], ['10'], ['9007199254740993'], ['99999999999999999']]);
});

test('an invalid amount is refused by the schema, together with the rest of its transaction', async () => {
  const { storage, all } = await openDatabase();
  for (const amount of [0n, -1n, 10n ** 17n, 2n ** 64n]) {
    const creating = create(storage, sampleTransfer('1', { amount }), sampleClaim('key'));
    await expect(creating, String(amount)).rejects.toMatchObject(unavailable);
  }
  expect(await all('SELECT id FROM transfers')).toEqual([]);
  expect(await all('SELECT key FROM idempotency_records')).toEqual([]);
  expect(await all('SELECT id FROM jobs')).toEqual([]);
});

test('no API key is in the file, only its digest', async () => {
  const { storage, all } = await openDatabase();
  await storage.partners.insert(samplePartner());
  const key = sampleApiKey('1');
  const short = storage.apiKeys.insert({ ...key, digest: Buffer.from('svc_live_1234') });
  await expect(short).rejects.toMatchObject({ ...unavailable, cause: { code: 'SQLITE_CONSTRAINT_CHECK' } });
  expect(await storage.apiKeys.insert(key)).toBe(true);
  expect(await all('SELECT digest FROM api_keys')).toEqual([[key.digest]]);
});
