import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertSame, casesOf, inParallel } from './case.ts';
import { assertOutcome, create, executions, sampleClaim, sampleTransfer } from './partner-samples.ts';
import {
  consented,
  digestOf,
  hour,
  isLive,
  issued,
  minute,
  now,
  redeem,
  redeemed,
  sampleGrant,
  sampleToken,
} from './samples.ts';

const day = 24 * hour;
const nothing = {
  interactions: 0,
  answers: 0,
  sandbox: 0,
  proofIds: 0,
  pushedRequests: 0,
  portal: 0,
  tokens: 0,
  refreshTokens: 0,
  grants: 0,
  idempotency: 0,
  events: 0,
  deliveries: 0,
  rateLimits: 0,
};

function purged(storage: Storage, request: Partial<Parameters<Storage['purge']>[0]> = {}) {
  return storage.purge({ now, before: now + day, eventsBefore: 0, limit: 100, ...request });
}

function isKept(storage: Storage, grant: { readonly codeDigest: Uint8Array }): Promise<boolean> {
  return storage.grants.find(grant.codeDigest).then((found) => found !== null);
}

export const purgeCases = casesOf('purge', {
  'an interaction goes after its last millisecond': async (storage) => {
    const { interactions } = storage;
    await interactions.save(digestOf('ended'), {}, now - 1);
    await interactions.save(digestOf('ends now'), {}, now);
    await interactions.save(digestOf('lives'), {}, now + 1);
    assertSame(await purged(storage, { before: now - day }), {
      ...nothing,
      interactions: 1,
    });
    assert.equal(await interactions.remove(digestOf('ended')), false);
    assert.equal(await interactions.remove(digestOf('ends now')), true);
    assertSame(await interactions.find(digestOf('lives'), now), {});
  },

  'an answer to an interaction goes after its last millisecond': async (storage) => {
    const { interactionAnswers } = storage;
    await interactionAnswers.save(digestOf('ended'), {}, now - 1);
    await interactionAnswers.save(digestOf('ends now'), {}, now);
    await interactionAnswers.save(digestOf('lives'), {}, now + 1);
    assertSame(await purged(storage, { before: now - day }), { ...nothing, answers: 1 });
    assert.equal(await interactionAnswers.find(digestOf('ended'), 0), null);
    assertSame(await interactionAnswers.find(digestOf('ends now'), 0), {});
    assertSame(await interactionAnswers.find(digestOf('lives'), 0), {});
  },

  'a record of the sandbox goes after its last millisecond': async (storage) => {
    const { sandbox } = storage;
    await sandbox.save(digestOf('ended'), {}, now - 1);
    await sandbox.save(digestOf('ends now'), {}, now);
    await sandbox.save(digestOf('lives'), {}, now + 1);
    assertSame(await purged(storage, { before: now - day }), { ...nothing, sandbox: 1 });
    assert.equal(await sandbox.find(digestOf('ended'), 0), null);
    assertSame(await sandbox.find(digestOf('ends now'), 0), {});
    assertSame(await sandbox.find(digestOf('lives'), 0), {});
  },

  'a pushed request goes after its last millisecond, used or not': async (storage) => {
    const push = (label: string, expiresAt: number) =>
      storage.pushedRequests.save({ digest: digestOf(label), clientId: 'client-1', payload: {}, expiresAt });
    await push('ended', now - 1);
    await push('ended and used', now - 1);
    await push('ends now', now);
    await storage.pushedRequests.use({ digest: digestOf('ended and used'), clientId: 'client-1' }, 0);
    assertSame(await purged(storage, { before: now - day }), { ...nothing, pushedRequests: 2 });
    const found = (label: string) =>
      storage.pushedRequests.find({ digest: digestOf(label), clientId: 'client-1' }, 0);
    assert.equal(await found('ended'), null);
    assertSame(await found('ends now'), { payload: {}, isUsed: false });
  },

  'a used id goes after its last millisecond': async (storage) => {
    const use = (label: string, expiresAt: number) =>
      storage.proofIds.use({ namespace: 'dpop', digest: digestOf(label), expiresAt, now: 0 });
    await use('ended', now - 1);
    await use('ends now', now);
    await use('lives', now + 1);
    assertSame(await purged(storage, { before: now - day }), { ...nothing, proofIds: 1 });
    assert.equal(await use('ended', now), true);
    assert.equal(await use('ends now', now), false);
    assert.equal(await use('lives', now), false);
  },

  'tokens and grants go when they ended before the given time': async (storage) => {
    const before = now + day;
    const purge = () => purged(storage, { before });
    const kept = await redeemed(storage, 'kept', {}, { expiresAt: before });
    const gone = await redeemed(storage, 'gone', {}, { expiresAt: before - 1 });
    const unusedKept = await issued(storage, 'unused, kept', { expiresAt: before });
    const unusedGone = await issued(storage, 'unused, gone', { expiresAt: before - 1 });

    assertSame(await purge(), { ...nothing, tokens: 1, grants: 2 });
    assert.equal(await isLive(storage, kept.token), true);
    assert.equal(await isKept(storage, kept.grant), true, 'a grant outlives its token');
    assert.equal(await isKept(storage, unusedKept), true);
    assert.equal(await storage.grants.findToken(gone.token.digest), null);
    assert.equal(await isKept(storage, gone.grant), false);
    assert.equal(await isKept(storage, unusedGone), false);
    assertSame(await purge(), nothing);
  },

  'a grant whose token is purged stays while its code has not ended': async (storage) => {
    const end = now + day;
    const { grant, token } = await redeemed(storage, 'a', { expiresAt: end }, { expiresAt: now + minute });
    const early = await purged(storage, { before: now + hour });
    assertSame(early, { ...nothing, tokens: 1 });
    assert.equal(await storage.grants.findToken(token.digest), null);
    assert.equal(await redeem(storage, grant, sampleToken('x')), 'replayed', 'a replay is still seen');
    assertSame(await purged(storage, { before: end }), nothing);
    assertSame(await purged(storage, { before: end + 1 }), {
      ...nothing,
      grants: 1,
    });
  },

  'revoked tokens and grants are kept as long as others': async (storage) => {
    const { grant, token } = await redeemed(storage, 'a');
    await storage.grants.revokeToken(token.digest, now);
    await storage.grants.revoke(grant.codeDigest, now);
    assertSame(await purged(storage, { before: token.expiresAt }), nothing);
    assert.equal((await storage.grants.findToken(token.digest))?.revoked, true);
  },

  'one call removes at most the limit of each kind, the oldest first, and never a grant before its token':
    async (storage) => {
      await consented(storage);
      const claimOf = (index: number) => sampleClaim(`ended ${index}`, { endsAt: now - 25 + index });
      await inParallel(25, async (index) => {
        const ended = sampleGrant(`ended ${index}`, { expiresAt: now + 10 * minute + index });
        assert.equal(await storage.grants.issue(ended), true);
        const token = sampleToken(`ended ${index}`, { expiresAt: now + minute + index });
        assert.equal(await redeem(storage, ended, token), 'redeemed');
        await storage.interactions.save(digestOf(`ended ${index}`), {}, now - 25 + index);
        await create(storage, sampleTransfer(`ended ${index}`), claimOf(index), now - day);
      });
      const live = await redeemed(storage, 'live', {}, { expiresAt: now + 9 * day });
      await create(storage, sampleTransfer('live'), sampleClaim('live'));

      const removed = { interactions: 0, idempotency: 0, tokens: 0, grants: 0 };
      for (let call = 0; call < 10 && removed.grants < 25; call += 1) {
        const count = await purged(storage, { limit: 10 });
        for (const kind of ['interactions', 'idempotency', 'tokens', 'grants'] as const) {
          assert.ok(count[kind] <= 10, `at most ten ${kind}`);
          removed[kind] += count[kind];
        }
        assert.ok(removed.grants <= removed.tokens);
        for (let index = 0; index < 25; index += 1) {
          // Tokens without a grant could never be found again, so remaining tokens must still have theirs.
          const token = await storage.grants.findToken(sampleToken(`ended ${index}`).digest);
          assert.equal(token === null, index < removed.tokens, `token ${index}`);
          const record = await storage.idempotency.find({ ...claimOf(index), now: now - day });
          assert.equal(record === null, index < removed.idempotency, `record ${index}`);
        }
      }
      assertSame(removed, { interactions: 25, idempotency: 25, tokens: 25, grants: 25 });
      assert.equal(await isLive(storage, live.token), true);
      assert.ok(await storage.idempotency.find({ ...sampleClaim('live'), now }));
    },

  'a record of an idempotency key goes after its last millisecond, and its transfer stays': async (
    storage,
  ) => {
    const ends = { ended: now - 1, 'ends now': now, lives: now + 1 };
    for (const [key, endsAt] of Object.entries(ends)) {
      const transfer = sampleTransfer(key, { reference: key });
      assertOutcome(await create(storage, transfer, sampleClaim(key, { endsAt }), now - day), 'created');
    }
    assertSame(await purged(storage), {
      ...nothing,
      idempotency: 1,
    });
    const keptAt = async (key: string) =>
      (await storage.idempotency.find({ ...sampleClaim(key), now: now - day })) !== null;
    assertSame([await keptAt('ended'), await keptAt('ends now'), await keptAt('lives')], [false, true, true]);
    assertSame(await executions(storage), ['tr_ended', 'tr_ends now', 'tr_lives']);
    const again = await create(storage, sampleTransfer('b', { reference: 'ended' }), sampleClaim('ended'));
    assertSame(again, { outcome: 'reference_conflict', transferId: 'tr_ended' });
    assertSame(await purged(storage), nothing);
  },

  'consents, clients, keys and jobs stay': async (storage) => {
    await consented(storage);
    await storage.queue.enqueue([{ id: 'a', kind: 'k', payload: {}, dueAt: now - 90 * day }]);
    await purged(storage, { before: now + 90 * day });
    assert.notEqual(await storage.clients.find('client-1'), null);
    assert.notEqual(await storage.consents.find('user-1', 'client-1'), null);
    const jobs = await storage.queue.claim({ kinds: ['k'], claimId: 'c', now, leaseMs: 1, limit: 1 });
    assert.equal(jobs.length, 1);
  },
});
