import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { onTestFinished } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage } from '../../src/storage.ts';
import { webhookProvider } from '../partner/webhook-shop.ts';
import { TestClock, type TestProvider } from '../support/provider.ts';

/** A page that lists all sealed secrets of a table. */
export const everything = { after: null, limit: 10_000 };

/** Returns the id of a sealing key. */
export const idOf = (key: Uint8Array): string => createSealer([key], systemRandom).currentKeyId;

/**
 * Returns a function that starts processes on one database that stays open, and two generations of sealing
 * keys.
 */
export function processes() {
  const clock = new TestClock();
  const given = memoryStorage();
  const storage: Storage = { ...given, close: async () => undefined };
  onTestFinished(() => given.close());
  const start = async (sealingKeys: Uint8Array[], options: Partial<OstiaryOptions> = {}) =>
    (await webhookProvider({ storage, sealingKeys, clock, ...options })).provider;
  /** Returns the ids of the sealing keys with which the secrets of API keys and endpoints are encrypted. */
  const sealedWith = async (): Promise<string[]> => {
    const keys = await storage.apiKeys.listSealed(everything);
    const rows = [...keys, ...(await storage.webhooks.listSealed(everything))];
    return [...new Set(rows.map(({ sealed }) => sealed.split('.')[1] ?? ''))];
  };
  return { clock, storage, start, sealedWith, old: randomBytes(32), next: randomBytes(32) };
}

/** Runs all due work, until none is left. */
export async function work({ ostiary }: TestProvider): Promise<void> {
  while ((await ostiary.worker.runDue()) > 0);
}
