import { createHash } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { expect } from 'vitest';
import { authorize, refused, signIn } from '../support/flow.ts';
import { randomText, redirectUri, type Suite } from '../support/suite.ts';
import { type Module, module, notForStaticClients, type RunModule } from './module.ts';

/**
 * Makes the check of a conformance module that signs in with a fresh browser and additional parameters, which
 * must not change the result.
 */
const undisturbedBy =
  (parameters: Record<string, string>): RunModule['run'] =>
  async (suite) => {
    const { visit } = await signIn(suite, { parameters });
    expect(visit.logins).toBe(1);
  };

/** Checks that the browser is never redirected to a wrong redirect URI: a page shows the reason. */
async function refusedOnPage(suite: Suite, request: Record<string, string>): Promise<void> {
  const { callback, page } = await suite.visit(request);
  expect(callback).toBeNull();
  expect([page.status, page.location]).toEqual([400, null]);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.text).toContain('redirect_uri_mismatch');
}

/**
 * Builds an authorization request whose parameters are in an unsigned request object. Parameters that OAuth
 * itself requires are also outside the object.
 */
function withRequestObject(suite: Suite, outside: Record<string, string> = {}): Record<string, string> {
  const { state, nonce, ...required } = suite.request();
  const object = new UnsecuredJWT({ ...required, state, nonce })
    .setIssuer(suite.client.id)
    .setAudience(String(suite.metadata.issuer))
    .encode();
  return { ...required, ...outside, request: object };
}

const screenshot = { review: 'the original asks for a screenshot of the page' };

/** Conformance modules about responses to requests, and about parameters that must change nothing. */
export const requests: readonly Module[] = [
  module(
    'oidcc-server',
    'a whole sign-in: responses, code, token, ID token with signature and `at_hash`, userinfo',
    async (suite) => {
      const { visit, tokens, header } = await signIn(suite);
      expect([visit.logins, visit.consents]).toEqual([1, 1]);
      expect(header.alg).toBe('RS256');
      expect(tokens.scope).toBe('openid');
    },
  ),
  module(
    'oidcc-response-type-missing',
    'a request without `response_type` gets `invalid_request`',
    async (suite) => {
      const { response_type: _, ...request } = suite.request();
      expect(await refused(suite, request)).toBe('invalid_request');
    },
  ),
  notForStaticClients('oidcc-idtoken-signature'),
  notForStaticClients('oidcc-idtoken-unsigned'),
  module(
    'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    'a request without `nonce` gets a code',
    (suite) => {
      const { nonce: _, ...request } = suite.request();
      return authorize(suite, request);
    },
  ),
  module('oidcc-display-page', 'a request with `display=page` succeeds', undisturbedBy({ display: 'page' })),
  module(
    'oidcc-display-popup',
    'a request with `display=popup` succeeds',
    undisturbedBy({ display: 'popup' }),
  ),
  module(
    'oidcc-ensure-request-with-unknown-parameter-succeeds',
    'an unknown parameter is ignored',
    undisturbedBy({ extra: 'foobar' }),
  ),
  module(
    'oidcc-login-hint',
    'a request with `login_hint` succeeds',
    undisturbedBy({ login_hint: 'ana@id.example' }),
  ),
  module(
    'oidcc-ui-locales',
    'a request with an unknown language in `ui_locales` succeeds',
    undisturbedBy({ ui_locales: 'se' }),
  ),
  module(
    'oidcc-claims-locales',
    'a request with `claims_locales` succeeds',
    undisturbedBy({ claims_locales: 'se' }),
  ),
  module(
    'oidcc-ensure-request-with-acr-values-succeeds',
    '`acr_values` does no harm',
    async (suite) => {
      expect(suite.metadata).not.toHaveProperty('acr_values_supported');
      const { claims } = await signIn(suite, { parameters: { acr_values: '1 2' } });
      expect(claims).not.toHaveProperty('acr');
    },
    { warning: 'the ID token has no `acr`: the host signs users in, and the metadata promises no classes' },
  ),
  module(
    'oidcc-ensure-registered-redirect-uri',
    'the browser is never sent to a redirect URI that is not registered; a page shows the reason',
    (suite) => refusedOnPage(suite, suite.request({ redirect_uri: `https://suite.example/${randomText()}` })),
    screenshot,
  ),
  module('oidcc-ensure-post-request-succeeds', 'the authorization request may be a POST', (suite) =>
    signIn(suite, { post: true }),
  ),
  module('oidcc-server-client-secret-post', 'a whole sign-in with the client secret in the form', (suite) =>
    signIn(suite, { authentication: 'client_secret_post' }),
  ),
  notForStaticClients('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported'),
  module(
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    'a request object is refused with `request_not_supported`, as the metadata says',
    async (suite) => {
      expect(suite.metadata.request_parameter_supported).toBe(false);
      const { callback } = await suite.visit(withRequestObject(suite));
      expect(callback?.get('error')).toBe('request_not_supported');
      expect(callback?.get('iss')).toBe(suite.metadata.issuer);
      expect(callback?.has('code')).toBe(false);
    },
    { skipped: 'the original skips the module if the provider responds with this error' },
  ),
  module(
    'oidcc-ensure-request-object-with-redirect-uri',
    'a wrong redirect URI leads to an error page, even if the request object has a correct one',
    (suite) => {
      const wrong = { redirect_uri: `${redirectUri}${randomText()}` };
      return refusedOnPage(suite, withRequestObject(suite, wrong));
    },
    screenshot,
  ),
  module(
    'oidcc-ensure-request-with-valid-pkce-succeeds',
    'a client that uses PKCE together with its secret can sign users in',
    (suite) => {
      const verifier = randomText(32);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      return signIn(suite, {
        parameters: { code_challenge: challenge, code_challenge_method: 'S256' },
        tokenRequest: { code_verifier: verifier },
      });
    },
  ),
];

