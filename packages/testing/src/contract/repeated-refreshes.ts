import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { alternating, assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import {
  connected,
  digestOf,
  graceMs,
  hour,
  isLive,
  minute,
  now,
  refresh,
  refreshWithResult,
  sampleRefreshToken,
  sampleToken,
} from './samples.ts';

const day = 24 * hour;

const isAlive = (storage: Storage, label: string) => isLive(storage, sampleToken(label));

/** Test cases of refresh tokens that are used more than once, one after the other or at the same time. */
export const repeatedRefreshCases = casesOf('refresh tokens', {
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
    assert.equal(await refresh(storage, 'a 1', 'stolen', { now: at + minute }), 'replayed');
    assert.equal((await storage.grants.find(grant.codeDigest))?.revokedAt, at, 'ended once');
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

  'one of another grant that is replaced in between changes nothing': async (storage) => {
    for (const label of ['a', 'other']) await connected(storage, label);
    await refresh(storage, 'a 1', 'a 2');
    await refresh(storage, 'other 1', 'other 2');
    assert.equal(await refresh(storage, 'a 1', 'a 2', { token: 'a again' }), 'refreshed');
    assert.equal(await isAlive(storage, 'a again'), true);
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

  'refreshes of many grants at once do not disturb each other': async (storage) => {
    await inParallel(40, (index) => connected(storage, `${index}`));
    const answers = await inParallel(40, (index) => refresh(storage, `${index} 1`, `${index} 2`));
    assertSame(countAnswers(answers), { refreshed: 40 });
  },
});
