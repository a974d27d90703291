import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { digestOf, now } from '../../src/contract/samples.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

/**
 * Defines the tests of a storage before, during and after opening and closing; the contract suite starts with
 * an open storage.
 */
export function lifeTests(unopened: () => Storage, checkViolation: string): void {
  test('calls before open and after close are unavailable', async () => {
    const storage = unopened();
    await expect(storage.ping()).rejects.toMatchObject({
      ...unavailable,
      message: 'the storage is not open',
    });
    await storage.open();
    await storage.ping();
    await storage.close();
    await expect(storage.ping()).rejects.toMatchObject({ ...unavailable, message: 'the storage is closed' });
    await expect(storage.open()).rejects.toMatchObject(unavailable);
  });

  test('a storage that was never opened can be closed, and closing waits for an open under way', async () => {
    const never = unopened();
    await never.close();
    await expect(never.open()).rejects.toMatchObject(unavailable);
    const storage = unopened();
    const opening = storage.open();
    await storage.close();
    await opening;
    await expect(storage.ping()).rejects.toMatchObject(unavailable);
  });

  test('a digest of the wrong length is refused by the schema', async () => {
    const storage = unopened();
    await storage.open();
    const cause = { code: checkViolation };
    const save = (digest: Uint8Array) => storage.interactions.save(digest, {}, now);
    await expect(save(Buffer.from('a session id'))).rejects.toMatchObject({ ...unavailable, cause });
    await save(digestOf('a session id'));
    await storage.close();
  });
}
