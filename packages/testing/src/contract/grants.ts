import assert from 'node:assert/strict';
import type { GrantRecord } from '@ostiary/core/storage';
import { alternating, assertSame, assertUnavailable, type Calls, casesOf, inParallel } from './case.ts';
import {
  consented,
  digestOf,
  issued,
  now,
  sampleClient,
  sampleGrant,
  sampleRefreshToken,
  sampleToken,
} from './samples.ts';

const resources = ['https://first.example/api', 'urn:b'];
const unused = { consumedAt: null, revokedAt: null, failedVerifiers: 0 };

export const grantCases = casesOf('grants', {
  'a grant is read back as it was issued': async (storage) => {
    const idTokenDetails = {
      ...{ acr: 'urn:example:"gold"', amr: ['pwd', 'otp'], claims: ['email', '__proto__', 'e\u0301'] },
    };
    const full = await issued(storage, 'full', { idTokenDetails });
    const bare = await issued(storage, 'bare', { codeChallenge: null, nonce: null, scopes: ['openid'] });
    const bound = await issued(storage, 'bound', { resources });
    assertSame(await storage.grants.find(full.codeDigest), { ...full, ...unused });
    assertSame(await storage.grants.find(bare.codeDigest), { ...bare, ...unused });
    assertSame(await storage.grants.find(bound.codeDigest), { ...bound, ...unused });
    const named = await issued(storage, 'named', { idTokenDetails: { claims: ['email'] } });
    assertSame(await storage.grants.find(named.codeDigest), { ...named, ...unused });
    assert.equal(await storage.grants.find(digestOf('unknown')), null);
  },

  'a grant needs an unrevoked consent of this user and client that has every scope and resource': async (
    storage,
  ) => {
    await consented(storage, { scopes: ['openid', 'profile', 'kyc', ...resources] });
    await consented(storage, { sub: 'user-2', scopes: ['openid', 'wallet:balance', 'urn:other'] });
    await consented(storage, { clientId: 'client-2', scopes: ['openid', 'wallet:balance', 'urn:other'] });
    await consented(storage, { sub: 'user-3' });
    await storage.consents.revoke('user-3', 'client-1', now);
    await storage.clients.insert(sampleClient({ clientId: 'client-3' }));

    const allowed: Partial<GrantRecord>[] = [
      { scopes: ['kyc', 'openid'] },
      { scopes: ['openid', 'profile', 'kyc'] },
      { scopes: [] },
      { resources },
      { scopes: ['openid'], resources: resources.slice(1) },
    ];
    for (const [index, changes] of allowed.entries()) {
      assert.equal(await storage.grants.issue(sampleGrant(`allowed ${index}`, changes)), true, `${index}`);
    }
    const refused: Record<string, Partial<GrantRecord>> = {
      'a scope that only another user or client approved': { scopes: ['openid', 'wallet:balance'] },
      'a scope in another case': { scopes: ['OpenID'] },
      'a part of a scope': { scopes: ['open'] },
      'a resource that only another user or client approved': { resources: [...resources, 'urn:other'] },
      'a resource in another case': { resources: ['https://first.example/API'] },
      'a part of a resource': { resources: ['https://first.example'] },
      'a revoked consent': { sub: 'user-3' },
      'a user without consent': { sub: 'user-4', scopes: [] },
      'a user in another case': { sub: 'USER-1' },
      'a client without consent': { clientId: 'client-3' },
      'an unknown client': { clientId: 'client-4' },
    };
    for (const [why, changes] of Object.entries(refused)) {
      const grant = sampleGrant(why, changes);
      assert.equal(await storage.grants.issue(grant), false, why);
      assert.equal(await storage.grants.find(grant.codeDigest), null, why);
    }
  },

  'no grant for a resource is left alive if the consent is given anew without it meanwhile': async (
    storage,
  ) => {
    const user = { sub: 'user-1', clientId: 'client-1' };
    for (let round = 0; round < 20; round += 1) {
      await consented(storage, { scopes: ['openid', 'profile', ...resources] });
      const grant = sampleGrant(`round ${round}`, { resources });
      await alternating<unknown>(round, [
        () => storage.grants.issue(grant),
        async () => {
          await storage.consents.revoke('user-1', 'client-1', now + 1);
          await storage.consents.remember({ ...user, scopes: ['openid', 'profile'], now: now + 1 });
        },
      ]);
      const state = await storage.grants.find(grant.codeDigest);
      assert.ok(state === null || state.revokedAt !== null, `round ${round}`);
      await storage.consents.revoke('user-1', 'client-1', now + 2);
    }
  },

  'a disabled client gets no grant': async (storage) => {
    await consented(storage);
    await storage.clients.replace(sampleClient({ version: 2, disabledAt: now }));
    const grant = sampleGrant('late');
    assert.equal(await storage.grants.issue(grant), false);
    assert.equal(await storage.grants.find(grant.codeDigest), null);
  },

  'a code digest that exists is an error and leaves the first grant alone': async (storage) => {
    const first = await issued(storage, 'a');
    await assertUnavailable(() => storage.grants.issue(sampleGrant('a', { nonce: 'another' })));
    assertSame(await storage.grants.find(first.codeDigest), { ...first, ...unused });
  },

  'parallel wrong verifiers all count, for their code only': async (storage) => {
    const attacked = await issued(storage, 'attacked');
    const other = await issued(storage, 'other');
    await inParallel(50, () => storage.grants.recordFailedVerifier(attacked.codeDigest));
    await storage.grants.recordFailedVerifier(digestOf('unknown'));
    assert.equal((await storage.grants.find(attacked.codeDigest))?.failedVerifiers, 50);
    assertSame(await storage.grants.find(other.codeDigest), { ...other, ...unused });
  },

  'revoking again, or an unknown grant, has no effect': async (storage) => {
    const grant = await issued(storage, 'a');
    await storage.grants.revoke(grant.codeDigest, now + 2);
    await storage.grants.revoke(grant.codeDigest, now + 9);
    await storage.grants.revoke(digestOf('unknown'), now + 9);
    assertSame(await storage.grants.find(grant.codeDigest), { ...grant, ...unused, revokedAt: now + 2 });
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const grantCalls: Calls<'grants'> = {
  issue: ({ grants }) => grants.issue(sampleGrant('a')),
  find: ({ grants }) => grants.find(digestOf('a')),
  redeem: ({ grants }) =>
    grants.redeem({
      codeDigest: digestOf('a'),
      token: sampleToken('a'),
      refreshToken: null,
      ...{ maxFailedVerifiers: 5, now },
    }),
  findRefreshToken: ({ grants }) => grants.findRefreshToken(sampleRefreshToken('a')),
  refresh: ({ grants }) =>
    grants.refresh({
      presented: sampleRefreshToken('a'),
      successor: sampleRefreshToken('a'),
      otherSuccessors: [digestOf('b')],
      token: sampleToken('a'),
      ...{ graceMs: 0, maxAccessTokens: 10, now },
    }),
  recordFailedVerifier: ({ grants }) => grants.recordFailedVerifier(digestOf('a')),
  revoke: ({ grants }) => grants.revoke(digestOf('a'), now),
  findToken: ({ grants }) => grants.findToken(digestOf('a')),
  revokeToken: ({ grants }) => grants.revokeToken(digestOf('a'), now),
};
