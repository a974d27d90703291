import assert from 'node:assert/strict';
import type { PortalSessionRecord, Storage } from '@ostiary/core/storage';
import { samplePartner } from './partner-samples.ts';
import { digestOf, hour, minute, now } from './samples.ts';

/**
 * Time at which an unused sample link to a partner's portal expires, in milliseconds since the Unix epoch.
 */
export const ends = now + 10 * minute;

/** Makes the record of an unused link to the portal of the partner `acme`. */
export function sampleLink(id: string, changes: Partial<PortalSessionRecord> = {}) {
  const link: PortalSessionRecord = {
    ...{ id, partner: 'acme', rights: 'manage', madeBy: 'ana@example.com' },
    ...{ createdAt: now, openedAt: null, expiresAt: ends },
    ...changes,
  };
  return { ...link, digest: digestOf(`link ${id}`) };
}

/** Makes the arguments of a call that uses a link of {@link sampleLink}. */
export const useOf = (id: string, at = now) => ({
  digest: digestOf(`link ${id}`),
  sessionDigest: digestOf(`session ${id}`),
  now: at,
  expiresAt: at + hour,
});

/** Stores two partners, and a portal link for each. */
export async function linked(storage: Storage): Promise<void> {
  for (const slug of ['acme', 'other']) await storage.partners.insert(samplePartner({ slug }));
  assert.equal(await storage.portal.insert(sampleLink('a')), true);
  assert.equal(await storage.portal.insert(sampleLink('b', { partner: 'other', rights: 'view' })), true);
}
