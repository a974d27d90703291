import { decodeJwt } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type HostScopes, type OstiaryOptions, scopeNames, type UserRecord } from '../../src/index.ts';
import { arabic } from '../pages/views.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const consent = {
  en: { title: 'See your orders', detail: 'What you bought, <b>and when</b>.' },
  fr: { title: 'Voir vos commandes', detail: 'Ce que vous avez acheté.' },
};
const scopes: HostScopes = {
  email: true,
  phone: true,
  address: true,
  standardProfile: true,
  'orders:read': { consent },
  history: { claims: { orders: z.array(z.string()), vip: z.boolean().optional() }, consent },
};
const provider = await startProvider({ scopes });
const allowedScopes = [...scopeNames, 'email', 'phone', 'address', 'orders:read', 'history'];
const client = await provider.client({ allowedScopes });

const rich: UserRecord = {
  ...ana,
  email: 'ana@example.com',
  emailVerified: true,
  phoneNumber: '+50937000001',
  phoneNumberVerified: false,
  address: { streetAddress: '1 Rue Capois', locality: 'Port-au-Prince', country: 'HT' },
  locale: 'ht-HT',
  zoneinfo: 'America/Port-au-Prince',
  updatedAt: '2026-01-31T12:00:00.500Z',
  ...{ givenName: 'Ana', familyName: 'Joseph', middleName: 'Marie', nickname: 'Anita' },
  ...{ profile: 'https://shop.example/ana', website: 'http://ana.example/' },
  ...{ gender: 'female', birthdate: '1990-02-28' },
  claims: { orders: ['A-1', 'A-2'], vip: true, secret: 'of no scope' },
};
/** Members of a user record that only the option `standardProfile` shows, each with the value `null`. */
const nameless = {
  ...{ givenName: null, familyName: null, middleName: null, nickname: null },
  ...{ profile: null, website: null, gender: null, birthdate: null },
};
const become = (changes: object) => provider.host.people.set(ana.sub, { ...rich, ...changes } as typeof ana);
become({});
afterEach(() => become({}));

const userinfoWith = async (scope: string) =>
  (await provider.userinfo(await provider.token(client, scope))).json();

