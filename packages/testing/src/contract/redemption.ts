import assert from 'node:assert/strict';
import { assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import {
  digestOf,
  isLive,
  issued,
  minute,
  now,
  redeem,
  redeemed,
  sampleClient,
  sampleGrant,
  sampleToken,
} from './samples.ts';

export const redemptionCases = casesOf('redemption', {
  'a code is consumed and its token stored': async (storage) => {
    const grant = await issued(storage, 'a');
    assert.equal(await redeem(storage, grant, sampleToken('a'), { now: now + 7 }), 'redeemed');
    const consumed = { consumedAt: now + 7, revokedAt: null, failedVerifiers: 0 };
    assertSame(await storage.grants.find(grant.codeDigest), { ...grant, ...consumed });
    assertSame(await storage.grants.findToken(sampleToken('a').digest), {
      clientId: 'client-1',
      sub: 'user-1',
      scopes: ['openid', 'profile'],
      resources: null,
      expiresAt: sampleToken('a').expiresAt,
      dpopJkt: null,
      revoked: false,
      authenticatedAt: grant.authenticatedAt,
      acr: null,
    });
  },

  'a token is read with the class of its sign-in': async (storage) => {
    const acr = 'urn:example:"gold"';
    const [classed, named] = [{ acr, amr: ['pwd'] }, { claims: ['email'] }];
    for (const [label, idTokenDetails] of Object.entries({ classed, named }))
      await redeemed(storage, label, { idTokenDetails });
    assert.equal((await storage.grants.findToken(sampleToken('classed').digest))?.acr, acr);
    assert.equal((await storage.grants.findToken(sampleToken('named').digest))?.acr, null);
  },

  'a token has the resources and scopes of its grant, or those that its exchange asked for': async (
    storage,
  ) => {
    const [first, second] = ['https://first.example/api', 'https://second.example/api'];
    const granted = { scopes: ['openid', 'profile'], resources: [first, second] };
    const narrow = { scopes: ['openid'], resources: [second] };
    const grants = await Promise.all(['whole', 'narrow'].map((label) => issued(storage, label, granted)));
    const [whole = sampleGrant('whole'), part = sampleGrant('narrow')] = grants;
    const tokens = [sampleToken('whole'), sampleToken('narrow', narrow)] as const;
    await Promise.all([redeem(storage, whole, tokens[0]), redeem(storage, part, tokens[1])]);
    const [ofWhole, ofPart] = await Promise.all(tokens.map(({ digest }) => storage.grants.findToken(digest)));
    assertSame([ofWhole?.scopes, ofWhole?.resources], [granted.scopes, granted.resources]);
    assertSame([ofPart?.scopes, ofPart?.resources], [narrow.scopes, narrow.resources]);
    assertSame((await storage.grants.find(part.codeDigest))?.resources, granted.resources);
  },

  'a token is bound to its key, and its grant to the key of the code or else of the token': async (
    storage,
  ) => {
    const free = await issued(storage, 'free');
    const bound = await issued(storage, 'bound', { dpopJkt: 'key of the code' });
    const token = sampleToken('a', { dpopJkt: 'key' });
    await redeem(storage, free, token);
    await redeem(storage, bound, sampleToken('b', { dpopJkt: 'another key' }));
    assert.equal((await storage.grants.findToken(token.digest))?.dpopJkt, 'key');
    assert.equal((await storage.grants.find(free.codeDigest))?.dpopJkt, 'key');
    assert.equal((await storage.grants.find(bound.codeDigest))?.dpopJkt, 'key of the code');
  },

  'of tokens that are stored together each has its own key': async (storage) => {
    const labels = ['a', 'b', 'c', 'd'];
    const grants = await Promise.all(labels.map((label) => issued(storage, label)));
    const tokens = labels.map((label, index) =>
      sampleToken(label, { dpopJkt: index % 2 === 0 ? `key ${label}` : null }),
    );
    await Promise.all(grants.map((grant, index) => redeem(storage, grant, tokens[index] ?? sampleToken(''))));
    const found = await Promise.all(tokens.map(({ digest }) => storage.grants.findToken(digest)));
    assertSame(
      found.map((state) => state?.dpopJkt),
      ['key a', null, 'key c', null],
    );
  },

  'a code dies at its exact millisecond': async (storage) => {
    const early = await issued(storage, 'early');
    const late = await issued(storage, 'late');
    assert.equal(
      await redeem(storage, early, sampleToken('early'), { now: early.expiresAt - 1 }),
      'redeemed',
    );
    assert.equal(await redeem(storage, late, sampleToken('late'), { now: late.expiresAt }), 'refused');
  },

  'wrong verifiers burn the code when they reach the limit': async (storage) => {
    const grant = await issued(storage, 'a');
    await inParallel(5, () => storage.grants.recordFailedVerifier(grant.codeDigest));
    assert.equal(await redeem(storage, grant, sampleToken('a'), { maxFailedVerifiers: 5 }), 'refused');
    assert.equal(await redeem(storage, grant, sampleToken('a'), { maxFailedVerifiers: 6 }), 'redeemed');
  },

  'a refusal changes nothing': async (storage) => {
    const revoked = await issued(storage, 'revoked');
    await storage.grants.revoke(revoked.codeDigest, now);
    const expired = await issued(storage, 'expired', { expiresAt: now });
    const burned = await issued(storage, 'burned');
    await inParallel(5, () => storage.grants.recordFailedVerifier(burned.codeDigest));
    const disabled = await issued(storage, 'disabled', { clientId: 'client-2' });
    await storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, disabledAt: now }));

    for (const grant of [revoked, expired, burned, disabled, sampleGrant('unknown')]) {
      const before = await storage.grants.find(grant.codeDigest);
      assert.equal(await redeem(storage, grant, sampleToken('refused')), 'refused');
      assertSame(await storage.grants.find(grant.codeDigest), before);
    }
    assert.equal(await storage.grants.findToken(sampleToken('refused').digest), null);
  },

  'a token that cannot be stored leaves the code unused': async (storage) => {
    const { token } = await redeemed(storage, 'first');
    const grant = await issued(storage, 'second');
    await assertUnavailable(() => redeem(storage, grant, token));
    assert.equal((await storage.grants.find(grant.codeDigest))?.consumedAt, null);
    assert.equal(await redeem(storage, grant, sampleToken('second')), 'redeemed');
    assert.equal(await isLive(storage, token), true);
  },

  'a replay revokes the grant, stores no token and touches no other grant': async (storage) => {
    const { grant, token } = await redeemed(storage, 'a');
    const other = await redeemed(storage, 'other');
    assert.equal(await redeem(storage, grant, sampleToken('replay'), { now: now + 9 }), 'replayed');

    const state = await storage.grants.find(grant.codeDigest);
    assert.equal(state?.consumedAt, now + 1, 'the first use stays on record');
    assert.equal(state?.revokedAt, now + 9);
    assert.equal(await isLive(storage, token), false);
    assert.equal(await storage.grants.findToken(sampleToken('replay').digest), null);
    assert.equal(await isLive(storage, other.token), true);
    assert.notEqual(await storage.consents.find('user-1', 'client-1'), null);
  },

  'a replay counts whatever became of the code': async (storage) => {
    const expired = await redeemed(storage, 'expired');
    const at = expired.grant.expiresAt + minute;
    assert.equal(await redeem(storage, expired.grant, sampleToken('x'), { now: at }), 'replayed');
    assert.equal(await isLive(storage, expired.token), false, 'its token outlives the code, and dies now');

    const burned = await redeemed(storage, 'burned');
    await inParallel(5, () => storage.grants.recordFailedVerifier(burned.grant.codeDigest));
    assert.equal(await redeem(storage, burned.grant, sampleToken('x')), 'replayed');
    assert.equal(await isLive(storage, burned.token), false);

    const revoked = await redeemed(storage, 'revoked');
    await storage.grants.revoke(revoked.grant.codeDigest, now + 2);
    assert.equal(await redeem(storage, revoked.grant, sampleToken('x'), { now: now + 9 }), 'replayed');
    assert.equal((await storage.grants.find(revoked.grant.codeDigest))?.revokedAt, now + 2);

    const disabled = await redeemed(storage, 'disabled', { clientId: 'client-2' });
    await storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, disabledAt: now }));
    assert.equal(await redeem(storage, disabled.grant, sampleToken('x')), 'replayed');
  },

  'of many parallel redemptions exactly one wins, and its token is dead': async (storage) => {
    for (let round = 0; round < 5; round += 1) {
      const grant = await issued(storage, `round ${round}`);
      const tokens = Array.from({ length: 40 }, (_, index) => sampleToken(`${round}.${index}`));
      const answers = await Promise.all(tokens.map((token) => redeem(storage, grant, token)));
      assertSame(countAnswers(answers), { redeemed: 1, replayed: 39 });

      const winner = answers.indexOf('redeemed');
      for (const [index, token] of tokens.entries()) {
        const state = await storage.grants.findToken(token.digest);
        assert.equal(state !== null, index === winner, 'only the winner has a token');
        if (state !== null) assert.equal(state.revoked, true, 'the losers revoked the grant');
      }
    }
  },

  'a replay that races the winner kills the token that is just being stored': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      const grant = await issued(storage, `round ${round}`);
      const tokens = [sampleToken(`${round} a`), sampleToken(`${round} b`)];
      const answers = await Promise.all(tokens.map((token) => redeem(storage, grant, token)));
      assertSame(countAnswers(answers), { redeemed: 1, replayed: 1 });
      for (const token of tokens) assert.equal(await isLive(storage, token), false);
    }
  },
});

