import { describe, expect, it } from 'vitest';
import type { KycChange } from '../../src/index.ts';
import { shop as open } from '../partner/webhook-shop.ts';
import { ana } from '../support/directory.ts';
import { libraryWords } from '../support/plain-words.ts';
import type { TestKey } from '../support/provider.ts';
import { sink } from './support/sink.ts';

const change: KycChange = {
  sub: ana.sub,
  kid: ana.kid ?? '',
  kycStatus: 'approved',
  kycTier: 2,
  previous: { kycStatus: 'pending', kycTier: 1 },
};

async function shop() {
  const { provider, list, register, database } = await open();
  return {
    ...{ database, provider, register },
    events: (key: TestKey) => list('/v1/partner/events', key),
    /** Creates a partner with a client that may read the result of Ana's identity check. */
    async holder() {
      const key = await provider.key();
      await provider.token(await provider.client({ partner: key.partner }), 'openid kyc');
      return { key, partner: key.partner };
    },
    told: async (changes: Partial<KycChange> = {}): Promise<string[]> =>
      (await provider.ostiary.users.kycChanged({ ...change, ...changes }))
        .map(({ partner }) => partner)
        .sort(),
  };
}

describe('a change of an identity check', () => {
  it('is notified to a live partner whose client has the user’s consent, as documented', async () => {
    const { database, provider, register, events, holder } = await shop();
    const { key, partner } = await holder();
    await provider.token(await provider.client(), 'openid kyc');
    const endpoint = await sink();
    await register(endpoint.url, { events: ['kyc.updated'] }, key);
    const published = await provider.ostiary.users.kycChanged(change);
    const now = new Date(provider.clock.now()).toISOString();
    expect(published).toEqual([{ id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), partner }]);
    const { sub, ...said } = change;
    const data = { ...said, changedAt: now };
    const event = { id: published[0]?.id, type: 'kyc.updated', createdAt: now, mode: 'live', data };
    expect(await events(key)).toEqual([{ sequence: 1, ...event }]);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(event)]);
    const asked = database.given[database.calls.indexOf('events.partnersHolding')];
    expect(asked).toEqual([{ sub, scope: 'kyc' }]);
    // Only the public id identifies the user.
    expect(endpoint.received[0]?.body.toString()).not.toContain(sub);
  });

  it('is notified once to each partner, also to a named one', async () => {
    const { provider, events, holder, told } = await shop();
    const first = await holder();
    const named = await provider.key();
    const partners = [named.partner, first.partner, named.partner];
    expect(await told({ partners })).toEqual([first.partner, named.partner].sort());
    const [[one], [other]] = [await events(first.key), await events(named)];
    // Each partner gets an event of its own, so that partners cannot correlate ids.
    expect(one?.id).not.toBe(other?.id);
    // Naming partners applies to one change: the next one is not published to `named`.
    const changedAt = new Date('2020-02-29T01:02:03.004Z');
    expect(await told({ changedAt })).toEqual([first.partner]);
    expect(await events(first.key)).toMatchObject([{}, { data: { changedAt: changedAt.toISOString() } }]);
  });

  it('is not notified if nothing changed', async () => {
    const { events, holder, told } = await shop();
    const { key, partner } = await holder();
    expect(await told({ previous: { kycStatus: 'approved', kycTier: 2 }, partners: [partner] })).toEqual([]);
    expect(await events(key)).toEqual([]);
    for (const previous of [
      { kycStatus: 'approved', kycTier: 1 },
      { kycStatus: 'pending', kycTier: 2 },
    ] as const)
      expect(await told({ previous })).toEqual([partner]);
  });
});

describe('kycChanged', () => {
  it('refuses what is no change with a TypeError that says where, at once', async () => {
    const { provider } = await shop();
    for (const [path, ...wrong] of [
      ['kycStatus', { kycStatus: 'verified' }],
      ['kycTier', { kycTier: 4 }, { kycTier: 1.5 }, { kycTier: '2' }],
      ['sub', { sub: undefined }, { sub: '' }],
      ['kid', { kid: '' }],
      ['previous', { previous: undefined }, { previous: { ...change.previous, note: '' } }],
      ['previous.kycTier', { previous: { kycStatus: 'pending' } }],
      ['changedAt', { changedAt: '2026-01-01T00:00:00Z' }, { changedAt: new Date(Number.NaN) }],
      ['partners', { partners: 'acme' }],
      ['partners.0', { partners: ['Acme Inc'] }],
      ['', { tier: 2 }],
    ] as const)
      for (const changes of wrong) {
        const call = () => provider.ostiary.users.kycChanged({ ...change, ...changes } as KycChange);
        expect(call).toThrow(TypeError);
        expect(call).toThrow(`kycChanged: ${path}`);
        expect(call).not.toThrow(libraryWords);
      }
    for (const nothing of [undefined, null, 'user-ana', []])
      expect(() => provider.ostiary.users.kycChanged(nothing as unknown as KycChange)).toThrow(TypeError);
  });

  it('notifies all partners or none if one does not exist, or if the database fails', async () => {
    const { database, told, holder, events } = await shop();
    const [one, two] = [await holder(), await holder()];
    await expect(told({ partners: ['nobody-at-all'] })).rejects.toThrow(TypeError);
    for (const broken of ['events.partnersHolding', 'events.publish']) {
      database.breakWhen((call) => call === broken);
      await expect(told()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
      database.breakWhen(null);
    }
    expect([await events(one.key), await events(two.key)]).toEqual([[], []]);
    database.forget();
    await told();
    // All partners' events are published in one transaction.
    expect(database.calls.filter((call) => call === 'events.publish')).toHaveLength(1);
  });
});
