import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { alternating, assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import {
  connected,
  digestOf,
  graceMs,
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

  'one that was replaced ends its grant when it comes again, and no other': async (storage) => {
    const { grant, token } = await connected(storage, 'a');
    const other = await connected(storage, 'other');
    await refresh(storage, 'a 1', 'a 2');
    await refresh(storage, 'a 2', 'a 3', { now: now + 2 * minute });
    const at = now + 3 * minute;
    assert.equal(await refresh(storage, 'a 1', 'stolen', { now: at }), 'replayed');
    assert.equal((await storage.grants.find(grant.codeDigest))?.revokedAt, at);
    assert.equal(await storage.grants.findToken(sampleToken('stolen').digest), null);
    assert.equal(await refresh(storage, 'a 3', 'a 4', { now: at }), 'refused');
    assertSame(
      [await isLive(storage, token), await isAlive(storage, 'a 2'), await isAlive(storage, 'a 3')],
      [false, false, false],
    );
    assert.equal(await isLive(storage, other.token), true);
    assert.equal(await refresh(storage, 'other 1', 'other 2'), 'refreshed');
    assert.notEqual(await storage.consents.find('user-1', 'client-1'), null);
  },

  'any number of uses within the grace period give one successor, and an access token each': async (
    storage,
  ) => {
    await connected(storage, 'a');
    const first = sampleRefreshToken('a 2').digest;
    for (let use = 0; use < 5; use += 1) {
      const at = { now: now + minute + (use * graceMs) / 4, token: `a use ${use}` };
      const result = await refreshWithResult(storage, 'a 1', 'a 2', at);
      assert.deepEqual({ ...result }, { outcome: 'refreshed', successor: Buffer.from(first) });
    }
    for (let use = 0; use < 5; use += 1) assert.equal(await isAlive(storage, `a use ${use}`), true);
    assert.equal(await refresh(storage, 'a 2', 'a 3', { now: now + hour }), 'refreshed');
    assert.equal(await isAlive(storage, 'a use 0'), true);
  },

  'one that is its own successor stays valid until the new end, for any number of uses': async (storage) => {
    await connected(storage, 'a');
    const expiresAt = now + 40 * day;
    const successor = sampleRefreshToken('a 1', { expiresAt });
    for (let use = 0; use < 5; use += 1) {
      const at = { now: now + use * hour, token: `a use ${use}`, successor };
      const result = await refreshWithResult(storage, 'a 1', 'a 1', at);
      assert.deepEqual({ ...result }, { outcome: 'refreshed', successor: Buffer.from(successor.digest) });
      assert.equal(await isAlive(storage, `a use ${use}`), true);
    }
    const uses = Array.from({ length: 20 }, (_, use) =>
      refresh(storage, 'a 1', 'a 1', { token: `a at once ${use}`, successor }),
    );
    assertSame(countAnswers(await Promise.all(uses)), { refreshed: 20 });
    assert.equal(await refresh(storage, 'a 1', 'late', { now: expiresAt, successor }), 'refused');
    assert.equal(await refresh(storage, 'a 1', 'a 2', { now: expiresAt - 1 }), 'refreshed');
  },

  'each of these access tokens has the scopes that its use asked for': async (storage) => {
    await connected(storage, 'a');
    await refresh(storage, 'a 1', 'a 2', { scopes: ['openid'], token: 'narrow' });
    await refresh(storage, 'a 1', 'a 2', { token: 'whole' });
    const scopes = async (label: string) =>
      (await storage.grants.findToken(sampleToken(label).digest))?.scopes;
    assertSame([await scopes('narrow'), await scopes('whole')], [['openid'], ['openid', 'profile']]);
  },

  'the successor that was stored first stays, whoever derives others': async (storage) => {
    await connected(storage, 'a');
    const stored = sampleRefreshToken('a 2').digest;
    await refresh(storage, 'a 1', 'a 2');
    const changes = { otherSuccessors: [digestOf('another'), stored], token: 'a again' };
    const again = await refreshWithResult(storage, 'a 1', 'not stored', changes);
    assert.deepEqual({ ...again }, { outcome: 'refreshed', successor: Buffer.from(stored) });
    assert.equal(await storage.grants.findRefreshToken(sampleRefreshToken('not stored')), null);
    assert.equal(await isAlive(storage, 'a again'), true);

    const strange = { otherSuccessors: [digestOf('another')], token: 'a strange' };
    assert.equal(await refresh(storage, 'a 1', 'not stored', strange), 'unknown_successor');
    assert.equal(await storage.grants.findToken(sampleToken('a strange').digest), null);
    assert.equal(await refresh(storage, 'a 2', 'a 3'), 'refreshed', 'nothing has ended');
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

  'one that is not stored any more is found by its family, and ends its grant': async (storage) => {
    const { grant } = await connected(storage, 'a');
    const other = await connected(storage, 'other');
    for (const use of [1, 2, 3]) await refresh(storage, `a ${use}`, `a ${use + 1}`);
    const old = sampleRefreshToken('a 1');
    assertSame((await storage.grants.findRefreshToken(old))?.codeDigest, grant.codeDigest);
    assert.equal(await storage.grants.findRefreshToken({ ...old, family: digestOf('no family') }), null);
    assert.equal(await refresh(storage, 'a 1', 'a 2', { token: 'stolen' }), 'replayed');
    assert.equal(await isAlive(storage, 'stolen'), false);
    assert.equal(await isAlive(storage, 'a 4'), false);
    assert.equal(await refresh(storage, 'a 4', 'a 5'), 'refused');
    assert.equal(await isLive(storage, other.token), true);
    assert.equal(await refresh(storage, 'other 1', 'other 2'), 'refreshed');
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

  'old ones, their successors and live ones at once leave two rows, and one family or none': async (
    storage,
  ) => {
    for (let round = 0; round < 10; round += 1) {
      await connected(storage, `${round}`);
      for (const use of [1, 2]) await refresh(storage, `${round} ${use}`, `${round} ${use + 1}`);
      const outcomes: unknown[] = [];
      const uses = [1, 2, 2, 3, 3, 3];
      await alternating<unknown>(
        round,
        uses.map((use, index) => async () => {
          const at = { token: `${round} at once ${index}` };
          outcomes.push(await refresh(storage, `${round} ${use}`, `${round} ${use + 1}`, at));
        }),
      );
      assert.equal(outcomes.includes('replayed'), true);
      assert.notEqual(await refresh(storage, `${round} 4`, `${round} 5`), 'refreshed');
      for (const index of uses.keys())
        assert.equal(await isAlive(storage, `${round} at once ${index}`), false);
    }
    const before = sampleRefreshToken('').expiresAt + 1;
    const removed = await storage.purge({ now, before, eventsBefore: 0, limit: 100 });
    assert.ok(removed.refreshTokens <= 20, `${removed.refreshTokens} rows`);
  },

  'once its successor was used, or the grace period is over, it ends its grant': async (storage) => {
    const other = await connected(storage, 'other');
    await connected(storage, 'used');
    await refresh(storage, 'used 1', 'used 2');
    assert.equal(await refresh(storage, 'used 2', 'used 3'), 'refreshed');
    assert.equal(await refresh(storage, 'used 1', 'used 2', { token: 'used again' }), 'replayed');
    assert.equal(await refresh(storage, 'used 3', 'used 4'), 'refused');
    await connected(storage, 'late');
    await refresh(storage, 'late 1', 'late 2');
    const late = { now: now + minute + graceMs + 1, token: 'late again' };
    assert.equal(await refresh(storage, 'late 1', 'late 2', late), 'replayed');
    assert.equal(await refresh(storage, 'late 2', 'late 3', late), 'refused');
    for (const label of ['used', 'used 2', 'late', 'late 2'])
      assert.equal(await isAlive(storage, label), false);
    assert.equal(await isLive(storage, other.token), true);
  },

  'after the clock went back the grace period is over too, and a new access token is kept beside later ones':
    async (storage) => {
      await connected(storage, 'a');
      await refresh(storage, 'a 1', 'a 2');
      const back = { now: now - 60 * minute, maxAccessTokens: 1 };
      const token = sampleToken('a 3', { issuedAt: back.now });
      assert.equal(await refresh(storage, 'a 2', 'a 3', { ...back, token }), 'refreshed');
      assert.equal(await isAlive(storage, 'a 3'), true);
      assert.equal(await isAlive(storage, 'a 2'), false);
      await connected(storage, 'b');
      await refresh(storage, 'b 1', 'b 2');
      const again = { now: now + minute - graceMs - 1, token: 'b again' };
      assert.equal(await refresh(storage, 'b 1', 'b 2', again), 'replayed');
    },

  'an unused successor is given to nobody once the token or the grant has ended': async (storage) => {
    await connected(storage, 'ended');
    const { expiresAt } = sampleRefreshToken('');
    await refresh(storage, 'ended 1', 'ended 2', { now: expiresAt - 1 });
    assert.equal(await refresh(storage, 'ended 1', 'ended 2', { now: expiresAt, token: 'x' }), 'refused');
    const { grant } = await connected(storage, 'revoked');
    await refresh(storage, 'revoked 1', 'revoked 2');
    await storage.grants.revoke(grant.codeDigest, now + minute);
    assert.equal(await refresh(storage, 'revoked 1', 'revoked 2', { token: 'y' }), 'refused');
  },

  'of many uses at once each gets the same successor, and every access token lives': async (storage) => {
    for (let round = 0; round < 5; round += 1) {
      const { grant } = await connected(storage, `${round}`);
      const uses = Array.from({ length: 40 }, (_, use) => `${round} use ${use}`);
      const answers = await Promise.all(
        uses.map((token) => refresh(storage, `${round} 1`, `${round} 2`, { token })),
      );
      assertSame(countAnswers(answers), { refreshed: 40 });
      assert.equal((await storage.grants.find(grant.codeDigest))?.revokedAt, null);
      const living = await Promise.all(uses.map((token) => isAlive(storage, token)));
      assert.equal(living.includes(false), false);
      assert.equal(await refresh(storage, `${round} 2`, `${round} 3`), 'refreshed');
    }
  },

  'of uses at once that derive different successors one is stored, and the others are given that': async (
    storage,
  ) => {
    for (let round = 0; round < 10; round += 1) {
      await connected(storage, `${round}`);
      const labels = ['a', 'b', 'c'].map((key) => `${round} ${key}`);
      const otherSuccessors = labels.map((label) => sampleRefreshToken(label).digest);
      const results = await Promise.all(
        labels.map((next) => refreshWithResult(storage, `${round} 1`, next, { otherSuccessors })),
      );
      const given = results.map((result) =>
        result.outcome === 'refreshed' ? Buffer.from(result.successor).toString('hex') : result.outcome,
      );
      assert.equal(new Set(given).size, 1, given.join());
      for (const label of labels) assert.equal(await isAlive(storage, label), true);
      // Only the returned successor is stored: presenting it refreshes, and presenting another one revokes
      // the grant.
      const isGiven = (label: string) =>
        Buffer.from(sampleRefreshToken(label).digest).toString('hex') === given[0];
      const stored = labels.find(isGiven) ?? '';
      assert.equal(await refresh(storage, stored, `${round} d`), 'refreshed');
      const other = labels.find((label) => !isGiven(label)) ?? '';
      assert.equal(await refresh(storage, other, `${round} e`), 'replayed');
    }
  },

  'a use of the successor and another one of the token at once leave one family or none': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      await connected(storage, `${round}`);
      await refresh(storage, `${round} 1`, `${round} 2`);
      const outcomes: unknown[] = [];
      await alternating<unknown>(round, [
        async () =>
          outcomes.push(await refresh(storage, `${round} 1`, `${round} 2`, { token: `${round} again` })),
        async () => outcomes.push(await refresh(storage, `${round} 2`, `${round} 3`)),
      ]);
      const hasEnded = outcomes.includes('replayed');
      assert.equal(outcomes.includes('refreshed'), true);
      assert.equal(await isAlive(storage, `${round} 3`), !hasEnded);
      assert.equal(await refresh(storage, `${round} 3`, `${round} 4`), hasEnded ? 'refused' : 'refreshed');
    }
  },

  'a use and the end of its grant at once leave nothing alive': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      const { grant } = await connected(storage, `${round}`);
      await alternating<unknown>(round, [
        () => refresh(storage, `${round} 1`, `${round} 2`),
        () => storage.grants.revoke(grant.codeDigest, now + minute),
      ]);
      assert.equal(await isAlive(storage, `${round} 2`), false);
      assert.notEqual(await refresh(storage, `${round} 2`, `${round} 3`), 'refreshed');
    }
  },

  'an access token that is revoked leaves the refresh token alone': async (storage) => {
    const { token } = await connected(storage, 'a');
    await storage.grants.revokeToken(token.digest, now);
    assert.equal(await refresh(storage, 'a 1', 'a 2'), 'refreshed');
  },

  'refreshes of many grants at once do not disturb each other': async (storage) => {
    await inParallel(40, (index) => connected(storage, `${index}`));
    const answers = await inParallel(40, (index) => refresh(storage, `${index} 1`, `${index} 2`));
    assertSame(countAnswers(answers), { refreshed: 40 });
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
