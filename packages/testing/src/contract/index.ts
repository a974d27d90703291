import type { Storage } from '@ostiary/core/storage';
import { accessEndCases } from './access-ends.ts';
import { apiKeyCases } from './api-keys.ts';
import { auditCases } from './audit.ts';
import type { ContractCase } from './case.ts';
import { clientDocumentCases } from './client-documents.ts';
import { clientCases } from './clients.ts';
import { consentCases } from './consents.ts';
import { copyCases } from './copies.ts';
import { deliveryBatchCases } from './delivery-batches.ts';
import { deliveryClaimCases } from './delivery-claims.ts';
import { deliveryEndCases } from './delivery-ends.ts';
import { deliveryListCases } from './delivery-lists.ts';
import { deliveryResultCases } from './delivery-results.ts';
import { eventPurgeCases } from './event-purge.ts';
import { eventSizeCases } from './event-sizes.ts';
import { eventCases } from './events.ts';
import { everywhereCases } from './everywhere.ts';
import { failureCases } from './failures.ts';
import { fanOutCases } from './fan-out.ts';
import { finalListCases } from './final-lists.ts';
import { grantCases } from './grants.ts';
import { holderCases } from './holders.ts';
import { hourlyCountCases } from './hourly-counts.ts';
import { idempotencyCases } from './idempotency.ts';
import { inboxCases } from './inbox.ts';
import { interactionAnswerCases } from './interaction-answers.ts';
import { interactionCases } from './interactions.ts';
import { keyedRequestCases } from './keyed-requests.ts';
import { leaseCases } from './leases.ts';
import { lookUpCases } from './look-ups.ts';
import { noticeCases } from './notices.ts';
import { parallelCases } from './parallel-calls.ts';
import { partnerEndCases } from './partner-ends.ts';
import { partnerCases } from './partners.ts';
import { portalCases } from './portal.ts';
import { purgeCases } from './purge.ts';
import { pushedRequestCases } from './pushed-requests.ts';
import { queueCases } from './queue.ts';
import { separateRateLimitCases, sharedRateLimitCases } from './rate-limits.ts';
import { recoveryCases } from './recoveries.ts';
import { redeliveryCases } from './redeliveries.ts';
import { accessTokenCases, redemptionCases } from './redemption.ts';
import { refreshCases } from './refreshes.ts';
import { repeatedRefreshCases } from './repeated-refreshes.ts';
import { requestLogCases } from './request-log.ts';
import { rolledKeyCases } from './rolled-keys.ts';
import { sandboxCases } from './sandbox.ts';
import { sealedSecretCases } from './sealed-secrets.ts';
import { settlementCases } from './settlement.ts';
import { signingKeyCases } from './signing-keys.ts';
import { sortedListCases } from './sorted-lists.ts';
import { storageCases } from './storage.ts';
import { surveyCases } from './survey.ts';
import { textCases } from './text.ts';
import { noTimeCases, timeCases } from './time.ts';
import { transferListCases } from './transfer-lists.ts';
import { transferCases } from './transfers.ts';
import { usedIdCases } from './used-ids.ts';
import { waitCases } from './waits.ts';
import { noWakeUpCases, wakeUpCases } from './wake-ups.ts';
import { webhookCases } from './webhooks.ts';

export type { ContractCase } from './case.ts';

/** Optional parts of a storage. */
export interface OptionalParts {
  /** True if the storage shares rate limit counts between processes. @defaultValue false */
  readonly rateLimits?: boolean;
  /** True if the storage reports the time of its database. @defaultValue false */
  readonly time?: boolean;
  /** True if the storage's processes notify each other of new work. @defaultValue false */
  readonly wakeUps?: boolean;
}

/**
 * Returns the cases that every storage must pass. Any test runner can run them.
 *
 * @param create - creates a storage for one case: empty, used by no other case, and **opened** (`open()` has
 * resolved). The case closes it; remove files or schemas after the run.
 * @param parts - optional parts that the storage has; a case fails if the storage has a part that is not named
 *
 * @example
 * ```ts
 * import { storageContract } from '@ostiary/testing/contract';
 * import { memoryStorage } from '@ostiary/testing/memory';
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
export function storageContract(
  create: () => Promise<Storage>,
  { rateLimits = false, time = false, wakeUps = false }: OptionalParts = {},
): ContractCase[] {
  const cases = [
    ...storageContractCases,
    ...(rateLimits ? sharedRateLimitCases : separateRateLimitCases),
    ...(time ? timeCases : noTimeCases),
    ...(wakeUps ? wakeUpCases : noWakeUpCases),
  ];
  return cases.map(({ name, run }) => ({
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
  ...copyCases,
  ...clientCases,
  ...clientDocumentCases,
  ...grantCases,
  ...redemptionCases,
  ...accessTokenCases,
  ...refreshCases,
  ...repeatedRefreshCases,
  ...accessEndCases,
  ...consentCases,
  ...interactionCases,
  ...interactionAnswerCases,
  ...sandboxCases,
  ...usedIdCases,
  ...pushedRequestCases,
  ...signingKeyCases,
  ...queueCases,
  ...partnerCases,
  ...sortedListCases,
  ...lookUpCases,
  ...partnerEndCases,
  ...portalCases,
  ...apiKeyCases,
  ...rolledKeyCases,
  ...idempotencyCases,
  ...transferCases,
  ...keyedRequestCases,
  ...settlementCases,
  ...transferListCases,
  ...finalListCases,
  ...webhookCases,
  ...sealedSecretCases,
  ...eventCases,
  ...holderCases,
  ...fanOutCases,
  ...deliveryClaimCases,
  ...leaseCases,
  ...deliveryResultCases,
  ...deliveryBatchCases,
  ...deliveryListCases,
  ...everywhereCases,
  ...failureCases,
  ...deliveryEndCases,
  ...redeliveryCases,
  ...recoveryCases,
  ...parallelCases,
  ...purgeCases,
  ...eventPurgeCases,
  ...eventSizeCases,
  ...waitCases,
  ...auditCases,
  ...requestLogCases,
  ...inboxCases,
  ...hourlyCountCases,
  ...noticeCases,
  ...surveyCases,
  ...textCases,
];
