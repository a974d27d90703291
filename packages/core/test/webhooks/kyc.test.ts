import { describe, expect, it } from 'vitest';
import type { KycChange, OstiaryOptions } from '../../src/index.ts';
import { ana, ben } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { storages } from '../support/partner-api.ts';
import type { Json, TestClient, TestKey, TestProvider } from '../support/provider.ts';
import { sink } from './support/sink.ts';
import { register, webhookProvider } from './support/webhook-provider.ts';

const change: KycChange = {
  sub: ana.sub,
  kid: ana.kid ?? '',
  kycStatus: 'approved',
  kycTier: 2,
  previous: { kycStatus: 'pending', kycTier: 1 },
};

async function revoke(provider: TestProvider, client: TestClient): Promise<void> {
  const browser = provider.browser();
  const { text } = await browser.get(`${provider.site}/account/apps`);
  const form = text.slice(text.indexOf(`/account/apps/${client.id}/revoke`));
  const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const ended = await browser.post(`${provider.site}/account/apps/${client.id}/revoke`, { csrf });
  expect(ended.status).toBeLessThan(400);
}

async function shop(options: Partial<OstiaryOptions> = {}) {
  const { provider } = await webhookProvider(options);
  const events = async (key: TestKey): Promise<Json[]> =>
    (await provider.partnerCall(key, 'GET /v1/partner/events')).json().data as Json[];
  /** A partner with a client, to which Ana has given these scopes. */
  const holder = async (scope: string, key?: TestKey) => {
    const owner = key ?? (await provider.key());
    const client = await provider.client({ partner: owner.partner });
    await provider.token(client, scope);
    return { key: owner, client, partner: owner.partner };
  };
  const told = async (changes: Partial<KycChange> = {}): Promise<string[]> =>
    (await provider.ostiary.users.kycChanged({ ...change, ...changes })).map(({ partner }) => partner).sort();
  return { provider, events, holder, told };
}

describe.each(storages)('a change of an identity check, on %s', (_name, newStorage) => {
  it('is told to a live partner whose client holds the user’s consent, as the catalogue says', async () => {
    const { provider, events, holder } = await shop({ storage: newStorage() });
    const { key, partner } = await holder('openid kyc');
    const endpoint = await sink();
    await register(provider, key, endpoint.url, { events: ['kyc.updated'] });
    const published = await provider.ostiary.users.kycChanged(change);
    const now = new Date(provider.clock.now()).toISOString();
    expect(published).toEqual([{ id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), partner }]);
    const event = {
      id: published[0]?.id,
      type: 'kyc.updated',
      createdAt: now,
      mode: 'live',
      data: {
        kid: ana.kid,
        kycStatus: 'approved',
        kycTier: 2,
        previous: { kycStatus: 'pending', kycTier: 1 },
        changedAt: now,
      },
    };
    expect(await events(key)).toEqual([{ sequence: 1, ...event }]);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(event)]);
    // Nothing says who the user is but the public id.
    expect(endpoint.received[0]?.body.toString()).not.toContain(ana.sub);
  });

  it('is told to nobody without a relation to the user', async () => {
    const { provider, events, holder, told } = await shop({ storage: newStorage() });
    const right = await holder('openid kyc');
    const [otherScope, revoked, disabledClient, disabledPartner, nothing] = [
      await holder('openid profile'),
      await holder('openid kyc'),
      await holder('openid kyc'),
      await holder('openid kyc'),
      { key: await provider.key(), partner: '' },
    ];
    // A client of nobody has no partner to tell, and Ben’s consent is Ben’s.
    await provider.token(await provider.client(), 'openid kyc');
    const bens = await provider.key();
    await provider.token(
      await provider.client({ partner: bens.partner }),
      'openid kyc',
      provider.browser(ben.sub),
    );
    await revoke(provider, revoked.client);
    await provider.ostiary.admin.clients.disable(disabledClient.client.id);
    await provider.ostiary.admin.partners.disable(disabledPartner.partner);
    const test = await provider.key({ partner: right.partner, mode: 'test' });
    expect(await told()).toEqual([right.partner]);
    for (const { key } of [otherScope, revoked, disabledClient, nothing])
      expect(await events(key)).toEqual([]);
    expect(await events(bens)).toEqual([]);
    expect(await events(test)).toEqual([]);
    await provider.ostiary.admin.partners.enable(disabledPartner.partner);
    expect(await events(disabledPartner.key)).toEqual([]);
    // What was enabled again hears of the next change.
    expect(await told()).toEqual([right.partner, disabledPartner.partner].sort());
    expect(await told({ sub: ben.sub, kid: ben.kid ?? '' })).toEqual([bens.partner]);
    expect(await told({ sub: 'nobody' })).toEqual([]);
    await provider.ostiary.users.end(ana.sub);
    expect(await told()).toEqual([]);
  });

  it('is told once to each partner, whether it holds one consent, several, or is named', async () => {
    const { provider, events, holder, told } = await shop({ storage: newStorage() });
    const first = await holder('openid kyc');
    await holder('kyc', first.key);
    const named = await provider.key();
    expect(await told({ partners: [named.partner, first.partner, named.partner] })).toEqual(
      [first.partner, named.partner].sort(),
    );
    expect(await events(first.key)).toHaveLength(1);
    expect(await events(named)).toHaveLength(1);
    // An event of its own for each: partners cannot compare notes.
    expect((await events(first.key))[0]?.id).not.toBe((await events(named))[0]?.id);
    // One client that is left is enough, and naming is for one change only.
    await revoke(provider, first.client);
    expect(await told()).toEqual([first.partner]);
  });

  it('is none when nothing changed', async () => {
    const { events, holder, told } = await shop({ storage: newStorage() });
    const { key, partner } = await holder('openid kyc');
    expect(await told({ previous: { kycStatus: 'approved', kycTier: 2 }, partners: [partner] })).toEqual([]);
    expect(await events(key)).toEqual([]);
    for (const previous of [
      { kycStatus: 'approved', kycTier: 1 },
      { kycStatus: 'pending', kycTier: 2 },
    ] as const)
      expect(await told({ previous })).toEqual([partner]);
    expect(await events(key)).toHaveLength(2);
  });

  it('carries the time that the host says', async () => {
    const { events, holder, told } = await shop({ storage: newStorage() });
    const { key } = await holder('openid kyc');
    await told({ changedAt: new Date('2020-02-29T01:02:03.004Z') });
    expect((await events(key))[0]?.data).toMatchObject({ changedAt: '2020-02-29T01:02:03.004Z' });
  });
});

