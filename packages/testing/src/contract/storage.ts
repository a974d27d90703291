import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { apiKeyCalls } from './api-keys.ts';
import { auditCalls } from './audit.ts';
import { assertFields, assertSame, assertUnavailable, casesOf, inParallel } from './case.ts';
import { clientDocumentCalls } from './client-documents.ts';
import { clientCalls } from './clients.ts';
import { consentCalls } from './consents.ts';
import { deliveryCalls } from './delivery-claims.ts';
import { eventCalls } from './events.ts';
import { grantCalls } from './grants.ts';
import { hourlyCountCalls } from './hourly-counts.ts';
import { idempotencyCalls } from './idempotency.ts';
import { inboxCalls } from './inbox.ts';
import { interactionAnswerCalls } from './interaction-answers.ts';
import { interactionCalls } from './interactions.ts';
import { noticeCalls } from './notices.ts';
import { partnerCalls } from './partners.ts';
import { portalCalls } from './portal.ts';
import { pushedRequestCalls } from './pushed-requests.ts';
import { queueCalls } from './queue.ts';
import { requestLogCalls } from './request-log.ts';
import { digestOf, minute, now, redeemed, sampleClient, sampleGrant } from './samples.ts';
import { sandboxCalls } from './sandbox.ts';
import { signingKeyCalls } from './signing-keys.ts';
import { transferCalls } from './transfers.ts';
import { usedIdCalls } from './used-ids.ts';
import { boundWaitsCall } from './waits.ts';
import { webhookCalls } from './webhooks.ts';

const ports = {
  clients: clientCalls,
  grants: grantCalls,
  consents: consentCalls,
  interactions: interactionCalls,
  interactionAnswers: interactionAnswerCalls,
  signingKeys: signingKeyCalls,
  partners: partnerCalls,
  apiKeys: apiKeyCalls,
  idempotency: idempotencyCalls,
  transfers: transferCalls,
  webhooks: webhookCalls,
  events: eventCalls,
  deliveries: deliveryCalls,
  queue: queueCalls,
  audit: auditCalls,
  requestLog: requestLogCalls,
  inbox: inboxCalls,
  hourlyCounts: hourlyCountCalls,
  notices: noticeCalls,
  sandbox: sandboxCalls,
  proofIds: usedIdCalls,
  pushedRequests: pushedRequestCalls,
  portal: portalCalls,
  clientDocuments: clientDocumentCalls,
};

/**
 * Sample calls of the methods of a storage, by name. Left out are optional parts of the storage, `within`,
 * `open` and `close`.
 */
export const everyCall: readonly (readonly [string, (storage: Storage) => Promise<unknown>])[] = [
  ...Object.entries(ports).flatMap(([port, calls]) =>
    Object.entries(calls).map(([name, call]) => [`${port}.${name}`, call] as const),
  ),
  ['ping', (storage) => storage.ping()],
  ['survey', (storage) => storage.survey({ now, droppedSince: now, sealedWith: 'v1.', limit: 1, shown: 1 })],
  ['purge', (storage) => storage.purge({ now, before: now, eventsBefore: now, limit: 1 })],
  ['boundWaits', boundWaitsCall],
];

export const storageCases = casesOf('storage', {
  'every call answers on an empty storage': async (storage) => {
    for (const [, call] of everyCall) await call(storage);
  },

  'every call after close is refused as unavailable': async (storage) => {
    await storage.close();
    for (const [name, call] of everyCall) await assertUnavailable(() => call(storage), name);
  },

  'close can be called again, in parallel too': async (storage) => {
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  },

  'close waits for writes under way': async (storage) => {
    const writes = inParallel(10, (index) => storage.clients.insert(sampleClient({ clientId: `c${index}` })));
    const closed = storage.close();
    assertSame(await writes, Array(10).fill(true));
    await closed;
  },

  'a call that was refused leaves the storage usable': async (storage) => {
    const { grant } = await redeemed(storage, 'a');
    const calls = await Promise.allSettled([
      storage.grants.issue(grant),
      storage.clients.insert(sampleClient({ clientId: 'beside it' })),
      storage.grants.issue(sampleGrant('after it')),
    ]);
    assertFields(calls, 'status', ['rejected', 'fulfilled', 'fulfilled']);
    assert.notEqual(await storage.clients.find('beside it'), null);
    assert.notEqual(await storage.grants.find(sampleGrant('after it').codeDigest), null);
  },

  'a write that was answered is seen by the next read': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      await storage.interactions.save(digestOf('a'), { round }, now + minute);
      assertSame(await storage.interactions.find(digestOf('a'), now), { round });
    }
  },
});