describe('scopes of the host', () => {
  it('are in discovery with their claims, after the five', async () => {
    const metadata = (await provider.request('/.well-known/openid-configuration')).json();
    expect(metadata.scopes_supported).toEqual([
      ...scopeNames,
      'email',
      'phone',
      'address',
      'orders:read',
      'history',
    ]);
    expect(metadata.claims_supported).toEqual(
      expect.arrayContaining([
        'email',
        'phone_number_verified',
        'address',
        'picture',
        'updated_at',
        'orders',
        'vip',
      ]),
    );
  });

  it('can be asked for as apps do by default, and give the claims of OpenID Connect', async () => {
    expect(await userinfoWith('openid profile email')).toEqual({
      ...{ sub: ana.sub, kid: ana.kid, role: ana.role, country: ana.country, createdAt: ana.createdAt },
      ...{ name: ana.name, handle: ana.handle, avatarUrl: ana.avatarUrl },
      ...{ preferred_username: ana.handle, locale: 'ht-HT', zoneinfo: 'America/Port-au-Prince' },
      ...(ana.avatarUrl !== null && { picture: ana.avatarUrl }),
      ...{ given_name: 'Ana', family_name: 'Joseph', middle_name: 'Marie', nickname: 'Anita' },
      ...{ profile: 'https://shop.example/ana', website: 'http://ana.example/' },
      ...{ gender: 'female', birthdate: '1990-02-28' },
      ...{ updated_at: 1_769_860_800, email: 'ana@example.com', email_verified: true },
    });
    expect(await userinfoWith('phone address history orders:read')).toEqual({
      phone_number: '+50937000001',
      phone_number_verified: false,
      address: { street_address: '1 Rue Capois', locality: 'Port-au-Prince', country: 'HT' },
      orders: ['A-1', 'A-2'],
      vip: true,
    });
  });

  it('leave out parts of the name, addresses, gender and date of birth that a user does not have', async () => {
    const claims = [
      'given_name',
      'family_name',
      'middle_name',
      'nickname',
      'profile',
      'website',
      'gender',
      'birthdate',
    ];
    for (const none of [null, undefined]) {
      become(Object.fromEntries(Object.keys(nameless).map((field) => [field, none])));
      const shown = await userinfoWith('profile');
      expect(shown).toMatchObject({ name: ana.name, preferred_username: ana.handle });
      for (const claim of claims) expect(shown).not.toHaveProperty(claim);
    }
  });

  it.each(['1990', '0000-12-31', '2024-02-29', '0001-01-01'])(
    'take every date of birth of OpenID Connect: %s',
    async (birthdate) => {
      become({ birthdate });
      expect(await userinfoWith('profile')).toMatchObject({ birthdate });
    },
  );

  it('leave out what a user does not have', async () => {
    const without = { email: undefined, emailVerified: undefined, address: undefined, locale: undefined };
    become({
      ...{ ...without, ...nameless },
      updatedAt: undefined,
      zoneinfo: undefined,
      avatarUrl: null,
      claims: { orders: [] },
    });
    expect(await userinfoWith('profile email address history')).toEqual({
      ...{ name: ana.name, handle: ana.handle, avatarUrl: null, preferred_username: ana.handle, orders: [] },
    });
  });

  it('leave out what a database has NULL for', async () => {
    const none = { email: null, emailVerified: null, phoneNumber: null, phoneNumberVerified: null };
    const profile = { ...nameless, locale: null, zoneinfo: null, updatedAt: null, avatarUrl: null };
    become({ ...none, ...profile, address: null });
    expect(await userinfoWith('profile email phone address')).toEqual({
      ...{ name: ana.name, handle: ana.handle, avatarUrl: null, preferred_username: ana.handle },
    });
    become({ address: { formatted: null, streetAddress: '1 Rue Capois', region: null, country: null } });
    expect(await userinfoWith('address')).toEqual({ address: { street_address: '1 Rue Capois' } });
  });

  it.each([
    'ana@localhost',
    'ana@github',
    'ana@bücher.example',
    'jürgen@example.com',
    '测试@例子.中国',
    'ana..b.@docomo.example',
    '"ana pierre"@example.com',
    'ana@[127.0.0.1]',
    'ana/b=c@sub_domain.example.com',
    '"@"@example.com',
  ])('takes every address that a mail server may have: %s', async (email) => {
    become({ email });
    expect(await userinfoWith('email')).toMatchObject({ email });
  });

  it('are passed to users.find, and their claims appear only in userinfo', async () => {
    const find = vi.fn(() => rich);
    const watched = await startProvider({ scopes, users: { find } });
    const app = await watched.client({ allowedScopes });
    const { id_token: idToken, access_token: token } = await watched.tokens(app, { scope: 'openid history' });
    expect(Object.keys(decodeJwt(String(idToken)))).not.toContain('orders');
    find.mockClear();
    await watched.userinfo(String(token));
    expect(find.mock.calls).toEqual([[ana.sub, new Set(['openid', 'history'])]]);
  });

  it('stand on the consent page in its language, escaped', async () => {
    const app = await provider.client({ allowedScopes, redirectUris: ['http://127.0.0.1:9/callback'] });
    const page = async (locale: string) =>
      (await openConsent(provider, app, { scope: 'openid email orders:read', ui_locales: locale })).text;
    expect(await page('fr')).toContain('Voir vos commandes');
    const profile = await openConsent(provider, app, { scope: 'openid profile', ui_locales: 'en' });
    expect(profile.text).toContain('such as your date of birth');
    const english = await page('en');
    for (const words of ['See your orders', '&lt;b&gt;and when', 'See your e-mail address'])
      expect(english).toContain(words);
  });

  it('can be required of a token', async () => {
    const token = await provider.token(client, 'orders:read');
    const { verify } = provider.ostiary.tokens;
    expect(await verify(token, { scopes: ['orders:read'] })).toMatchObject({ active: true });
    expect(await verify(token, { scopes: ['history'] })).toEqual({
      active: false,
      reason: 'insufficient_scope',
    });
    await expect(verify(token, { scopes: ['orders:write'] })).rejects.toThrow(
      'there is no scope orders:write',
    );
  });

  it('are given to clients that may ask for them, and to no other', async () => {
    const narrow = await provider.client({ allowedScopes: ['openid', 'orders:read'] });
    expect(await provider.attempt(narrow, { scope: 'openid history' })).toBe('invalid_scope');
    await expect(provider.client({ allowedScopes: ['openid', 'orders:write'] })).rejects.toThrow(
      'allowedScopes.1: ',
    );
    const without = await startProvider();
    await expect(without.client({ allowedScopes: ['openid', 'email'] })).rejects.toThrow('allowedScopes.1: ');
  });
});

