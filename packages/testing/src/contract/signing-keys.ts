import assert from 'node:assert/strict';
import {
  assertFields,
  assertSame,
  assertUnavailable,
  type Calls,
  casesOf,
  countAnswers,
  inParallel,
} from './case.ts';
import { noticeJob, noticeJobIds } from './notices.ts';
import { hour, now, sampleKey } from './samples.ts';

export const signingKeyCases = casesOf('signing keys', {
  'the list has every key as it was stored, by activeFrom, then kid': async ({ signingKeys }) => {
    const sorted = [
      sampleKey('z', { activeFrom: now - hour, alg: 'ES256' }),
      sampleKey('B', { createdAt: now - 1 }),
      sampleKey('a', { publicJwk: '{"kty":"EC","note":"\\"🗝️\\""}' }),
      sampleKey('b'),
      sampleKey('A', { activeFrom: now + hour }),
    ];
    assertSame(await signingKeys.list(), []);
    for (const key of sorted.toReversed()) await signingKeys.insert(key);
    assertSame(await signingKeys.list(), sorted);
  },

  'the first key is stored once per algorithm': async ({ signingKeys }) => {
    assert.equal(await signingKeys.insertFirst(sampleKey('rsa 1')), true);
    assert.equal(await signingKeys.insertFirst(sampleKey('rsa 2')), false);
    assert.equal(await signingKeys.insertFirst(sampleKey('ec 1', { alg: 'ES256' })), true);
    assert.equal(await signingKeys.insertFirst(sampleKey('ec 2', { alg: 'ES256' })), false);
    assertFields(await signingKeys.list(), 'kid', ['ec 1', 'rsa 1']);
  },

  'a key that was inserted counts as the first': async ({ signingKeys }) => {
    await signingKeys.insert(sampleKey('rsa 1', { activeFrom: now + hour }));
    assert.equal(await signingKeys.insertFirst(sampleKey('rsa 2')), false);
    await signingKeys.remove('rsa 1');
    assert.equal(await signingKeys.insertFirst(sampleKey('rsa 2')), true);
  },

  'of parallel first keys exactly one per algorithm is stored': async ({ signingKeys }) => {
    const answers = await inParallel(20, (index) =>
      signingKeys.insertFirst(sampleKey(`key ${index}`, { alg: index % 2 === 0 ? 'RS256' : 'ES256' })),
    );
    assertSame(countAnswers(answers), { true: 2, false: 18 });
    const stored = await signingKeys.list();
    assertSame(stored.map((key) => key.alg).toSorted(), ['ES256', 'RS256']);
    for (const { kid } of stored) assert.equal(answers[Number(kid.slice(4))], true, 'the winner is stored');
  },

  'a key is stored together with its jobs, and a key id that exists changes nothing': async (storage) => {
    const { signingKeys } = storage;
    await signingKeys.insert(sampleKey('a'), undefined, [noticeJob('first')]);
    const second = [noticeJob('second')];
    await assertUnavailable(() => signingKeys.insert(sampleKey('a', { alg: 'ES256' }), undefined, second));
    assertSame(await signingKeys.list(), [sampleKey('a')]);
    assertSame(await noticeJobIds(storage), ['first']);
  },

  'resealing changes the sealed part of one key': async ({ signingKeys }) => {
    await signingKeys.insert(sampleKey('a'));
    await signingKeys.insert(sampleKey('b'));
    await signingKeys.reseal('b', 'sealed anew');
    await signingKeys.reseal('unknown', 'sealed anew');
    const expected = [sampleKey('a'), sampleKey('b', { sealedPrivateJwk: 'sealed anew' })];
    assertSame(await signingKeys.list(), expected);
  },

  'retiring deletes the private part of one key for good, once or more often': async ({ signingKeys }) => {
    await signingKeys.insert(sampleKey('a'));
    await signingKeys.insert(sampleKey('b'));
    await signingKeys.retire('a');
    await signingKeys.retire('a');
    await signingKeys.retire('unknown');
    const retired = [{ ...sampleKey('a'), sealedPrivateJwk: null }, sampleKey('b')];
    assertSame(await signingKeys.list(), retired);
    await signingKeys.reseal('a', 'sealed anew');
    assertSame(await signingKeys.list(), retired);
    assert.equal(await signingKeys.insertFirst(sampleKey('c')), false);
    await signingKeys.remove('a');
    assertSame(await signingKeys.list(), [sampleKey('b')]);
  },

  'removing takes one key away, once or more often': async ({ signingKeys }) => {
    await signingKeys.insert(sampleKey('a'));
    await signingKeys.insert(sampleKey('A'));
    await signingKeys.remove('a');
    await signingKeys.remove('a');
    assertSame(await signingKeys.list(), [sampleKey('A')]);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const signingKeyCalls: Calls<'signingKeys'> = {
  list: ({ signingKeys }) => signingKeys.list(),
  insertFirst: ({ signingKeys }) => signingKeys.insertFirst(sampleKey('a')),
  insert: ({ signingKeys }) => signingKeys.insert(sampleKey('b')),
  reseal: ({ signingKeys }) => signingKeys.reseal('a', 'sealed anew'),
  retire: ({ signingKeys }) => signingKeys.retire('a'),
  remove: ({ signingKeys }) => signingKeys.remove('a'),
};
