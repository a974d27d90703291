import assert from 'node:assert/strict';
import type { ApiKeyRecord, Storage } from '@ostiary/core/storage';
import { issuedKey } from './api-keys.ts';
import { assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import { sampleApiKey } from './partner-samples.ts';
import { hour, now } from './samples.ts';

function roll(
  { apiKeys }: Storage,
  { id }: Pick<ApiKeyRecord, 'id'>,
  successor: ApiKeyRecord,
  at: { readonly endsAt?: number; readonly now?: number } = {},
): Promise<boolean> {
  return apiKeys.roll({ id, successor, endsAt: at.endsAt ?? now + hour, now: at.now ?? now });
}

export const rolledKeyCases = casesOf('rolled keys', {
  'a successor is stored and the old key ends': async (storage) => {
    const key = await issuedKey(storage, 'old');
    const other = await issuedKey(storage, 'other');
    const successor = sampleApiKey('new', {
      quotaId: key.quotaId,
      requireSignature: true,
      createdAt: now + 1,
    });
    assert.equal(await roll(storage, key, successor), true);
    const ended = { ...key, expiresAt: now + hour };
    assertSame(await storage.apiKeys.list('acme'), [successor, ended, other]);
    assertSame(await storage.apiKeys.findByDigest(successor.digest), {
      ...successor,
      partnerDisabled: false,
    });
    assert.equal(await roll(storage, successor, sampleApiKey('third')), true, 'a successor has successors');
  },

  'rolling never makes a key live longer': async (storage) => {
    const early = await issuedKey(storage, 'early', { expiresAt: now + 5 });
    const late = await issuedKey(storage, 'late', { expiresAt: now + 2 * hour });
    await roll(storage, early, sampleApiKey('early 2'));
    await roll(storage, late, sampleApiKey('late 2'));
    const endOf = async ({ id }: ApiKeyRecord) => (await storage.apiKeys.find(id))?.expiresAt;
    assert.equal(await endOf(early), now + 5);
    assert.equal(await endOf(late), now + hour);
    await roll(storage, late, sampleApiKey('late 3'), { endsAt: now + 9 * hour });
    assert.equal(await endOf(late), now + hour, 'nor when it is rolled again');
    await roll(storage, late, sampleApiKey('late 4'), { endsAt: now + 9 });
    assert.equal(await endOf(late), now + 9);
  },

  'a key that is unknown, revoked or ended is not rolled': async (storage) => {
    const revoked = await issuedKey(storage, 'revoked', { revokedAt: now - 1 });
    const revokedLater = await issuedKey(storage, 'revoked later', { revokedAt: now + 1 });
    const ended = await issuedKey(storage, 'ended', { expiresAt: now });
    const before = await storage.apiKeys.list('acme');
    for (const key of [revoked, revokedLater, ended, sampleApiKey('unknown'), { id: 'KEY_ended' }]) {
      assert.equal(await roll(storage, key, sampleApiKey('successor')), false, key.id);
      assertSame(await storage.apiKeys.list('acme'), before);
    }
    const last = await issuedKey(storage, 'last millisecond', { expiresAt: now + 1 });
    assert.equal(await roll(storage, last, sampleApiKey('successor')), true);
  },

  'a successor that cannot be stored leaves the old key alone': async (storage) => {
    const key = await issuedKey(storage, 'a');
    const taken = await issuedKey(storage, 'taken');
    const before = await storage.apiKeys.list('acme');
    const successors = [
      sampleApiKey('b', { id: taken.id }),
      sampleApiKey('b', { digest: taken.digest }),
      sampleApiKey('b', { partner: 'nobody' }),
    ];
    for (const successor of successors) {
      await assertUnavailable(() => roll(storage, key, successor));
      assertSame(await storage.apiKeys.list('acme'), before);
    }
    assert.equal(await roll(storage, key, sampleApiKey('b')), true);
  },

  'of parallel rolls without overlap exactly one wins': async (storage) => {
    const key = await issuedKey(storage, 'old');
    const answers = await inParallel(20, (index) =>
      roll(storage, key, sampleApiKey(`${index}`), { endsAt: now }),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    const ids = (await storage.apiKeys.list('acme')).map(({ id }) => id);
    assertSame(ids.toSorted(), ['key_old', `key_${answers.indexOf(true)}`].toSorted());
  },

  'a key that is revoked while it is rolled has a successor only if the roll came first': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      const key = await issuedKey(storage, `round ${round}`);
      const successor = sampleApiKey(`successor ${round}`);
      const rolling = () => roll(storage, key, successor);
      const revoking = () => storage.apiKeys.revoke(key.id, now + 1);
      const answers =
        round % 2 === 0
          ? await Promise.all([rolling(), revoking()])
          : (await Promise.all([revoking(), rolling()])).toReversed();
      const rolled = answers[0] === true;
      assert.equal(answers[1], true, 'the revocation is never lost');
      const state = await storage.apiKeys.find(key.id);
      assertSame([state?.revokedAt, state?.expiresAt], [now + 1, rolled ? now + hour : null]);
      assert.equal((await storage.apiKeys.find(successor.id)) !== null, rolled);
      assert.equal(await roll(storage, key, sampleApiKey(`late ${round}`)), false);
    }
  },
});