describe('bad data of the host', () => {
  it.each<readonly [string, object, string]>([
    ...[
      'not an address',
      '@example.com',
      'ana@',
      'ana@example.com\r\nBcc: x',
      'ana@exam ple.com',
      `${'a'.repeat(310)}@example.com`,
    ].map(
      (email) => ['email', { email }, 'email: must be an e-mail address such as ana@example.com'] as const,
    ),
    ['email', { emailVerified: 'yes' }, 'emailVerified: has to be true or false'],
    ['phone', { phoneNumber: '3700' }, 'phoneNumber: must be E.164, such as +50937000001'],
    ['address', { address: { locality: 7 } }, 'address: '],
    ['profile', { updatedAt: 'yesterday' }, 'updatedAt: '],
    ['profile', { locale: 'Creole!' }, 'locale: must be a language tag such as fr-HT'],
    ...['31.1.1990', '1990-13-01', '1990-02-30', '1990-2-3', '', '1990-01-31T00:00:00Z'].map(
      (birthdate) => ['profile', { birthdate }, 'birthdate: must be a date such as 1990-01-31'] as const,
    ),
    ...['javascript:alert(1)', 'ana.example', '/ana'].flatMap((url) => [
      ['profile', { profile: url }, 'profile: '] as const,
      ['profile', { website: url }, 'website: '] as const,
    ]),
    ['profile', { givenName: '' }, 'givenName: '],
    ['profile', { gender: 1 }, 'gender: '],
    ['history', { claims: undefined }, 'claims.orders: '],
    ['history', { claims: { orders: 'A-1' } }, 'claims.orders: '],
    ['history', { claims: { orders: [], vip: 1 } }, 'claims.vip: '],
  ])(
    '%s with %j is a 500 that shows nothing of it, and the log names the field',
    async (scope, changes, field) => {
      const token = await provider.token(client, scope);
      become(changes);
      provider.logged.length = 0;
      const answer = await provider.userinfo(token);
      expect(answer.outcome).toBe('500 server_error');
      expect(answer.text).not.toMatch(/orders|claims|email|phone|locale|updated|birth|website|gender/i);
      expect(provider.errors.map(({ fields }) => String(Reflect.get(fields, 'err')))).toEqual([
        expect.stringContaining(`users.find: ${field}`),
      ]);
    },
  );

  it('and so is a schema that answers later', async () => {
    const later = {
      '~standard': { version: 1, vendor: 'test', validate: () => Promise.reject(new Error('later')) },
    } as const;
    const slow = await startProvider({ scopes: { slow: { claims: { late: later }, consent } } });
    const token = await slow.token(await slow.client({ allowedScopes: ['slow'] }), 'slow').catch(String);
    expect(token).toContain('500');
  });
});

