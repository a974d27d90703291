import { fieldProblemOf } from '@ostiary/core/console';
import { expect, it } from 'vitest';
import { consoleKit, csrfOf, operatorsKit } from './console-kit.ts';

const french = { 'accept-language': 'fr' };

it('says in the language of the page why operators’ values are refused', async () => {
  const kit = await operatorsKit();
  const browser = kit.browser('ana');
  const { partner, id } = await kit.key();
  await kit.provider.client({ clientId: 'app' });
  const app = { act: 'create', name: 'App', clientId: 'new', redirectUris: '', 'scope openid': 'on' };
  const cases: readonly (readonly [page: string, form: Record<string, string>, said: string])[] = [
    ['/partners', { act: 'create', slug: 'NO', name: 'x' }, '2 à 40 caractères parmi a-z, 0-9 et le tiret.'],
    ['/partners', { act: 'create', slug: partner, name: 'x' }, 'Un partenaire a déjà cet identifiant court.'],
    ['/partners', { act: 'create', slug: 'okay', name: ' ' }, 'Un nom est nécessaire.'],
    ['/partners', { act: 'create', slug: 'okay', name: 'x'.repeat(101) }, '100 caractères au plus.'],
    [`/partners/${partner}`, { act: 'rename', name: 'a\u202eb' }, 'de direction. (U+202E)'],
    [`/partners/${partner}/keys`, { act: 'issue' }, 'Ce champ est vide.'],
    [
      `/partners/${partner}/keys`,
      { act: 'issue', 'scope webhooks': 'on', allowlist: '::1\nhome' },
      '2: Ce n’est ni une adresse IP ni une plage CIDR.',
    ],
    [
      `/partners/${partner}/keys/${id}`,
      { act: 'roll', overlapSeconds: '99999999' },
      '7\u202f776\u202f000 au plus.',
    ],
    [
      '/new-client',
      { ...app, redirectUris: 'http://a.example/' },
      '1: http est réservé aux adresses de bouclage.',
    ],
    ['/new-client', { ...app, redirectUris: 'https://a.example/#x' }, '1: Aucun fragment (#) n’est permis.'],
    ['/new-client', { ...app, redirectUris: 'a:b' }, 'Ce schéma n’a pas de point'],
    [
      '/new-client',
      { ...app, redirectUris: 'https://a.example/', clientId: 'app' },
      'Un client a déjà cet identifiant.',
    ],
    [
      '/new-client',
      { ...app, redirectUris: 'https://a.example/', partner: 'nobody' },
      'Ce partenaire n’existe pas.',
    ],
  ];
  for (const [page, form, said] of cases) {
    const csrf = csrfOf((await browser.get(`/operators${page}`)).text);
    const { status, text } = await browser.post(`/operators${page}`, { csrf, ...form }, french);
    expect.soft([page, form, status]).toEqual([page, form, 400]);
    expect.soft(text.replaceAll('&#39;', "'")).toContain(said);
  }
});

it('says in the language of the page why keys, a profile, a logo or a logout URL are refused', async () => {
  const kit = await operatorsKit({ privateKeyJwt: true });
  const browser = kit.browser('ana');
  await kit.provider.client({ clientId: 'app' });
  const redirectUris = 'https://a.example/';
  const app = { act: 'create', name: 'App', clientId: 'new', redirectUris, 'scope openid': 'on' };
  const jwks = (key: object) => JSON.stringify({ keys: [key] });
  for (const [form, said] of [
    [{ jwks: jwks({ kty: 'EC', d: 'x' }) }, '1: C’est une clé privée.'],
    [{ jwks: jwks({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }) }, '1: Ce n’est pas une clé valide.'],
    [
      { backchannelLogoutUri: 'http://a.example/' },
      'L’URL doit commencer par le schéma https, suivi d’un hôte.',
    ],
    [{ jwksUri: 'https://10.0.0.1/' }, 'L’hôte doit être résolu, et seulement en adresses publiques.'],
    [{ profile: 'fapi2' }, 'FAPI 2.0 exige les options privateKeyJwt, pushedRequests et dpop'],
    [{ defaultScope: 'openid kyc' }, 'Un scope n’est pas parmi ceux qui sont permis.'],
    [{ requirePushedRequests: 'on' }, 'Cette installation n’a pas de demandes envoyées d’avance'],
  ] as const) {
    const csrf = csrfOf((await browser.get('/operators/new-client')).text);
    const { status, text } = await browser.post('/operators/new-client', { csrf, ...app, ...form }, french);
    expect.soft([form, status]).toEqual([form, 400]);
    expect.soft(text).toContain(said);
    // Nothing of the English text is left.
    expect.soft(text).not.toMatch(/has to|needs the|is not among/);
  }
  for (const [text, code] of [
    ['has to be square (64 × 32)', 'logo_square'],
    ['has to have 32 to 1024 pixels on a side (31)', 'logo_pixels'],
    ['may have 65536 bytes at most', 'logo_bytes'],
    ['has iCCP: save it as a plain PNG, without animation, color profile and metadata', 'logo_plain'],
    ['is damaged', 'logo_damaged'],
  ] as const)
    expect.soft(fieldProblemOf(text)?.code).toBe(code);
});

it('says where clients may have private addresses', async () => {
  const webhooks = { allowPrivateTargets: true };
  const { text } = await (await operatorsKit({ webhooks })).browser('ana').get('/operators/new-client');
  expect(text).toContain(
    'An http or https address instead of the keys; this installation allows private ones.',
  );
  expect(text).not.toContain('A public https address');
});

it('says in the language of the page why a URL or a secret is refused', async () => {
  const kit = await consoleKit();
  const browser = await kit.signedIn(await kit.key());
  const page = await browser.get('/sandbox/endpoints');
  expect(page.text).toContain('A public https address.');
  for (const [form, said] of [
    [{ url: 'http://receiver.example/' }, 'L’URL doit commencer par le schéma https, suivi d’un hôte.'],
    [{ url: 'https://10.0.0.1/' }, 'L’hôte doit être résolu, et seulement en adresses publiques.'],
    [{ url: 'https://receiver.example:22/' }, 'Le port doit être 443, ou 1024 et plus.'],
    [{ url: 'https://receiver.example/', secret: 'short' }, '16 à 256 caractères.'],
  ] as const) {
    const given = { csrf: csrfOf(page.text), secret: '', 'type *': 'on', ...form };
    const { status, text } = await browser.post('/sandbox/endpoints', given, french);
    expect.soft([form, status]).toEqual([form, 400]);
    expect.soft(text).toContain(said);
  }
});

it('says where private addresses are allowed', async () => {
  const kit = await consoleKit({ webhooks: { allowPrivateTargets: true } });
  const browser = await kit.signedIn(await kit.key());
  const { text } = await browser.get('/sandbox/endpoints');
  expect(text).toContain('this installation allows private ones');
  expect(text).not.toContain('A public https address.');
});

it('knows the code of each text, and leaves other texts alone', () => {
  expect(fieldProblemOf('has to have at most 100 characters')).toEqual({
    code: 'max_characters',
    number: 100,
  });
  expect(fieldProblemOf('takes 2 to 40 of a-z 0-9 -')).toEqual({ code: 'slug_form', number: null });
  for (const text of ['', 'constructor', 'is not a known field', 'has to be nice'])
    expect(fieldProblemOf(text)).toBe(null);
});
