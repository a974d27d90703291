import type { Storage } from '@ostiary/core/storage';
import { memoryApiKeys } from './api-keys.ts';
import { memoryAudit } from './audit.ts';
import { memoryClients } from './clients.ts';
import { memoryConsents } from './consents.ts';
import { memoryDeliveries } from './deliveries.ts';
import { memoryEvents } from './events.ts';
import { memoryGrants } from './grants.ts';
import { memoryIdempotency } from './idempotency.ts';
import { memoryInteractions } from './interactions.ts';
import { memoryPartners } from './partners.ts';
import { purge } from './purge.ts';
import { memoryQueue } from './queue.ts';
import { memoryRateLimits } from './rate-limits.ts';
import { memorySigningKeys } from './signing-keys.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { emptyTables } from './tables.ts';
import { memoryTransfers } from './transfers.ts';
import { memoryWebhooks } from './webhooks.ts';

/**
 * A storage that lives in this process and ends with it: for tests and for a first try. It passes the same
 * contract as the adapters, but nothing survives a restart and no other process sees it.
 *
 * @example
 * ```ts
 * import { memoryStorage } from '@ostiary/testing/memory';
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
    webhooks: memoryWebhooks(step),
    events: memoryEvents(step),
    deliveries: memoryDeliveries(step),
    queue: memoryQueue(step),
    audit: memoryAudit(step),
    rateLimits: memoryRateLimits(step),

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
