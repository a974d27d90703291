import type { Storage } from '@ostiary/core/storage';
import { sampleAct } from './audit.ts';
import {
  acme,
  create,
  sampleApiKey,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
  settle,
} from './partner-samples.ts';
import { digestOf, now, sampleClient, sampleGrant, sampleKey, sampleToken } from './samples.ts';
import { claim, listed, recover, redeliver, sampleEndpoint } from './webhook-samples.ts';

/** Every call of every port, to be tried on a closed storage. */
export const everyCall: { readonly [name: string]: (storage: Storage) => Promise<unknown> } = {
  'clients.insert': ({ clients }) => clients.insert(sampleClient()),
  'clients.find': ({ clients }) => clients.find('client-1'),
  'clients.list': ({ clients }) => clients.list({ after: null, limit: 1 }),
  'clients.replace': ({ clients }) => clients.replace(sampleClient({ version: 2 })),
  'clients.originRegistered': ({ clients }) => clients.originRegistered('https://shop.example'),
  'grants.issue': ({ grants }) => grants.issue(sampleGrant('a')),
  'grants.find': ({ grants }) => grants.find(digestOf('a')),
  'grants.redeem': ({ grants }) =>
    grants.redeem({ codeDigest: digestOf('a'), token: sampleToken('a'), maxFailedVerifiers: 5, now }),
  'grants.recordFailedVerifier': ({ grants }) => grants.recordFailedVerifier(digestOf('a')),
  'grants.revoke': ({ grants }) => grants.revoke(digestOf('a'), now),
  'grants.findToken': ({ grants }) => grants.findToken(digestOf('a')),
  'grants.revokeToken': ({ grants }) => grants.revokeToken(digestOf('a'), now),
  'consents.find': ({ consents }) => consents.find('user-1', 'client-1'),
  'consents.list': ({ consents }) => consents.list('user-1'),
  'consents.remember': ({ consents }) =>
    consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: ['openid'], now }),
  'consents.revoke': ({ consents }) => consents.revoke('user-1', 'client-1', now),
  'consents.endUser': ({ consents }) => consents.endUser('user-1', now),
  'consents.partnerHolds': ({ consents }) =>
    consents.partnerHolds({ partner: 'acme', sub: 'user-1', scope: 'kyc' }),
  'interactions.save': ({ interactions }) => interactions.save(digestOf('a'), {}, now),
  'interactions.replace': ({ interactions }) => interactions.replace(digestOf('a'), {}, now),
  'interactions.count': ({ interactions }) => interactions.count(now),
  'interactions.extend': ({ interactions }) => interactions.extend(digestOf('a'), now),
  'interactions.find': ({ interactions }) => interactions.find(digestOf('a'), now),
  'interactions.remove': ({ interactions }) => interactions.remove(digestOf('a')),
  'signingKeys.list': ({ signingKeys }) => signingKeys.list(),
  'signingKeys.insertFirst': ({ signingKeys }) => signingKeys.insertFirst(sampleKey('a')),
  'signingKeys.insert': ({ signingKeys }) => signingKeys.insert(sampleKey('b')),
  'signingKeys.reseal': ({ signingKeys }) => signingKeys.reseal('a', 'sealed anew'),
  'signingKeys.remove': ({ signingKeys }) => signingKeys.remove('a'),
  'partners.insert': ({ partners }) => partners.insert(samplePartner()),
  'partners.find': ({ partners }) => partners.find('acme'),
  'partners.list': ({ partners }) => partners.list({ after: null, limit: 1 }),
  'partners.replace': ({ partners }) => partners.replace(samplePartner({ version: 2 })),
  'apiKeys.insert': ({ apiKeys }) => apiKeys.insert(sampleApiKey('a')),
  'apiKeys.find': ({ apiKeys }) => apiKeys.find('key_a'),
  'apiKeys.findByDigest': ({ apiKeys }) => apiKeys.findByDigest(digestOf('a')),
  'apiKeys.isLive': ({ apiKeys }) => apiKeys.isLive('key_a', now),
  'apiKeys.list': ({ apiKeys }) => apiKeys.list('acme'),
  'apiKeys.revoke': ({ apiKeys }) => apiKeys.revoke('key_a', now),
  'apiKeys.roll': ({ apiKeys }) =>
    apiKeys.roll({ id: 'key_a', successor: sampleApiKey('b'), endsAt: now, now }),
  'apiKeys.touch': ({ apiKeys }) => apiKeys.touch('key_a', now),
  'apiKeys.listSealed': ({ apiKeys }) => apiKeys.listSealed({ after: null, limit: 1 }),
  'apiKeys.reseal': ({ apiKeys }) =>
    apiKeys.reseal([{ id: 'key_a', before: 'sealed a', sealed: 'sealed anew' }]),
  'idempotency.find': ({ idempotency }) => idempotency.find({ ...sampleClaim('a'), now }),
  'transfers.create': (storage) => create(storage, sampleTransfer('a'), sampleClaim('a')),
  'transfers.find': ({ transfers }) => transfers.find(acme, 'tr_a'),
  'transfers.findById': ({ transfers }) => transfers.findById('tr_a'),
  'transfers.list': ({ transfers }) =>
    transfers.list({ ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 1 }),
  'transfers.settle': (storage) => settle(storage, { id: 'tr_a', status: 'completed', failure: null, now }),
  'transfers.listFinal': ({ transfers }) =>
    transfers.listFinal({ ...acme, from: 0, to: now, after: null, limit: 1 }),
  'webhooks.create': ({ webhooks }) =>
    webhooks.create({ endpoint: sampleEndpoint('a'), idempotency: sampleClaim('b'), max: 1, now }),
  'webhooks.find': ({ webhooks }) => webhooks.find(acme, 'we_a'),
  'webhooks.list': ({ webhooks }) => webhooks.list(acme),
  'webhooks.replace': ({ webhooks }) => webhooks.replace(sampleEndpoint('a', { version: 2 }), now),
  'webhooks.remove': ({ webhooks }) => webhooks.remove(acme, 'we_a', now),
  'webhooks.listSealed': ({ webhooks }) => webhooks.listSealed({ after: null, limit: 1 }),
  'webhooks.reseal': ({ webhooks }) =>
    webhooks.reseal([{ id: 'we_a', before: 'sealed a', sealed: 'sealed anew' }]),
  'events.publish': ({ events }) => events.publish([sampleEvent('a')], { idempotency: null, now }),
  'events.partnersHolding': ({ events }) => events.partnersHolding({ sub: 'user-1', scope: 'kyc' }),
  'events.list': ({ events }) => events.list({ ...acme, after: 0, limit: 1 }),
  'events.find': ({ events }) => events.find(acme, 'evt_a'),
  'deliveries.claim': (storage) => claim(storage, 'c'),
  'deliveries.finish': ({ deliveries }) =>
    deliveries.finish([{ id: 'dl_a', claimId: 'c', attempt: null, next: { status: 'dropped' } }]),
  'deliveries.list': (storage) => listed(storage),
  'deliveries.redeliver': (storage) => redeliver(storage, 'evt_a', 'again'),
  'deliveries.recover': (storage) => recover(storage, 'we_a', 'recovered'),
  'queue.enqueue': ({ queue }) => queue.enqueue([{ id: 'a', kind: 'k', payload: {}, dueAt: now }]),
  'queue.claim': ({ queue }) => queue.claim({ kinds: ['k'], claimId: 'c', now, leaseMs: 1, limit: 1 }),
  'queue.complete': ({ queue }) => queue.complete({ id: 'a', claimId: 'c' }),
  'queue.retry': ({ queue }) => queue.retry({ id: 'a', claimId: 'c' }, { dueAt: now, error: null }),
  'audit.append': ({ audit }) => audit.append(sampleAct('a')),
  'audit.head': ({ audit }) => audit.head(),
  'audit.chain': ({ audit }) => audit.chain({ after: 0, limit: 1 }),
  'audit.list': ({ audit }) => audit.list({ target: null, after: null, limit: 1 }),
  ping: (storage) => storage.ping(),
  purge: (storage) => storage.purge({ now, before: now, eventsBefore: now, limit: 1 }),
};
