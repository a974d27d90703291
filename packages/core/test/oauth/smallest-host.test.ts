import { describe, expect, it } from 'vitest';
import { silentLogger, type UserDirectory } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { Host } from '../support/directory.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';

/** User of a host application that has no public ids, roles and countries. */
const small = { sub: 'user-ana', name: 'Ana Joseph', email: 'ana@example.com' };

/** User rows of a host application's database, with NULL for unknown fields. */
const nulls = { kid: null, role: null, country: null, createdAt: null, handle: null };

const smallest = { find: () => small } satisfies UserDirectory;

const hostOf = (record: NonNullable<Awaited<ReturnType<UserDirectory['find']>>>): UserDirectory => ({
  find: () => record,
  findByKid: () => record,
  findByPhone: () => record,
});

const missingLines = (logged: readonly { readonly message: string; readonly fields: object }[]) =>
  logged
    .filter(({ message }) => message.startsWith('a user record lacks fields'))
    .map(({ fields }) => fields);

describe.each([
  ['lacks the fields', smallest.find()],
  ['has NULL in the fields', { ...small, ...nulls }],
])('a host whose user record %s that it does not know', (_what, record) => {
  it('signs users in, and userinfo leaves the fields out, which the log says once', async () => {
    const { provider } = await partnerProvider({ users: hostOf(record), scopes: { email: true } });
    const client = await provider.client({ allowedScopes: ['openid', 'profile', 'email'] });
    const consent = await openConsent(provider, client, { scope: 'openid profile email' });
    expect(consent.text).toContain('Ana Joseph');
    const { sub, name, email } = small;
    for (let time = 0; time < 2; time += 1) {
      const answer = await provider.userinfo(await provider.token(client, 'openid profile email'));
      expect([answer.status, answer.json()]).toEqual([200, { sub, kid: sub, name, email }]);
    }
    expect(missingLines(provider.logged)).toEqual([
      { missing: ['role', 'country', 'createdAt', 'handle', 'avatarUrl'] },
    ]);
    expect(provider.errors).toEqual([]);
  });

  it('shows partners users without them, by the sub as public id, and pays them', async () => {
    const known = { kycStatus: 'approved', kycTier: 2 } as const;
    const { provider, rail } = await partnerProvider({ users: hostOf({ ...record, ...known }) });
    const key = await provider.key();
    const { token } = await provider.ostiary.passports.issue(small.sub);
    const verified = await provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    expect([verified.status, verified.json().user]).toEqual([200, { kid: small.sub, ...known }]);
    const shown = { kid: small.sub, name: small.name };
    for (const path of ['user-ana', 'phone/+50937000001']) {
      const found = await provider.partnerCall(key, `GET /v1/partner/users/${path}`);
      expect([found.status, found.json()]).toEqual([200, shown]);
    }
    const recipient = { kid: small.sub };
    const paid = await provider.partnerCall(key, 'POST /v1/partner/payments', { ...payment, recipient });
    expect([paid.status, paid.json().recipient]).toEqual([201, recipient]);
    await provider.ostiary.worker.runDue();
    expect(rail.orders.map(({ recipientKid }) => recipientKid)).toEqual([small.sub]);
    const change = { sub: small.sub, ...known, previous: { kycStatus: 'pending', kycTier: 1 } } as const;
    const published = await provider.ostiary.users.kycChanged({ ...change, partners: [key.partner] });
    expect(published).toHaveLength(1);
    const { data } = (await provider.partnerCall(key, 'GET /v1/partner/events')).json();
    expect(data).toMatchObject([{ data: { recipient } }, { type: 'kyc.updated', data: { kid: small.sub } }]);
    expect(missingLines(provider.logged).flatMap((fields) => Object.values(fields).flat())).toEqual([
      'role',
      'country',
      'handle',
      'createdAt',
    ]);
  });
});

