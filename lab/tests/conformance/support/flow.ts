import { createHash } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import type { Answer, TestBrowser } from '../../../../packages/core/test/support/browser.ts';
import { basic, type TestClient } from '../../../../packages/core/test/support/provider.ts';
import { redirectUri, type Suite } from './suite.ts';

/** Maximum difference between clocks, in seconds, as in the original conformance suite. */
const skewSeconds = 300;

/** Matches the characters that an error description may have (RFC 6749, section 5.2). */
export const describable = /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/;

/** Optional variations of a sign-in. */
interface FlowOptions {
  /** True to send the parameters of the authorization request in reverse alphabetical order. */
  readonly isReversed?: boolean;
  readonly browser?: TestBrowser;
  readonly parameters?: Record<string, string>;
  readonly client?: TestClient;
  /** Method with which the client authenticates at the token endpoint. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post';
  /** Additional parameters of the token request. */
  readonly tokenRequest?: Record<string, string>;
  /** True to send the authorization request as a form. */
  readonly post?: boolean;
}

/** Results of one sign-in. */
export type SignIn = Awaited<ReturnType<typeof signIn>>;

function expectJson(answer: Answer, status: number): Record<string, unknown> {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  return answer.json();
}

/**
 * Checks the requirements for every response to an authorization request; returns the response's parameters.
 */
async function answered(
  suite: Suite,
  request: Record<string, string>,
  { browser, post = false }: FlowOptions = {},
) {
  const visit = await suite.visit(request, { post, ...(browser && { browser }) });
  const { callback } = visit;
  if (callback === null) throw new Error('the browser did not come back to the client');
  expect(callback.get('state')).toBe(request.state ?? null);
  expect(callback.get('iss')).toBe(suite.metadata.issuer);
  return { visit, callback };
}

/** Sends an authorization request whose response must be an error, and returns the error. */
export async function refused(suite: Suite, request: Record<string, string>): Promise<string> {
  const { callback } = await answered(suite, request);
  expect(callback.get('error_description') ?? 'none').toMatch(describable);
  const known = ['error', 'error_description', 'error_uri', 'state', 'iss'];
  expect([...callback.keys()].filter((name) => !known.includes(name))).toEqual([]);
  expect(callback.get('error')).toMatch(/^[a-z_]+$/);
  return callback.get('error') ?? '';
}

/** Sends an authorization request that must succeed, lets the user approve it, and returns the code. */
export async function authorize(suite: Suite, request: Record<string, string>, options?: FlowOptions) {
  const { visit, callback } = await answered(suite, request, options);
  expect(callback.get('error'), String(callback)).toBeNull();
  const code = callback.get('code') ?? '';
  // Only the length is checked (RFC 6749, section 10.10): tests of core check the format.
  expect(code.length).toBeGreaterThan(40);
  return { visit, code };
}

/** Exchanges an authorization code at the token endpoint. */
function exchange(suite: Suite, code: string, options: FlowOptions = {}): Promise<Answer> {
  const { client = suite.client, authentication, tokenRequest = {} } = options;
  const inForm = authentication === 'client_secret_post';
  return suite.ask(suite.endpoint('token'), {
    method: 'POST',
    headers: inForm ? {} : { authorization: basic(client.id, client.secret) },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      ...(inForm ? { client_id: client.id, client_secret: client.secret ?? '' } : {}),
      ...tokenRequest,
    }),
  });
}

/**
 * Exchanges a code that was used before, and checks that the error is `invalid_grant`, as the RFC requires.
 */
export async function expectReuse(suite: Suite, code: string): Promise<void> {
  const { error, error_description, error_uri } = expectJson(await exchange(suite, code), 400);
  expect([error, error_uri]).toEqual(['invalid_grant', undefined]);
  expect(error_description ?? 'none').toMatch(describable);
}

/** Requests userinfo, by default with the access token in the header. */
export const userinfo = (suite: Suite, accessToken: string, init?: RequestInit): Promise<Answer> =>
  suite.ask(suite.endpoint('userinfo'), init ?? { headers: { authorization: `Bearer ${accessToken}` } });

/**
 * Standard claims that a userinfo response may contain, all of them text (OpenID Connect Core, section 5.1).
 */
const standardClaims =
  /^(?:sub|name|profile|picture|website|gender|birthdate|zoneinfo|locale|\w+_name|nickname)$/;

/** Checks the userinfo response (OpenID Connect Core, section 5.3.2). */
export function checkUserinfo(answer: Answer, sub: string | undefined): Record<string, unknown> {
  const record = expectJson(answer, 200);
  expect(record.sub).toBe(sub);
  for (const [claim, value] of Object.entries(record))
    if (standardClaims.test(claim)) expect.soft(value, claim).toEqual(expect.any(String));
  return record;
}

/** Claims that an ID token may have. Identity data is not among them, because it comes from userinfo. */
const idTokenClaims = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'sid', 'nonce', 'at_hash'];

/** Checks the requirements of every ID token (OpenID Connect Core, section 3.1.3.7), and `at_hash`. */
export async function checkIdToken(
  suite: Suite,
  { idToken, accessToken }: { readonly idToken: string; readonly accessToken: string },
  { client_id: audience = '', nonce }: Readonly<Record<string, string>>,
  algorithms: readonly string[] = ['RS256'],
) {
  const now = suite.clock.now();
  // jose picks the key by `kid`, and refuses if none or several match.
  const { payload, protectedHeader } = await jwtVerify(idToken, createLocalJWKSet(suite.jwks), {
    issuer: String(suite.metadata.issuer),
    audience,
    algorithms: [...algorithms],
    clockTolerance: skewSeconds,
    currentDate: new Date(now),
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
  });
  expect(protectedHeader.kid).toEqual(expect.any(String));
  expect(payload.nonce).toBe(nonce);
  expect(payload.sub).toMatch(/^[\x20-\x7E]{1,255}$/);
  expect(payload.iat).toBeLessThanOrEqual(now / 1000 + skewSeconds);
  const half = createHash('sha256').update(accessToken).digest().subarray(0, 16);
  expect(payload.at_hash).toBe(half.toString('base64url'));
  expect(Object.keys(payload).filter((name) => !idTokenClaims.includes(name))).toEqual([]);
  return { claims: payload, header: protectedHeader };
}

/** Runs a whole sign-in, with all common checks: responses, code, tokens, ID token, userinfo. */
export async function signIn(suite: Suite, options: FlowOptions = {}) {
  const { client, parameters, authentication = 'client_secret_basic' } = options;
  expect(suite.metadata.token_endpoint_auth_methods_supported).toContain(authentication);
  const built = suite.request(parameters, client);
  const request = options.isReversed
    ? Object.fromEntries(Object.entries(built).toSorted().toReversed())
    : built;
  const { visit, code } = await authorize(suite, request, options);

  // Check the token response (RFC 6749, section 5.1).
  const answer = await exchange(suite, code, options);
  const tokens = expectJson(answer, 200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(String(tokens.token_type).toLowerCase()).toBe('bearer');
  expect(tokens.access_token).toEqual(expect.stringMatching(/^[\x21-\x7E]+$/));
  expect(Number.isInteger(tokens.expires_in) && Number(tokens.expires_in) > 0).toBe(true);
  const [accessToken, idToken] = [String(tokens.access_token), String(tokens.id_token)];
  const { claims, header } = await checkIdToken(suite, { idToken, accessToken }, request);
  const record = checkUserinfo(await userinfo(suite, accessToken), claims.sub);
  return { visit, code, accessToken, idToken, claims, header, tokens, userinfo: record };
}
