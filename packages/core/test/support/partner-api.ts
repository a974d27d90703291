import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { onTestFinished } from 'vitest';
import type { OstiaryOptions, PaymentRail, TransferOrder, TransferResult } from '../../src/index.ts';
import type { Storage } from '../../src/storage.ts';
import { Host } from './directory.ts';
import { fragileStorage } from './fragile-storage.ts';
import { startProvider } from './running.ts';

/** Rate limits of the partner API that are so high that tests do not reach them by accident. */
export const manyRequests = Object.fromEntries(
  ['verify', 'payments', 'users', 'reconciliation', 'other'].map((group) => [
    group,
    { requests: 100_000, windowSeconds: 60 },
  ]),
) as NonNullable<OstiaryOptions['partnerLimits']>;

/** A payment rail that a test controls, which records the transfers it was asked to execute. */
export class TestRail implements PaymentRail {
  readonly orders: TransferOrder[] = [];
  answer: (order: TransferOrder, signal: AbortSignal) => Promise<TransferResult> = async () => ({
    status: 'completed',
  });

  execute(order: TransferOrder, { signal }: { readonly signal: AbortSignal }): Promise<TransferResult> {
    this.orders.push(order);
    return this.answer(order, signal);
  }
}

/** Returns a path for a database that is removed after the test. */
export function temporaryDatabase(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-core-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'ostiary.db');
}

/** Storages on which the most important tests run, by name. */
export const storages: readonly (readonly [string, () => Storage])[] = [
  ['memory', memoryStorage],
  ['SQLite', () => sqliteStorage({ file: temporaryDatabase() })],
];

/**
 * Starts a provider with a partner API, which stops at the end of the test or file. Returns its rail, and its
 * database, which has no effect if the options have another storage.
 */
export async function partnerProvider(options: Partial<OstiaryOptions> = {}, host = new Host()) {
  const rail = new TestRail();
  const database = fragileStorage();
  const given = { payments: rail, partnerLimits: manyRequests, storage: database.storage, ...options };
  return { provider: await startProvider(given, host), rail, database };
}

/** A valid payment request. */
export const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } } as const;

/** A valid payment request in test mode. */
export const testPayment = { ...payment, recipient: { kid: 'KID-TEST-APPROVED' } } as const;
