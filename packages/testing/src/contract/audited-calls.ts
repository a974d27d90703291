import type { AuditRecord, Storage } from '@ostiary/core/storage';
import { acme, sampleApiKey, sampleClaim, sampleEvent, samplePartner } from './partner-samples.ts';
import { linked, sampleLink, useOf } from './portal-samples.ts';
import { now, redeemed, sampleClient, sampleKey } from './samples.ts';
import { published, recover, redeliver, registered, sampleEndpoint } from './webhook-samples.ts';

/** A storage call that takes an audit record, made on a storage on which the call succeeds. */
interface AuditedCall {
  prepare?(storage: Storage): Promise<unknown>;
  act(storage: Storage, audit: AuditRecord): Promise<unknown>;
  /**
   * Repeats the call in a way that changes nothing; `null` for a call that always changes something. By
   * default the same call is made again.
   */
  readonly refused?: ((storage: Storage, audit: AuditRecord) => Promise<unknown>) | null;
}

/** Stores a partner with an API key. */
export async function withKey({ partners, apiKeys }: Storage): Promise<void> {
  await partners.insert(samplePartner());
  await apiKeys.insert(sampleApiKey('a'));
}

async function withEvent(storage: Storage): Promise<void> {
  await registered(storage, 'a');
  await published(storage, 'a');
}

/** Storage calls that take an audit record, by name. */
export const auditedCalls: Readonly<Record<string, AuditedCall>> = {
  'partners.insert': { act: ({ partners }, audit) => partners.insert(samplePartner(), audit) },
  'partners.replace': {
    prepare: ({ partners }) => partners.insert(samplePartner()),
    act: ({ partners }, audit) => partners.replace(samplePartner({ version: 2 }), audit),
  },
  'clients.insert': { act: ({ clients }, audit) => clients.insert(sampleClient(), audit) },
  'clients.replace': {
    prepare: ({ clients }) => clients.insert(sampleClient()),
    act: ({ clients }, audit) => clients.replace(sampleClient({ version: 2 }), audit),
  },
  'apiKeys.insert': {
    prepare: ({ partners }) => partners.insert(samplePartner()),
    act: ({ apiKeys }, audit) => apiKeys.insert(sampleApiKey('a'), audit),
  },
  'apiKeys.revoke': {
    prepare: withKey,
    act: ({ apiKeys }, audit) => apiKeys.revoke('key_a', now, audit),
  },
  'apiKeys.roll': {
    prepare: withKey,
    act: ({ apiKeys }, audit) =>
      apiKeys.roll({ id: 'key_a', successor: sampleApiKey('b'), endsAt: now + 1, now, audit }),
    refused: ({ apiKeys }, audit) =>
      apiKeys.roll({ id: 'key_x', successor: sampleApiKey('c'), endsAt: now + 1, now, audit }),
  },
  'signingKeys.insert': {
    act: ({ signingKeys }, audit) => signingKeys.insert(sampleKey('a'), audit),
    refused: null,
  },
  'consents.endUser': {
    prepare: (storage) => redeemed(storage, 'a'),
    act: ({ consents }, audit) => consents.endUser('user-1', now, [], audit),
    refused: null,
  },
  'portal.insert': {
    prepare: ({ partners }) => partners.insert(samplePartner()),
    act: ({ portal }, audit) => portal.insert(sampleLink('a'), audit),
  },
  'portal.open': {
    prepare: linked,
    act: ({ portal }, audit) => portal.open(useOf('a'), audit),
  },
  'portal.remove': {
    prepare: linked,
    act: ({ portal }, audit) => portal.remove('acme', 'a', audit),
  },
  'webhooks.create': {
    act: ({ webhooks }, audit) =>
      webhooks.create({ endpoint: sampleEndpoint('a'), idempotency: null, max: 1, now, audit }),
  },
  'webhooks.replace': {
    prepare: (storage) => registered(storage, 'a'),
    act: ({ webhooks }, audit) =>
      webhooks.replace(sampleEndpoint('a', { version: 2, enabled: false }), now, audit),
  },
  'webhooks.remove': {
    prepare: (storage) => registered(storage, 'a'),
    act: ({ webhooks }, audit) => webhooks.remove(acme, 'we_a', now, audit),
  },
  'events.publish': {
    // The key of the first call makes the second one a replay, which changes nothing.
    act: ({ events }, audit) =>
      events.publish([sampleEvent('a')], { idempotency: sampleClaim('key'), now, audit }),
  },
  'events.publish without a key': {
    act: ({ events }, audit) => events.publish([sampleEvent('a')], { idempotency: null, now, audit }),
    refused: null,
  },
  'deliveries.redeliver': {
    prepare: withEvent,
    act: (storage, audit) => redeliver(storage, 'evt_a', 'again', { audit }),
    refused: (storage, audit) => redeliver(storage, 'evt_x', 'once more', { audit }),
  },
  'deliveries.recover': {
    prepare: withEvent,
    act: (storage, audit) => recover(storage, 'we_a', 'recovered', { audit }),
    refused: (storage, audit) => recover(storage, 'we_x', 'once more', { audit }),
  },
};