describe('the option scopes', () => {
  const check = z.string();
  it.each<readonly [unknown, string]>([
    [7, 'scopes: must be an object'],
    [{ kyc: { consent } }, 'scopes.kyc: is one of the five, which stay as they are'],
    [{ openid: true }, 'scopes.openid: is one of the five, which stay as they are'],
    [{ offline_access: { consent } }, 'scopes.offline_access: is not a name that a scope can have'],
    [{ 'a b': { consent } }, 'scopes.a b: is not a name that a scope can have'],
    [{ 'a"b': { consent } }, 'scopes.a"b: is not a name that a scope can have'],
    [{ ['x'.repeat(101)]: { consent } }, 'is not a name that a scope can have'],
    [{ email: { consent } }, 'scopes.email: has to be true or false'],
    [{ standardProfile: 'yes' }, 'scopes.standardProfile: has to be true or false'],
    [{ orders: true }, 'scopes.orders: has to be an object'],
    [{ orders: { consent, claim: {} } }, 'scopes.orders.claim: is not a known field'],
    [{ orders: {} }, 'scopes.orders.consent: is missing'],
    [
      { orders: { consent: { ...consent, fr: { title: ' ', detail: 'x' } } } },
      'scopes.orders.consent.fr.title: is empty',
    ],
    [{ orders: { consent: { en: consent.en } } }, 'scopes.orders.consent.fr: is missing'],
    [
      { orders: { consent, claims: { sub: check } } },
      'scopes.orders.claims.sub: its name has another meaning in tokens',
    ],
    [
      { orders: { consent, claims: { at_hash: check } } },
      'scopes.orders.claims.at_hash: its name has another meaning',
    ],
    [{ orders: { consent, claims: { kid: check } } }, 'scopes.orders.claims.kid: openid has this claim too'],
    [
      { a: { consent, claims: { x: check } }, b: { consent, claims: { x: check } } },
      'scopes.b.claims.x: a has this',
    ],
    [
      { email: true, a: { consent, claims: { email: check } } },
      'scopes.a.claims.email: email has this claim too',
    ],
    [
      { orders: { consent, claims: { 'a b': check } } },
      'scopes.orders.claims.a b: its name is not a valid name for a claim',
    ],
    [{ orders: { consent, claims: { x: {} } } }, 'scopes.orders.claims.x: has to be a Standard Schema'],
    [JSON.parse('{"__proto__":{"consent":{}}}'), 'scopes.__proto__: is not a name that a scope can have'],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`s${index}`, { consent }])),
      'scopes: takes 100 at most',
    ],
  ])('%j is refused', async (given, message) => {
    const options = { scopes: given } as Partial<OstiaryOptions>;
    await expect(startProvider(options)).rejects.toThrow(message);
  });

  it('leaves off what is switched off', async () => {
    const off = await startProvider({ scopes: { email: false, standardProfile: false } });
    const metadata = (await off.request('/.well-known/openid-configuration')).json();
    expect(metadata.scopes_supported).toEqual(scopeNames);
    expect(metadata.claims_supported).not.toContain('picture');
  });

  it('asks a language of the host for the words of what is switched on', async () => {
    const options = { languages: ['en', 'ar'], texts: { ar: arabic } };
    await expect(startProvider({ ...options, scopes: { email: true } })).rejects.toThrow(
      'texts.ar.scopes.email: is missing',
    );
    const email = { title: 'عنوان', detail: 'عنوان البريد' };
    const texts = {
      ar: { ...arabic, scopes: { ...arabic.scopes, email } },
      en: { scopes: { email: { title: 'Mail' } } },
    };
    const own = { orders: { consent: { ...consent, ar: email } } };
    expect(
      await startProvider({ languages: ['en', 'ar'], texts, scopes: { email: true, ...own } }),
    ).toBeDefined();
  });
});
