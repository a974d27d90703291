import { describe, expect, it } from 'vitest';
import { type OAuthErrorCode, oauthErrors } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { startProvider } from '../support/running.ts';

const database = fragileStorage();
const provider = await startProvider({
  dpop: true,
  storage: database.storage,
  introspection: true,
  claimsParameter: true,
  resources: {},
  pushedRequests: {},
  limits: { authorizeStarts: 1_000, failedClientAuthentications: 3 },
});
const client = await provider.client();

const json = { accept: 'application/json' };
const authorize = (changes: Record<string, string>, browser = provider.browser()) =>
  browser.get(provider.authorizeUrl(client, changes), json);

/**
 * Real requests that cause each error code. A missing code does not compile, and a request with another
 * result fails the test.
 */
const requests: { readonly [Code in OAuthErrorCode]: () => Promise<Answer> } = {
  invalid_request: () => provider.call('/v1/oauth/token', '{'),
  invalid_client: () => provider.exchange({ ...client, secret: 'wrong' }, 'x'),
  invalid_grant: () => provider.exchange(client, 'x'),
  unauthorized_client: () =>
    provider.call('/v1/oauth/introspect', {
      ...{ token: 'x', client_id: client.id, client_secret: client.secret },
    }),
  async invalid_dpop_proof() {
    const strict = await provider.client({ requireDpop: true });
    return provider.exchange(strict, await provider.code(strict));
  },
  invalid_scope: () => authorize({ scope: 'openid email' }),
  invalid_target: () => authorize({ resource: 'https://other.example' }),
  redirect_uri_mismatch: () => authorize({ redirect_uri: 'https://evil.example/' }),
  async access_denied() {
    const page = await openConsent(provider, client);
    return page.browser.get((await page.deny()).location ?? '', json);
  },
  async token_expired() {
    const token = await provider.token(client);
    provider.clock.advance(3_600_000);
    return provider.userinfo(token);
  },
  invalid_token: () => provider.userinfo('x'),
  unsupported_grant_type: () => provider.exchange(client, 'x', { grant_type: 'password' }),
  unsupported_response_type: () => authorize({ response_type: 'token' }),
  login_required: () => authorize({ prompt: 'none' }, provider.browser(null)),
  consent_required: () => authorize({ prompt: 'none', scope: 'openid kyc' }),
  async unmet_authentication_requirements() {
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:example:gold' } } });
    const browser = provider.browser(null);
    const { callback } = await provider.follow(browser, provider.authorizeUrl(client, { claims }));
    provider.signIn(browser, ana.sub);
    const refused = await browser.get(callback.get('return_to') ?? '');
    return browser.get(refused.location ?? '', json);
  },
  request_not_supported: () => authorize({ request: 'x' }),
  request_uri_not_supported: () => authorize({ request_uri: 'https://app.example/request' }),
  invalid_request_uri: () => authorize({ request_uri: 'urn:ietf:params:oauth:request_uri:unknown' }),
  registration_not_supported: () => authorize({ registration: '{}' }),
  async slow_down() {
    for (let time = 0; time < 3; time += 1) await provider.exchange({ ...client, secret: 'wrong' }, 'x');
    const answer = await provider.exchange(client, 'x');
    provider.clock.advance(60_000);
    return answer;
  },
  not_found: () => provider.request('/v1/nowhere'),
  async temporarily_unavailable() {
    database.breakWhen(() => true);
    const answer = await provider.userinfo(`svc_at_${'a'.repeat(43)}`);
    database.breakWhen(null);
    return answer;
  },
  async server_error() {
    const token = await provider.token(await provider.client());
    provider.host.people.set(ana.sub, { ...ana, country: 'nowhere' });
    const answer = await provider.userinfo(token);
    provider.host.people.set(ana.sub, ana);
    return answer;
  },
};

const codes = Object.keys(oauthErrors) as OAuthErrorCode[];

describe('every error of the table', () => {
  it.each(codes)('%s is answered with its status, its code, and the headers of every error', async (code) => {
    const answer = await requests[code]();
    expect(answer.outcome).toBe(`${oauthErrors[code].status} ${code}`);
    const error_description = expect.stringMatching(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
    expect([answer.json(), answer.location]).toEqual([{ error: code, error_description }, null]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-content-type-options': 'nosniff',
    });
    const waits = answer.status === 429 || answer.status === 503;
    expect(answer.headers.get('retry-after')).toEqual(waits ? expect.stringMatching(/^[1-9]\d*$/) : null);
    expect(answer.headers.get('www-authenticate') !== null).toBe(
      answer.status === 401 && code !== 'invalid_client',
    );
  });

  it.each(codes)('%s has a text and a reason that can be published', (code) => {
    const { text, when } = oauthErrors[code];
    for (const sentence of [text, when]) expect(sentence).toMatch(/^[A-Z`].*\.$/);
  });

  it('has the status of the specification where that names one', () => {
    for (const code of ['invalid_grant', 'invalid_scope', 'redirect_uri_mismatch', 'access_denied'] as const)
      expect([code, oauthErrors[code].status]).toEqual([code, 400]);
    for (const code of ['invalid_client', 'token_expired'] as const)
      expect([code, oauthErrors[code].status]).toEqual([code, 401]);
  });
});
