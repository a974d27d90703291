import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { apiKeyCalls } from './api-keys.ts';
import { auditCalls } from './audit.ts';
import { assertSame, assertUnavailable, casesOf, inParallel } from './case.ts';
import { clientCalls } from './clients.ts';
import { consentCalls } from './consents.ts';
import { deliveryCalls } from './delivery-claims.ts';
import { eventCalls } from './events.ts';
import { grantCalls } from './grants.ts';
import { idempotencyCalls } from './idempotency.ts';
import { interactionCalls } from './interactions.ts';
import { sampleApiKey, samplePartner } from './partner-samples.ts';
import { partnerCalls } from './partners.ts';
import { queueCalls } from './queue.ts';
import {
  digestOf,
  isLive,
  issued,
  minute,
  now,
  redeemed,
  sampleClient,
  sampleGrant,
  sampleToken,
} from './samples.ts';
import { signingKeyCalls } from './signing-keys.ts';
import { transferCalls } from './transfers.ts';
import { webhookCalls } from './webhooks.ts';

const ports = {
  clients: clientCalls,
  grants: grantCalls,
  consents: consentCalls,
  interactions: interactionCalls,
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
};

/** Every call of every port, by its name. */
export const everyCall: readonly (readonly [string, (storage: Storage) => Promise<unknown>])[] = [
  ...Object.entries(ports).flatMap(([port, calls]) =>
    Object.entries(calls).map(([name, call]) => [`${port}.${name}`, call] as const),
  ),
  ['ping', (storage) => storage.ping()],
  ['purge', (storage) => storage.purge({ now, before: now, eventsBefore: now, limit: 1 })],
];

export const storageCases = casesOf('storage', {
  'a new storage is empty and answers': async (storage) => {
    await storage.ping();
    assertSame(await storage.clients.list({ after: null, limit: 100 }), []);
    assertSame(await storage.signingKeys.list(), []);
    assert.equal(await storage.clients.originRegistered('https://shop.example'), false);
  },

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
    assertSame(
      calls.map((call) => call.status),
      ['rejected', 'fulfilled', 'fulfilled'],
    );
    assert.notEqual(await storage.clients.find('beside it'), null);
    assert.notEqual(await storage.grants.find(sampleGrant('after it').codeDigest), null);
  },

  'what a caller holds is a copy': async (storage) => {
    const digest = Uint8Array.from(digestOf('secret'));
    const secrets = [{ digest, createdAt: now, expiresAt: null }];
    const redirectUris = ['https://shop.example/'];
    const inserting = storage.clients.insert(sampleClient({ secrets, redirectUris }));
    digest.fill(0);
    redirectUris.push('https://evil.example/');
    await inserting;

    const stored = {
      partnerDisabled: false,
      ...sampleClient({
        secrets: [{ digest: digestOf('secret'), createdAt: now, expiresAt: null }],
        redirectUris: ['https://shop.example/'],
      }),
    };
    const found = await storage.clients.find('client-1');
    assertSame(found, stored);
    (found?.secrets[0]?.digest ?? digest).fill(0);
    // Readonly types do not stop everybody: a cache behind the store would show this to the next caller.
    Object.assign(found?.redirectUris ?? [], ['https://evil.example/']);
    assertSame(await storage.clients.find('client-1'), stored);
  },

  'what a caller holds of a key is a copy': async (storage) => {
    await storage.partners.insert(samplePartner());
    const digest = Uint8Array.from(digestOf('key'));
    const scopes: 'webhooks'[] = ['webhooks'];
    const allowlist = ['192.0.2.0/24'];
    const inserting = storage.apiKeys.insert(sampleApiKey('a', { digest, scopes, allowlist }));
    digest.fill(0);
    scopes.push('webhooks');
    allowlist.push('0.0.0.0/0');
    await inserting;
    const stored = {
      ...sampleApiKey('a', {
        digest: digestOf('key'),
        scopes: ['webhooks'],
        allowlist: ['192.0.2.0/24'],
      }),
      partnerDisabled: false,
    };
    const found = await storage.apiKeys.findByDigest(digestOf('key'));
    assertSame(found, stored);
    found?.digest.fill(0);
    Object.assign(found?.scopes ?? [], ['payments:write']);
    Object.assign(found?.allowlist ?? [], ['0.0.0.0/0']);
    assertSame(await storage.apiKeys.findByDigest(digestOf('key')), stored);
  },

  'a digest that the caller reuses while a write waits is not followed': async (storage) => {
    const first = await issued(storage, 'first');
    const second = await issued(storage, 'second');
    const buffer = Uint8Array.from(first.codeDigest);
    const token = { ...sampleToken('a'), digest: Uint8Array.from(sampleToken('a').digest) };
    const redeeming = storage.grants.redeem({ codeDigest: buffer, token, maxFailedVerifiers: 5, now });
    buffer.set(second.codeDigest);
    token.digest.fill(0);
    assert.equal(await redeeming, 'redeemed');
    assert.equal((await storage.grants.find(first.codeDigest))?.consumedAt, now);
    assert.equal((await storage.grants.find(second.codeDigest))?.consumedAt, null);
    assert.equal(await isLive(storage, sampleToken('a')), true);
  },

  'a write that was answered is seen by the next read': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      await storage.interactions.save(digestOf('a'), { round }, now + minute);
      assertSame(await storage.interactions.find(digestOf('a'), now), { round });
    }
  },
});
