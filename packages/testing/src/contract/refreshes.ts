import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertSame, assertUnavailable, casesOf } from './case.ts';
import {
  connected,
  digestOf,
  hour,
  isLive,
  issued,
  minute,
  now,
  redeem,
  redeemed,
  refresh,
  refreshWithResult,
  sampleClient,
  sampleRefreshToken,
  sampleToken,
} from './samples.ts';

const day = 24 * hour;

const isAlive = (storage: Storage, label: string) => isLive(storage, sampleToken(label));

export const refreshCases = casesOf('refresh tokens', {
  'one is stored with the access token, and read back with its grant': async (storage) => {
    const { grant } = await connected(storage, 'a');
    const found = await storage.grants.findRefreshToken(sampleRefreshToken('a 1'));
    const consumed = { consumedAt: now + 1, revokedAt: null, failedVerifiers: 0 };
    assertSame(found, { ...grant, ...consumed });
    const without = await redeemed(storage, 'b');
    for (const digest of [digestOf('unknown'), grant.codeDigest, without.token.digest])
      assert.equal(await storage.grants.findRefreshToken({ family: digest }), null);
    assert.equal(await storage.grants.findToken(sampleRefreshToken('a 1').digest), null);
  },

  'a refused or replayed redemption stores none': async (storage) => {
    const { grant } = await connected(storage, 'a');
    const more = { refreshToken: sampleRefreshToken('more') };
    assert.equal(await redeem(storage, grant, sampleToken('more'), more), 'replayed');
    const expired = await issued(storage, 'expired', { expiresAt: now });
    assert.equal(await redeem(storage, expired, sampleToken('more'), more), 'refused');
    assert.equal(await storage.grants.findRefreshToken(more.refreshToken), null);
    assert.equal(await refresh(storage, 'a 1', 'a 2'), 'refused', 'the replay ended this one too');
  },

  'each use gives an access token and the next one': async (storage) => {
    const { token, grant } = await connected(storage, 'a');
    for (let use = 1; use <= 3; use += 1) {
      const at = { now: now + use * hour };
      assert.equal(await refresh(storage, `a ${use}`, `a ${use + 1}`, at), 'refreshed');
      const state = await storage.grants.findToken(sampleToken(`a ${use + 1}`).digest);
      const { expiresAt } = sampleToken('');
      const granted = { scopes: ['openid', 'profile'], resources: null };
      assertSame(state, {
        ...{ clientId: 'client-1', sub: 'user-1', ...granted, expiresAt, revoked: false },
        ...{ authenticatedAt: grant.authenticatedAt, acr: null, dpopJkt: null },
      });
    }
    assert.equal(await isLive(storage, token), true, 'earlier access tokens live out their time');
  },

  'an access token may have fewer scopes than its grant, and the next one all of them': async (storage) => {
    await connected(storage, 'a');
    await refresh(storage, 'a 1', 'a 2', { scopes: ['openid'] });
    await refresh(storage, 'a 2', 'a 3', { now: now + 2 * minute });
    const scopes = async (label: string) =>
      (await storage.grants.findToken(sampleToken(label).digest))?.scopes;
    assertSame([await scopes('a 2'), await scopes('a 3')], [['openid'], ['openid', 'profile']]);
    const found = await storage.grants.findRefreshToken(sampleRefreshToken('a 3'));
    assertSame(found?.scopes, ['openid', 'profile']);
  },

  'an access token may have fewer resources than its grant, and the next one all of them': async (
    storage,
  ) => {
    const [first, second] = ['https://first.example/api', 'https://second.example/api'];
    await connected(storage, 'a', { resources: [first, second] });
    await refresh(storage, 'a 1', 'a 2', { resources: [second] });
    await refresh(storage, 'a 2', 'a 3', { now: now + 2 * minute });
    const resources = async (label: string) =>
      (await storage.grants.findToken(sampleToken(label).digest))?.resources;
    assertSame([await resources('a 2'), await resources('a 3')], [[second], [first, second]]);
    const found = await storage.grants.findRefreshToken(sampleRefreshToken('a 3'));
    assertSame(found?.resources, [first, second]);
  },

  'an access token is bound to the key of its own refresh, and the grant stays as it was': async (
    storage,
  ) => {
    await connected(storage, 'a');
    await refresh(storage, 'a 1', 'a 2', { token: sampleToken('bound', { dpopJkt: 'key' }) });
    const found = await storage.grants.findToken(sampleToken('bound').digest);
    assert.equal(found?.dpopJkt, 'key');
    assert.equal((await storage.grants.findRefreshToken(sampleRefreshToken('a 2')))?.dpopJkt, null);
  },

  'one dies at its exact millisecond': async (storage) => {
    await connected(storage, 'early');
    await connected(storage, 'late');
    const { expiresAt } = sampleRefreshToken('');
    assert.equal(await refresh(storage, 'early 1', 'early 2', { now: expiresAt - 1 }), 'refreshed');
    assert.equal(await refresh(storage, 'late 1', 'late 2', { now: expiresAt }), 'refused');
  },

  'a refusal changes nothing': async (storage) => {
    const revoked = await connected(storage, 'revoked');
    await storage.grants.revoke(revoked.grant.codeDigest, now);
    await connected(storage, 'disabled', { clientId: 'client-2' });
    await storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, disabledAt: now }));
    for (const label of ['revoked 1', 'disabled 1', 'unknown']) {
      const token = sampleRefreshToken(label);
      const before = await storage.grants.findRefreshToken(token);
      assert.equal(await refresh(storage, label, 'next'), 'refused', label);
      assertSame(await storage.grants.findRefreshToken(token), before);
    }
    assert.equal(await storage.grants.findToken(sampleToken('next').digest), null);
    assert.equal(await storage.grants.findRefreshToken(sampleRefreshToken('next')), null);
  },

  'what cannot be stored leaves the token unused': async (storage) => {
    await connected(storage, 'a');
    await connected(storage, 'b');
    await assertUnavailable(() => refresh(storage, 'a 1', 'b 1'));
    await assertUnavailable(() => refresh(storage, 'a 1', 'b'));
    assert.equal(await refresh(storage, 'a 1', 'a 2'), 'refreshed');
    assert.equal(await refresh(storage, 'b 1', 'b 2'), 'refreshed');
  },

  'a grant keeps the live one and the one that it replaced, however often it is refreshed': async (
    storage,
  ) => {
    await connected(storage, 'a');
    const other = await connected(storage, 'other');
    for (let use = 1; use <= 10; use += 1) {
      const at = { now: now + use * minute };
      assert.equal(await refresh(storage, `a ${use}`, `a ${use + 1}`, at), 'refreshed');
    }
    const { expiresAt } = sampleRefreshToken('');
    const removed = await storage.purge({ now, before: expiresAt + 1, eventsBefore: 0, limit: 100 });
    assert.equal(removed.refreshTokens, 3);
    assert.equal(await storage.grants.find(other.grant.codeDigest), null);
  },

  'of the access tokens of a grant the newest are kept, as many as the call says': async (storage) => {
    const other = await connected(storage, 'other');
    await connected(storage, 'a');
    for (let use = 1; use <= 4; use += 1) {
      const token = sampleToken(`a use ${use}`, { issuedAt: now + use });
      const result = await refreshWithResult(storage, 'a 1', 'a 2', { token, maxAccessTokens: 3 });
      assert.equal(result.outcome, 'refreshed');
    }
    const living = await Promise.all(
      ['a', 'a use 1', 'a use 2', 'a use 3', 'a use 4'].map((label) => isAlive(storage, label)),
    );
    assertSame(living, [false, false, true, true, true]);
    assert.equal(await isLive(storage, other.token), true);
  },

  'an access token that is revoked leaves the refresh token alone': async (storage) => {
    const { token } = await connected(storage, 'a');
    await storage.grants.revokeToken(token.digest, now);
    assert.equal(await refresh(storage, 'a 1', 'a 2'), 'refreshed');
  },

  'they are purged when they ended, and their grant after them': async (storage) => {
    const { grant } = await connected(storage, 'a');
    const end = sampleRefreshToken('').expiresAt;
    const successor = sampleRefreshToken('a 2', { expiresAt: end + day });
    await refresh(storage, 'a 1', 'a 2', { successor });
    const purge = async (before: number, limit = 100) => {
      const { tokens, refreshTokens, grants } = await storage.purge({
        ...{ now, before, eventsBefore: 0, limit },
      });
      return { tokens, refreshTokens, grants };
    };
    assertSame(await purge(end), { tokens: 2, refreshTokens: 0, grants: 0 });
    assert.equal(await refresh(storage, 'a 1', 'x', { now: now + hour }), 'replayed', 'it is still known');
    assertSame(await purge(end + day), { tokens: 0, refreshTokens: 1, grants: 0 });
    assert.notEqual(await storage.grants.find(grant.codeDigest), null);
    const other = await connected(storage, 'b');
    await refresh(storage, 'b 1', 'b 2');
    assertSame(await purge(end + day + 1), { tokens: 2, refreshTokens: 3, grants: 2 });
    assert.equal(await storage.grants.find(other.grant.codeDigest), null);

    const last = await connected(storage, 'c');
    await refresh(storage, 'c 1', 'c 2');
    assertSame(await purge(end), { tokens: 2, refreshTokens: 0, grants: 0 });
    // Only refresh tokens keep the grant now.
    for (const grants of [0, 1]) {
      const counts = await purge(end + day + 1, 1);
      assertSame(counts, { tokens: 0, refreshTokens: 1, grants }, 'never a grant before its tokens');
    }
    assert.equal(await storage.grants.find(last.grant.codeDigest), null);
  },
});
