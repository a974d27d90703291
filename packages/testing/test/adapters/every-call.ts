import type { Storage } from '@ostiary/core/storage';
import { issuedKey } from '../../src/contract/api-keys.ts';
import { samplePartner } from '../../src/contract/partner-samples.ts';
import { issued, now, sampleClient } from '../../src/contract/samples.ts';
import { everyCall as calls } from '../../src/contract/storage.ts';
import { registered } from '../../src/contract/webhook-samples.ts';

const request = { bucket: 'b7', limit: 9, windowMs: 9, now: 1 };

/** Sample calls of the methods of a storage, by name, including rate limits if the storage shares them. */
export const everyCall: readonly (readonly [string, (storage: Storage) => Promise<unknown>])[] = [
  ...calls,
  [
    'clients.replace, which disables',
    ({ clients }) => clients.replace(sampleClient({ version: 3, disabledAt: now })),
  ],
  ['rateLimits.consume', async ({ rateLimits }) => rateLimits?.consume(request)],
  ['rateLimits.peek', async ({ rateLimits }) => rateLimits?.peek([request])],
];

/** Stores objects to which sample calls refer: a partner, a client, a grant, an API key and an endpoint. */
export async function storeSamples(storage: Storage): Promise<void> {
  await storage.partners.insert(samplePartner());
  await storage.clients.insert(sampleClient({ partner: 'acme' }));
  await issued(storage, 'earlier');
  await issuedKey(storage, 'a');
  await registered(storage, 'a');
}
