import assert from 'node:assert/strict';
import {
  alternating,
  assertFields,
  assertSame,
  type Calls,
  casesOf,
  countAnswers,
  inParallel,
} from './case.ts';
import { noticeJob, noticeJobIds } from './notices.ts';
import { consented, hour, isLive, now, redeemed, sampleClient, sampleGrant } from './samples.ts';

const user = { sub: 'user-1', clientId: 'client-1' };

export const consentCases = casesOf('consents', {
  'a consent is read back, for this user and client only': async (storage) => {
    await consented(storage, { scopes: ['openid', 'kyc'] });
    const expected = {
      ...user,
      scopes: ['openid', 'kyc'],
      declined: [],
      grantedAt: now,
      updatedAt: now,
      usedAt: null,
    };
    assertSame(await storage.consents.find('user-1', 'client-1'), expected);
    assert.equal(await storage.consents.find('user-2', 'client-1'), null);
    assert.equal(await storage.consents.find('user-1', 'client-2'), null);
    assert.equal(await storage.consents.find('USER-1', 'client-1'), null);
    assert.equal(await storage.consents.find('client-1', 'user-1'), null);
  },

  'an unknown or disabled client is refused and nothing is stored': async ({ clients, consents }) => {
    await clients.insert(sampleClient({ disabledAt: now }));
    const scopes = ['openid'];
    assert.equal(await consents.remember({ ...user, scopes, now }), false);
    assert.equal(await consents.remember({ ...user, clientId: 'unknown', scopes, now }), false);
    assert.equal(await consents.find('user-1', 'client-1'), null);
    assertSame(await consents.list('user-1'), []);
  },

  'remembering adds scopes, without doubles, and keeps the start': async (storage) => {
    await consented(storage, { scopes: ['openid', 'kyc'] });
    await storage.consents.remember({ ...user, scopes: ['kyc', 'profile', 'profile'], now: now + 5 });
    const consent = await storage.consents.find('user-1', 'client-1');
    assertSame(consent?.scopes.toSorted(), ['kyc', 'openid', 'profile']);
    assertSame([consent?.grantedAt, consent?.updatedAt], [now, now + 5]);
    for (const scopes of [['kyc'], []]) await storage.consents.remember({ ...user, scopes, now: now + 6 });
    const known = { ...consent, updatedAt: now + 6 };
    assertSame(await storage.consents.find('user-1', 'client-1'), known, 'what is known takes nothing away');
  },

  'a call that starts a consent enqueues its jobs, and no other call does': async (storage) => {
    const scopes = ['openid'];
    const remember = (label: string, changes: object = {}) =>
      storage.consents.remember({ ...user, scopes, jobs: [noticeJob(label)], now, ...changes });
    assert.equal(await remember('unknown client'), false);
    await storage.clients.insert(sampleClient());
    const answers = await inParallel(20, (index) => remember(`start ${index}`));
    assertSame(countAnswers(answers), { true: 20 });
    const [started, ...others] = await noticeJobIds(storage);
    assertSame([started?.slice(0, 6), others], ['start ', []]);
    await remember('more', { scopes: ['kyc'], declined: ['openid'], now: now + 1 });
    await storage.consents.remember({ sub: 'user-2', clientId: 'client-1', scopes, now });
    assertSame(await noticeJobIds(storage), [started]);
    await storage.consents.revoke('user-1', 'client-1', now);
    await remember('z again', { declined: ['kyc'] });
    assertSame(await noticeJobIds(storage), [started, 'z again']);
  },

  'parallel calls lose no scope and start one consent': async (storage) => {
    await storage.clients.insert(sampleClient());
    const scopes = Array.from({ length: 40 }, (_, index) => `scope:${index}`);
    const answers = await Promise.all(
      scopes.map((scope) => storage.consents.remember({ ...user, scopes: [scope], now })),
    );
    assertSame(countAnswers(answers), { true: 40 });
    const consent = await storage.consents.find('user-1', 'client-1');
    assertSame(consent?.scopes.toSorted(), scopes.toSorted());
    assert.equal((await storage.consents.list('user-1')).length, 1);
  },

  'the list has the latest change first, then goes by client id, and is of one user': async (storage) => {
    const changed: [string, number][] = [
      ['b', 2],
      ['a', 2],
      ['Z', 2],
      ['newest', 9],
      ['oldest', 1],
      ['revoked', 5],
    ];
    for (const [clientId, after] of changed) {
      await consented(storage, { clientId });
      await storage.consents.remember({ ...user, clientId, scopes: ['kyc'], now: now + after });
    }
    await consented(storage, { sub: 'user-2', clientId: 'a' });
    await consented(storage, { sub: 'User-1', clientId: 'a' });
    await storage.consents.revoke('user-1', 'revoked', now + 6);

    const list = await storage.consents.list('user-1');
    assertFields(list, 'clientId', ['newest', 'Z', 'a', 'b', 'oldest']);
    assertSame(list[0], await storage.consents.find('user-1', 'newest'));
    assertSame(await storage.consents.list('nobody'), []);
  },

  'a scope that the user left out is kept apart, and grants with it are revoked': async (storage) => {
    const { token } = await redeemed(storage, 'with', { scopes: ['openid', 'kyc'] });
    const other = await redeemed(storage, 'without', { scopes: ['openid'] });
    const stranger = await redeemed(storage, 'another user', { sub: 'user-2', scopes: ['openid', 'kyc'] });
    const given = { ...user, scopes: ['openid', 'profile'], now: now + 1 };
    assert.equal(await storage.consents.remember({ ...given, declined: ['kyc', 'kyc', 'email'] }), true);
    const consent = await storage.consents.find('user-1', 'client-1');
    assertSame(consent?.scopes.toSorted(), ['openid', 'profile']);
    assertSame(consent?.declined.toSorted(), ['email', 'kyc']);
    assert.equal(await isLive(storage, token), false, 'its grant included the scope');
    assert.equal(await isLive(storage, other.token), true, 'its grant did not');
    assert.equal(await isLive(storage, stranger.token), true, 'another user');

    await storage.consents.remember({ ...given, scopes: ['kyc'] });
    const approved = await storage.consents.find('user-1', 'client-1');
    assertSame(approved?.scopes.toSorted(), ['kyc', 'openid', 'profile']);
    assertSame(approved?.declined, ['email'], 'an approved scope is no longer left out');
    assertSame((await storage.consents.list('user-1'))[0]?.declined, ['email']);
    await storage.consents.remember({ sub: 'new', clientId: 'client-1', scopes: [], declined: ['kyc'], now });
    assertSame((await storage.consents.find('new', 'client-1'))?.declined, ['kyc']);
  },

  'a revoked consent is restored as it was, without its grants': async (storage) => {
    const { token } = await redeemed(storage, 'old', { scopes: ['openid', 'kyc'] });
    await storage.consents.remember({ ...user, scopes: ['profile'], declined: ['email'], now: now + 1 });
    const consent = await storage.consents.find('user-1', 'client-1');
    await storage.consents.revoke('user-1', 'client-1', now + 9);
    // Other apps of the user: one has a consent, and that of another one was revoked later.
    for (const clientId of ['kept', 'later']) await consented(storage, { clientId });
    await storage.consents.revoke('user-1', 'later', now + 11);
    const restore = (revokedSince: number) => storage.consents.restore({ ...user, revokedSince });
    assert.equal(await restore(now + 10), false, 'it was revoked before');
    assert.equal(await storage.consents.restore({ ...user, sub: 'user-2', revokedSince: now }), false);
    assert.equal(await restore(now + 9), true);
    assertSame(await storage.consents.find('user-1', 'client-1'), consent);
    assert.equal(await isLive(storage, token), false, 'tokens stay revoked');
    assert.equal(await restore(now), false, 'it is not revoked');
    assert.equal(await storage.consents.find('user-1', 'later'), null, 'nor is that of another app');
  },

  'no consent is restored beside a new one, or for a disabled client': async (storage) => {
    await consented(storage, { scopes: ['kyc'] });
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    await storage.consents.remember({ ...user, scopes: ['openid'], now: now + 2 });
    assert.equal(await storage.consents.restore({ ...user, revokedSince: now }), false);
    assertSame((await storage.consents.find('user-1', 'client-1'))?.scopes, ['openid']);
    await consented(storage, { clientId: 'client-2' });
    const client = await storage.clients.find('client-2');
    if (client === null) throw new Error('the client is stored');
    const { partnerDisabled: _, ...record } = client;
    await storage.clients.replace({ ...record, version: record.version + 1, disabledAt: now });
    const other = { ...user, clientId: 'client-2', revokedSince: 0 };
    assert.equal(await storage.consents.restore(other), false);
    assertSame(await storage.consents.list('user-1').then((list) => list.length), 1);
  },

  'of parallel restorations and new consents one consent remains': async (storage) => {
    await storage.clients.insert(sampleClient());
    for (let round = 0; round < 20; round += 1) {
      await storage.consents.remember({ ...user, scopes: ['old'], now });
      await storage.consents.revoke('user-1', 'client-1', now + 1);
      const calls = [
        () => storage.consents.restore({ ...user, revokedSince: now }),
        () => storage.consents.remember({ ...user, scopes: ['new'], now: now + 1 }),
        () => storage.consents.restore({ ...user, revokedSince: now }),
      ];
      await alternating<unknown>(round, calls);
      const list = await storage.consents.list('user-1');
      assert.equal(list.length, 1, `round ${round}`);
      assert.ok(list[0]?.scopes.includes('new'), `round ${round}`);
      await storage.consents.revoke('user-1', 'client-1', now - 1);
    }
  },

  'of parallel revocations exactly one finds the consent': async (storage) => {
    await consented(storage);
    const answers = await inParallel(10, () => storage.consents.revoke('user-1', 'client-1', now));
    assertSame(countAnswers(answers), { true: 1, false: 9 });
    assert.equal(await storage.consents.revoke('user-1', 'unknown', now), false);
  },

  'after a revocation a consent starts anew': async (storage) => {
    const { token } = await redeemed(storage, 'old', { scopes: ['openid', 'kyc'] });
    await storage.consents.revoke('user-1', 'client-1', now + 2);
    assert.equal(await storage.consents.remember({ ...user, scopes: ['profile'], now: now + 3 }), true);
    const times = { grantedAt: now + 3, updatedAt: now + 3, usedAt: null };
    const expected = { ...user, scopes: ['profile'], declined: [], ...times };
    assertSame(await storage.consents.find('user-1', 'client-1'), expected);
    assert.equal(await isLive(storage, token), false, 'the old token stays dead');
    assert.equal(await storage.consents.revoke('user-1', 'client-1', now + 4), true, 'and so a second time');
  },

  'a consent says when it was used last, to the hour, and never goes back': async (storage) => {
    await consented(storage);
    const usedAt = async () => (await storage.consents.find('user-1', 'client-1'))?.usedAt;
    const use = (label: string, issuedAt: number, changes = {}) =>
      storage.grants.issue(sampleGrant(label, { issuedAt, ...changes }));
    assert.equal(await usedAt(), null);
    for (const [label, at, written] of [
      ['first', now, now],
      ['within the hour', now + hour - 1, now],
      ['after it', now + hour, now + hour],
      ['by a slow clock', now + 1, now + hour],
    ] as const) {
      assert.equal(await use(label, at), true);
      assert.equal(await usedAt(), written, label);
    }
    assert.equal((await storage.consents.list('user-1'))[0]?.usedAt, now + hour);
    assert.equal(await use('refused', now + 9 * hour, { scopes: ['kyc'] }), false);
    assert.equal(await usedAt(), now + hour, 'nothing was used');
    await consented(storage, { clientId: 'client-2' });
    assert.equal((await storage.consents.find('user-1', 'client-2'))?.usedAt, null, 'another app');
  },

  'parallel uses of a consent all count, and one time is kept': async (storage) => {
    await consented(storage);
    const answers = await inParallel(20, (index) =>
      storage.grants.issue(sampleGrant(`parallel ${index}`, { issuedAt: now + index })),
    );
    assertSame(countAnswers(answers), { true: 20 });
    const used = (await storage.consents.find('user-1', 'client-1'))?.usedAt ?? 0;
    assert.ok(used >= now && used < now + 20);
  },

  'consents from elsewhere are stored with their date, once, and count as those that were given here': async (
    storage,
  ) => {
    await storage.clients.insert(sampleClient({ partner: null }));
    const given = { ...user, scopes: ['openid', 'kyc'], grantedAt: now - hour };
    const other = { ...given, sub: 'user-2', scopes: ['openid'] };
    assert.equal(await storage.consents.adopt([given, other, { ...given, scopes: ['profile'] }]), 2);
    assertSame(await storage.consents.find('user-1', 'client-1'), {
      ...{ ...given, updatedAt: now - hour },
      ...{ declined: [], usedAt: null },
    });
    assertSame((await storage.consents.find('user-2', 'client-1'))?.scopes, ['openid']);
    await storage.consents.remember({ ...user, scopes: ['profile'], now });
    const consent = await storage.consents.find('user-1', 'client-1');
    assertSame(consent?.scopes.toSorted(), ['kyc', 'openid', 'profile']);
    assertSame([consent?.grantedAt, consent?.updatedAt], [now - hour, now]);
    assert.equal(await storage.consents.adopt([]), 0);
  },

  'what is or was consented to here stays as it is when consents come from elsewhere': async (storage) => {
    await consented(storage, { scopes: ['openid'] });
    const given = { ...user, scopes: ['kyc'], grantedAt: now - hour };
    assert.equal(await storage.consents.adopt([given]), 0);
    assertSame((await storage.consents.find('user-1', 'client-1'))?.scopes, ['openid']);
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    assert.equal(await storage.consents.adopt([given]), 0, 'revoked');
    assert.equal(await storage.consents.find('user-1', 'client-1'), null);
    await storage.clients.insert(sampleClient({ clientId: 'disabled', disabledAt: now }));
    const refused = [
      { ...given, clientId: 'disabled' },
      { ...given, clientId: 'unknown' },
    ];
    const stored = { ...given, sub: 'user-2' };
    assert.equal(await storage.consents.adopt([...refused, stored]), 1, 'the others of a batch are stored');
    assert.equal(await storage.consents.find('user-1', 'disabled'), null);
    assertSame(await storage.consents.list('user-1'), []);
  },

  'parallel calls for one consent from elsewhere store it once': async (storage) => {
    await storage.clients.insert(sampleClient());
    const given = { ...user, scopes: ['openid'], grantedAt: now };
    const answers = await inParallel(10, () => storage.consents.adopt([given]));
    assertSame(countAnswers(answers), { 0: 9, 1: 1 });
    assert.equal((await storage.consents.list('user-1')).length, 1);
  },

  'the end of a user stores its jobs': async (storage) => {
    await consented(storage);
    const jobs = ['a', 'b'].map((id) => ({ id, kind: 'notice', payload: { text: `${id} 🗝️` }, dueAt: now }));
    await storage.consents.endUser('user-1', now, jobs);
    assertSame(await storage.consents.list('user-1'), []);
    // Jobs with a stored id must stay unchanged.
    await storage.consents.endUser('user-1', now, [{ id: 'a', kind: 'notice', payload: {}, dueAt: now }]);
    const claimed = await storage.queue.claim({ kinds: ['notice'], claimId: 'c', now, leaseMs: 1, limit: 9 });
    assertSame(
      claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      jobs.map((job) => ({ ...job, owner: '', claimId: 'c', attempt: 1 })),
    );
  },

  'a consent that is extended while it is revoked never keeps old scopes': async (storage) => {
    await storage.clients.insert(sampleClient());
    for (let round = 0; round < 20; round += 1) {
      await storage.consents.remember({ ...user, scopes: ['old'], now });
      const calls = [
        () => storage.consents.revoke('user-1', 'client-1', now + 1),
        () => storage.consents.remember({ ...user, scopes: ['new'], now: now + 1 }),
      ];
      await alternating<unknown>(round, calls);
      const scopes = (await storage.consents.find('user-1', 'client-1'))?.scopes ?? [];
      assert.ok(!scopes.includes('old'), `round ${round}`);
      await storage.consents.revoke('user-1', 'client-1', now + 2);
    }
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const consentCalls: Calls<'consents'> = {
  find: ({ consents }) => consents.find('user-1', 'client-1'),
  list: ({ consents }) => consents.list('user-1'),
  remember: ({ consents }) =>
    consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: ['openid'], now }),
  adopt: ({ consents }) => consents.adopt([{ ...user, scopes: ['openid'], grantedAt: now }]),
  revoke: ({ consents }) => consents.revoke('user-1', 'client-1', now),
  restore: ({ consents }) => consents.restore({ sub: 'user-1', clientId: 'client-1', revokedSince: now }),
  endUser: ({ consents }) => consents.endUser('user-1', now, []),
  partnerHolds: ({ consents }) => consents.partnerHolds({ partner: 'acme', sub: 'user-1', scope: 'kyc' }),
};