/**
 * Makes the check of a conformance module that signs in with more scopes, which add the given claims to
 * userinfo.
 */
const adding =
  (scope: string, claims: Record<string, unknown>): RunModule['run'] =>
  async (suite) => {
    const parameters = { scope: `openid ${scope}` };
    for (const name of scope.split(' ')) expect(suite.metadata.scopes_supported).toContain(name);
    expect(suite.metadata.claims_supported).toEqual(expect.arrayContaining(Object.keys(claims)));
    expect((await signIn(suite, { parameters })).userinfo).toMatchObject(claims);
  };

const email = { email: expect.stringContaining('@'), email_verified: true };
const phone = { phone_number: expect.stringMatching(/^\+\d+$/), phone_number_verified: true };
const address = { address: { street_address: expect.any(String), country: expect.any(String) } };
const profile = {
  ...{ name: expect.any(String), preferred_username: expect.any(String), picture: expect.any(String) },
  ...{ locale: expect.any(String), zoneinfo: expect.any(String), updated_at: expect.any(Number) },
  ...{ given_name: expect.any(String), family_name: expect.any(String), middle_name: expect.any(String) },
  ...{ nickname: expect.any(String), profile: expect.any(String), website: expect.any(String) },
  ...{ gender: expect.any(String), birthdate: expect.any(String) },
};

/** Conformance modules about consent and the claims that a consent releases. */
export const scopes: readonly Module[] = [
  module(
    'oidcc-scope-profile',
    'the scope `profile` adds to userinfo, and claims have their standard types',
    async (suite) => {
      expect(suite.metadata.scopes_supported).toContain('profile');
      const { userinfo } = await signIn(suite, { parameters: { scope: 'openid profile' } });
      expect(userinfo).toMatchObject(profile);
    },
  ),
  module('oidcc-scope-email', 'the scope `email` adds its claims to userinfo', adding('email', email)),
  module('oidcc-scope-address', 'the scope `address` adds its claim to userinfo', adding('address', address)),
  module('oidcc-scope-phone', 'the scope `phone` adds its claims to userinfo', adding('phone', phone)),
  module(
    'oidcc-scope-all',
    'all of these scopes together add all of their claims to userinfo',
    adding('profile email address phone', { ...profile, ...email, ...address, ...phone }),
  ),
  module(
    'oidcc-alternate-happy-flow',
    'neither the order of scopes nor the order of parameters matters',
    async (suite) => {
      const parameters = { scope: 'email openid' };
      const { tokens, userinfo, claims } = await signIn(suite, { parameters, isReversed: true });
      expect(String(tokens.scope).split(' ').toSorted()).toEqual(['email', 'openid']);
      expect(userinfo).toMatchObject(email);
      // Claims of a scope belong into userinfo if there is an access token (OpenID Connect Core, section
      // 5.4).
      for (const part of [claims, userinfo]) expect(part).not.toHaveProperty('name');
      expect(claims).not.toHaveProperty('email');
    },
  ),
];
