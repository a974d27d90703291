import type { PurgeCount, Storage } from '../ports/storage.ts';
import { memoryApiKeys } from './api-keys.ts';
import { memoryClients } from './clients.ts';
import { memoryConsents } from './consents.ts';
import { memoryGrants } from './grants.ts';
import { memoryIdempotency } from './idempotency.ts';
import { memoryInteractions } from './interactions.ts';
import { memoryPartners } from './partners.ts';
import { memoryQueue } from './queue.ts';
import { memorySigningKeys } from './signing-keys.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { bytesKey, emptyTables, type Tables } from './tables.ts';
import { memoryTransfers } from './transfers.ts';

/**
 * A storage that lives in this process and ends with it: for tests and for a first try. It passes the same
 * contract as the adapters, but nothing survives a restart and no other process sees it.
 *
 * @example
 * ```ts
 * import { memoryStorage } from '@ostiary/core/memory';
 *
 * const storage = memoryStorage();
 * await storage.open();
 * ```
 */
export function memoryStorage(): Storage {
  const tables = emptyTables();
  let state: 'new' | 'open' | 'closed' = 'new';

  const step: Step = async (work) => {
    if (state === 'new') throw new StorageUnavailableError('the storage was not opened');
    if (state === 'closed') throw new StorageUnavailableError('the storage was closed');
    return work(tables);
  };

  return {
    clients: memoryClients(step),
    grants: memoryGrants(step),
    consents: memoryConsents(step),
    interactions: memoryInteractions(step),
    signingKeys: memorySigningKeys(step),
    partners: memoryPartners(step),
    apiKeys: memoryApiKeys(step),
    idempotency: memoryIdempotency(step),
    transfers: memoryTransfers(step),
    queue: memoryQueue(step),

    async open() {
      if (state === 'closed') throw new StorageUnavailableError('the storage was closed');
      state = 'open';
    },
    ping: () => step(() => undefined),
    purge: (request) => step((rows) => purge(rows, request)),
    async close() {
      state = 'closed';
    },
  };
}

/** Tokens go before grants, so that no token is ever left without its grant. */
function purge(
  { interactions, tokens, grants, idempotency }: Tables,
  { now, before, limit }: { readonly now: number; readonly before: number; readonly limit: number },
): PurgeCount {
  const removed = {
    interactions: removeOldest(interactions, now, limit),
    tokens: removeOldest(tokens, before, limit),
    idempotency: removeOldest(idempotency, now, limit),
  };
  const inUse = new Set([...tokens.values()].map(({ codeKey }) => codeKey));
  const withoutToken = (grant: { readonly codeDigest: Uint8Array }) => !inUse.has(bytesKey(grant.codeDigest));
  return { ...removed, grants: removeOldest(grants, before, limit, withoutToken) };
}

function removeOldest<Row extends { readonly expiresAt: number }>(
  table: Map<string, Row>,
  endedBefore: number,
  limit: number,
  matches: (row: Row) => boolean = () => true,
): number {
  const oldest = [...table]
    .filter(([, row]) => row.expiresAt < endedBefore && matches(row))
    .sort(([, a], [, b]) => a.expiresAt - b.expiresAt)
    .slice(0, limit);
  for (const [key] of oldest) table.delete(key);
  return oldest.length;
}