describe.each([
  ['nothing but', { sub: small.sub }],
  [
    'NULL in everything but',
    { sub: small.sub, ...nulls, name: null, avatarUrl: null, kycTier: null, kycStatus: null },
  ],
])('a host that knows %s the sub', (_what, record) => {
  it('signs users in with all scopes that show what a host may not know', async () => {
    const { provider } = await partnerProvider({ users: hostOf(record) });
    const client = await provider.client({ allowedScopes: ['openid', 'profile', 'kyc'] });
    await openConsent(provider, client, { scope: 'openid profile kyc' });
    const answer = await provider.userinfo(await provider.token(client, 'openid profile kyc'));
    const { avatarUrl = 'not there', ...shown } = answer.json();
    expect([answer.status, shown]).toEqual([200, { sub: small.sub, kid: small.sub }]);
    expect(avatarUrl).toBe('avatarUrl' in record ? null : 'not there');
    const apps = await provider.browser().get('/account/apps');
    expect(apps.status).toBe(200);
    expect(provider.errors).toEqual([]);
  });

  it('is taken by every route of the partner API that shows a user', async () => {
    const { provider } = await partnerProvider({ users: hostOf(record) });
    const key = await provider.key();
    const { id } = await provider.client({ partner: key.partner, allowedScopes: ['openid', 'kyc'] });
    const consent = { sub: small.sub, clientId: id, scopes: ['openid', 'kyc'] as const };
    await provider.ostiary.admin.consents.import([consent]);
    const { token } = await provider.ostiary.passports.issue(small.sub);
    const verified = await provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    expect([verified.status, verified.json().user]).toEqual([200, { kid: small.sub }]);
    for (const path of ['/user-ana', '/phone/+50937000001', '?kid=user-ana']) {
      const found = await provider.partnerCall(key, `GET /v1/partner/users${path}`);
      expect([path, found.status, found.json()]).toEqual([path, 200, { kid: small.sub }]);
    }
    const recipient = { kid: small.sub };
    const paid = await provider.partnerCall(key, 'POST /v1/partner/payments', { ...payment, recipient });
    expect([paid.status, paid.json().recipient]).toEqual([201, recipient]);
    expect(provider.errors).toEqual([]);
    const missing = missingLines(provider.logged).flatMap((fields) => Object.values(fields).flat());
    expect(missing).toEqual(['role', 'country', 'kycStatus', 'kycTier', 'handle', 'name', 'createdAt']);
  });
});

describe('an id of the host that no endpoint would take back', () => {
  const ids = ['', 'x'.repeat(256), 'añá', 'a\tb', 'a\u0000b', 7];

  it.each([
    ...ids.map((kid) => ['kid', { ...small, kid }] as const),
    ...ids.map((sub) => ['sub', { ...small, kid: 'KID-ANA', sub }] as const),
  ])('is refused, and the log names the %s of %j', async (field, record) => {
    const users = hostOf(record as typeof small);
    const { provider } = await partnerProvider({ users }, new Host());
    const answer = await provider.partnerCall(await provider.key(), 'GET /v1/partner/users/KID-ANA');
    expect(answer.status).toBe(500);
    const message = expect.stringMatching(`^users\\.findByKid: ${field} has to be `);
    expect(provider.errors).toMatchObject([{ fields: { err: { message } } }]);
    const browser = provider.browser();
    const url = provider.authorizeUrl(await provider.client({}));
    expect((await provider.follow(browser, url)).outcome).toBe('500 server_error');
  });

  it.each(ids)('is a TypeError where the host’s own code passes %j', async (id) => {
    const { provider } = await partnerProvider({ logger: silentLogger });
    const { passports, consents, users, admin } = provider.ostiary;
    const sub = id as string;
    const client = await provider.client();
    const kyc = {
      kycStatus: 'approved',
      kycTier: 2,
      previous: { kycStatus: 'pending', kycTier: 1 },
    } as const;
    for (const call of [
      async () => passports.issue(sub),
      async () => consents.list(sub),
      async () => consents.revoke(sub, client.id),
      async () => users.end(sub),
      async () => users.signedOut(sub),
      async () => users.kycChanged({ ...kyc, sub }),
      async () => users.kycChanged({ ...kyc, sub: 'user-ana', kid: sub }),
      async () => admin.consents.import([{ sub, clientId: client.id, scopes: ['openid'] }]),
    ])
      await expect(call()).rejects.toThrow(TypeError);
  });
});