describe('kycChanged', () => {
  it.each<readonly [string, object, string]>([
    ['an unknown status', { kycStatus: 'verified' }, 'kycStatus'],
    ['a tier that there is not', { kycTier: 4 }, 'kycTier'],
    ['a tier between two', { kycTier: 1.5 }, 'kycTier'],
    ['a tier that is text', { kycTier: '2' }, 'kycTier'],
    ['no user', { sub: undefined }, 'sub'],
    ['an empty user', { sub: '' }, 'sub'],
    ['no public id', { kid: undefined }, 'kid'],
    ['no previous state', { previous: undefined }, 'previous'],
    ['half a previous state', { previous: { kycStatus: 'pending' } }, 'previous.kycTier'],
    ['a previous state with more', { previous: { ...change.previous, note: '' } }, 'previous'],
    ['a time that is text', { changedAt: '2026-01-01T00:00:00Z' }, 'changedAt'],
    ['a time that is none', { changedAt: new Date(Number.NaN) }, 'changedAt'],
    ['a partner that is no slug', { partners: ['Acme Inc'] }, 'partners.0'],
    ['partners that are no list', { partners: 'acme' }, 'partners'],
    ['a member more', { tier: 2 }, ''],
  ])('refuses %s with a TypeError that says where, at once', async (_name, changes, path) => {
    const { provider } = await shop();
    const call = () => provider.ostiary.users.kycChanged({ ...change, ...changes } as KycChange);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(`kycChanged: ${path}`);
  });

  it('refuses what is no change at all', async () => {
    const { provider } = await shop();
    for (const nothing of [undefined, null, 'user-ana', []])
      expect(() => provider.ostiary.users.kycChanged(nothing as unknown as KycChange)).toThrow(TypeError);
  });

  it('refuses to tell a partner that does not exist, and tells nobody then', async () => {
    const { provider, holder, events } = await shop();
    const { key } = await holder('openid kyc');
    await expect(
      (async () => provider.ostiary.users.kycChanged({ ...change, partners: ['nobody-at-all'] }))(),
    ).rejects.toThrow(TypeError);
    expect(await events(key)).toEqual([]);
  });

  it('rejects when the database fails, and tells all or nobody', async () => {
    const database = fragileStorage();
    const { provider, holder, events } = await shop({ storage: database.storage });
    const [one, two] = [await holder('openid kyc'), await holder('openid kyc')];
    for (const broken of ['events.partnersHolding', 'events.publish']) {
      database.breakWhen((call) => call === broken);
      await expect(provider.ostiary.users.kycChanged(change)).rejects.toMatchObject({
        code: 'STORAGE_UNAVAILABLE',
      });
      database.breakWhen(null);
    }
    expect([await events(one.key), await events(two.key)]).toEqual([[], []]);
    database.forget();
    await provider.ostiary.users.kycChanged(change);
    // One transaction for all partners.
    expect(database.calls.filter((call) => call === 'events.publish')).toHaveLength(1);
  });

  it('takes no transaction of another database than the storage’s', async () => {
    const { provider } = await shop();
    expect(() => provider.ostiary.users.kycChanged(change, { transaction: {} })).toThrow(
      /transaction: has to be a Database of better-sqlite3/,
    );
  });
});
