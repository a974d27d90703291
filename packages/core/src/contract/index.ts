import type { Storage } from '../ports/storage.ts';
import { apiKeyCases } from './api-keys.ts';
import type { ContractCase } from './case.ts';
import { clientCases } from './clients.ts';
import { consentCases } from './consents.ts';
import { finalListCases } from './final-lists.ts';
import { grantCases } from './grants.ts';
import { idempotencyCases } from './idempotency.ts';
import { interactionCases } from './interactions.ts';
import { partnerConsentCases } from './partner-consents.ts';
import { partnerCases } from './partners.ts';
import { purgeCases } from './purge.ts';
import { queueCases } from './queue.ts';
import { accessTokenCases, redemptionCases } from './redemption.ts';
import { replayCases } from './replays.ts';
import { rolledKeyCases } from './rolled-keys.ts';
import { settlementCases } from './settlement.ts';
import { signingKeyCases } from './signing-keys.ts';
import { storageCases } from './storage.ts';
import { textCases } from './text.ts';
import { transferListCases } from './transfer-lists.ts';
import { transferCases } from './transfers.ts';

export type { ContractCase } from './case.ts';

/**
 * What every storage must do, as named cases that any test runner can host.
 *
 * @param create - makes a storage for one case: empty, used by nobody else, and **opened** (`open()` has
 * resolved). The case closes it; remove files or schemas after the run.
 *
 * @example
 * ```ts
 * import { storageContract } from '@ostiary/core/contract';
 * import { memoryStorage } from '@ostiary/core/memory';
 * import { test } from 'node:test';
 *
 * const create = async () => {
 *   const storage = memoryStorage();
 *   await storage.open();
 *   return storage;
 * };
 * for (const { name, run } of storageContract(create)) test(name, run);
 * ```
 */
export function storageContract(create: () => Promise<Storage>): ContractCase[] {
  return storageContractCases.map(({ name, run }) => ({
    name,
    async run() {
      const storage = await create();
      try {
        await run(storage);
      } finally {
        await storage.close();
      }
    },
  }));
}

const storageContractCases = [
  ...storageCases,
  ...clientCases,
  ...grantCases,
  ...redemptionCases,
  ...accessTokenCases,
  ...consentCases,
  ...interactionCases,
  ...signingKeyCases,
  ...queueCases,
  ...partnerCases,
  ...partnerConsentCases,
  ...apiKeyCases,
  ...rolledKeyCases,
  ...idempotencyCases,
  ...transferCases,
  ...replayCases,
  ...settlementCases,
  ...transferListCases,
  ...finalListCases,
  ...purgeCases,
  ...textCases,
];