export const accessTokenCases = casesOf('access tokens', {
  'an unknown token is null': async (storage) => {
    const { grant } = await redeemed(storage, 'a');
    assert.equal(await storage.grants.findToken(digestOf('unknown')), null);
    assert.equal(await storage.grants.findToken(grant.codeDigest), null, 'a code is no token');
    assert.equal(await storage.grants.revokeToken(digestOf('unknown'), now), null);
  },

  'a token is found whatever its state is': async (storage) => {
    const expired = await redeemed(storage, 'expired', {}, { expiresAt: now - 1 });
    const state = await storage.grants.findToken(expired.token.digest);
    assertSame([state?.expiresAt, state?.revoked], [now - 1, false], 'expiry is judged by the caller');
    await storage.grants.revokeToken(expired.token.digest, now + 2);
    assert.equal((await storage.grants.findToken(expired.token.digest))?.revoked, true);
  },

  'revoking is repeatable, in parallel too': async (storage) => {
    const { grant, token } = await redeemed(storage, 'a', { clientId: 'client-2' });
    const answers = await inParallel(10, () => storage.grants.revokeToken(token.digest, now + 2));
    assertSame(answers, Array(10).fill({ clientId: 'client-2' }));
    await storage.grants.revoke(grant.codeDigest, now + 3);
    assertSame(await storage.grants.revokeToken(token.digest, now + 4), { clientId: 'client-2' });
    assert.equal(await isLive(storage, token), false);
  },
});
