import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client({ allowedScopes: ['openid', 'profile'] });
const disabled = await provider.client();
await provider.ostiary.admin.clients.disable(disabled.id);

const browsers = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html',
  'text/html, application/json',
  'application/xhtml+xml, text/html;q=0.5',
  'application/json;q=0.5, text/html',
];
const programs = [
  'application/json',
  'application/json, text/html;q=0.9',
  'text/html;q=0.9, application/json',
  'text/html;q=0, application/json',
  'application/json, */*;q=0.1',
];
const anything = ['*/*', '', 'image/png'];

const get = (url: string, accept: string) => provider.request(url, { headers: { accept } });

describe('an unknown client, a disabled one, or a redirect URI that is not registered', () => {
  const evil = { redirect_uri: 'https://evil.example/' };
  const unknown = ['nobody', 'no such! id', 'a\0', '__proto__', 'constructor', "' OR 1=1--", 'a'.repeat(300)];
  const bad: readonly (readonly [string, string | RegExp])[] = [
    ...unknown.map(
      (client_id) =>
        [provider.authorizeUrl(client, { client_id }), /^40[01] invalid_(client|request)$/] as const,
    ),
    [provider.authorizeUrl(disabled), '401 invalid_client'],
    [provider.authorizeUrl(client, evil), '400 redirect_uri_mismatch'],
    [
      provider.authorizeUrl(client, { ...evil, scope: 'nonsense', response_type: 'x' }),
      '400 redirect_uri_mismatch',
    ],
    [provider.authorizeUrl(client, { client_id: undefined }), '400 invalid_request'],
    [provider.authorizeUrl(client, { client_id: '' }), '400 invalid_request'],
  ];

  it.each(browsers)('never redirects, and shows a page to Accept: %s', async (accept) => {
    for (const [url, outcome] of bad) {
      const answer = await get(url, accept);
      expect(answer.outcome).toMatch(outcome);
      expect(answer.location).toBeNull();
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.text).toContain(answer.headers.get('x-request-id'));
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it.each([...programs, ...anything])('answers Accept: %s with JSON', async (accept) => {
    for (const [url, outcome] of bad) {
      const answer = await get(url, accept);
      expect(answer.outcome).toMatch(outcome);
      expect(answer.location).toBeNull();
      expect(Object.keys(answer.json())).toEqual(['error', 'error_description']);
      expect(answer.headers.get('pragma')).toBe('no-cache');
      expect(answer.headers.get('www-authenticate')).toBeNull();
    }
  });
});

describe('any other authorization error', () => {
  const cases: readonly (readonly [Record<string, string | undefined>, string])[] = [
    [{ scope: undefined }, 'invalid_request'],
    [{ scope: 'openid kyc' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ prompt: 'none' }, 'login_required'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ id_token_hint: 'x' }, 'invalid_request'],
  ];

  it.each(cases)(
    '%j redirects browsers, and callers that take anything, to the client with %s',
    async (changes, error) => {
      for (const accept of [...browsers, ...anything]) {
        const answer = await get(provider.authorizeUrl(client, changes), accept);
        expect(answer.status).toBe(303);
        expect(answer.location?.split('?')[0]).toBe(client.redirectUri);
        expect(Object.fromEntries(answer.callback)).toEqual({
          error,
          error_description: expect.stringMatching(/./),
          iss: provider.origin,
          state: 'a state',
        });
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
    },
  );

  it.each(cases)('%j answers callers that prefer JSON with JSON, and %s', async (changes, error) => {
    for (const accept of programs) {
      const answer = await get(provider.authorizeUrl(client, changes), accept);
      expect([answer.status, answer.location]).toEqual([400, null]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.json()).toEqual({ error, error_description: expect.stringMatching(/./) });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-request-id')).toBeTruthy();
    }
  });

  it('keeps the parameters that the registered redirect URI has', async () => {
    const other = await provider.client({ redirectUris: ['https://app.example/cb?tenant=a%20b&x='] });
    const { callback } = await provider.browser().get(provider.authorizeUrl(other, { scope: undefined }));
    expect(Object.fromEntries(callback)).toMatchObject({ tenant: 'a b', x: '', error: 'invalid_request' });
  });

  it('is access_denied when the user says no, with state and issuer', async () => {
    const { callback } = await provider.follow(provider.browser(), provider.authorizeUrl(client), 'deny');
    expect(Object.fromEntries(callback)).toEqual({
      error: 'access_denied',
      error_description: 'The user denied the request.',
      state: 'a state',
      iss: provider.origin,
    });
  });
});

describe('state', () => {
  it('may have 1024 bytes; a longer one is refused on a page, and nobody is sent anywhere', async () => {
    const longest = 'é'.repeat(512);
    expect((await provider.authorize(client, { state: longest })).get('state')).toBe(longest);
    const url = provider.authorizeUrl(client, { state: `${longest}x` });
    const page = await provider.browser().get(url);
    expect([page.outcome, page.location]).toEqual(['400 invalid_request', null]);
    expect(page.text).not.toContain('éé');
    expect((await get(url, 'application/json')).json()).toEqual({
      error: 'invalid_request',
      error_description: 'The parameter state may have 1024 bytes at most.',
    });
  });

  it('is not made up where none was sent', async () => {
    expect((await provider.authorize(client, { state: undefined })).has('state')).toBe(false);
    expect((await provider.authorize(client, { state: undefined, scope: 'kyc' })).has('state')).toBe(false);
  });
});

describe('an authorization request that is posted', () => {
  it('goes on as a GET with the same parameters', async () => {
    const browser = provider.browser();
    const url = new URL(provider.authorizeUrl(client, { state: 'ä & b' }));
    const answer = await browser.post(url.origin + url.pathname, Object.fromEntries(url.searchParams));
    expect(answer.status).toBe(303);
    const { callback } = await provider.follow(browser, answer.location ?? '');
    expect([callback.get('state'), callback.has('code')]).toEqual(['ä & b', true]);
  });

  it('takes forms only', async () => {
    const answer = await provider.call('/oauth/authorize', { client_id: client.id });
    expect(answer.outcome).toBe('415 invalid_request');
  });
});
