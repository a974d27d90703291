import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client({ allowedScopes: ['openid', 'profile'] });
const disabled = await provider.client();
await provider.ostiary.admin.clients.disable(disabled.id);

const browsers = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html, application/json',
  'application/xhtml+xml, text/html;q=0.5',
  'application/json;q=0.5, text/html',
];
const programs = [
  'application/json, text/html;q=0.9',
  'text/html;q=0.9, application/json',
  'text/html;q=0, application/json',
  'application/json, */*;q=0.1',
];
const anything = ['*/*', '', 'image/png'];

const get = (url: string, accept: string) => provider.request(url, { headers: { accept } });

const evil = { redirect_uri: 'https://evil.example/' };
const unknown = ['nobody', 'no such! id', 'a\0', '__proto__', 'constructor', "' OR 1=1--", 'a'.repeat(300)];
const bad: readonly (readonly [url: string, outcome: string | RegExp])[] = [
  ...unknown.map((client_id) => {
    const url = provider.authorizeUrl(client, { client_id });
    return [url, /^40[01] invalid_(client|request)$/] as const;
  }),
  [provider.authorizeUrl(disabled), '401 invalid_client'],
  [provider.authorizeUrl(client, { ...evil, scope: 'x', response_type: 'x' }), '400 redirect_uri_mismatch'],
  [provider.authorizeUrl(client, { client_id: undefined }), '400 invalid_request'],
  [provider.authorizeUrl(client, { client_id: '' }), '400 invalid_request'],
];

it.each([...browsers, ...programs, ...anything])(
  'an unknown client, a disabled one, or a redirect URI that is not registered never redirects, with Accept: %s',
  async (accept) => {
    for (const [url, outcome] of bad) {
      const answer = await get(url, accept);
      expect([answer.outcome, answer.location]).toEqual([expect.stringMatching(outcome), null]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('www-authenticate')).toBeNull();
      if (browsers.includes(accept)) {
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(answer.text).toContain(answer.headers.get('x-request-id'));
      } else expect(Object.keys(answer.json())).toEqual(['error', 'error_description']);
    }
  },
);

describe('any other authorization error', () => {
  it.each<readonly [Record<string, string | undefined>, string]>([
    [{ scope: undefined }, 'invalid_request'],
    [{ scope: 'openid kyc' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ prompt: 'none' }, 'login_required'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ id_token_hint: 'x' }, 'invalid_request'],
  ])('%j goes to the client as %s, unless the caller prefers JSON', async (changes, error) => {
    const told = { error, error_description: expect.stringMatching(/./) };
    for (const accept of [...browsers, ...anything, ...programs]) {
      const answer = await get(provider.authorizeUrl(client, changes), accept);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      if (programs.includes(accept)) {
        expect([answer.status, answer.location, answer.json()]).toEqual([400, null, told]);
        continue;
      }
      expect([answer.status, answer.location?.split('?')[0]]).toEqual([303, client.redirectUri]);
      const sent = { ...told, iss: provider.origin, state: 'a state' };
      expect(Object.fromEntries(answer.callback)).toEqual(sent);
    }
  });

  it('keeps the parameters that the registered redirect URI has', async () => {
    const other = await provider.client({ redirectUris: ['https://app.example/cb?tenant=a%20b&x='] });
    const { callback } = await provider.browser().get(provider.authorizeUrl(other, { scope: undefined }));
    expect(Object.fromEntries(callback)).toMatchObject({ tenant: 'a b', x: '', error: 'invalid_request' });
  });
});

describe('state', () => {
  it('may have 4096 bytes; the client gets an error for a longer one, and the state back', async () => {
    const longest = 'é'.repeat(2048);
    expect((await provider.authorize(client, { state: longest })).get('state')).toBe(longest);
    const tooLong = 's'.repeat(4097);
    const url = provider.authorizeUrl(client, { state: tooLong });
    const { callback, outcome } = await provider.browser().get(url);
    expect([outcome, callback.get('state')]).toEqual(['303 invalid_request', tooLong]);
    expect(callback.get('error_description')).toBe('The parameter state may have 4096 bytes at most.');
  });

  it('is refused on a page where the URL of the answer would be too long for the app', async () => {
    const url = provider.authorizeUrl(client, { state: 's'.repeat(13_000) });
    const page = await provider.browser().get(url);
    expect([page.outcome, page.location]).toEqual(['400 invalid_request', null]);
    expect(page.text).not.toContain('sss');
  });

  it('is not invented if none was sent', async () => {
    for (const scope of ['openid', 'kyc'])
      expect((await provider.authorize(client, { state: undefined, scope })).has('state')).toBe(false);
  });
});
