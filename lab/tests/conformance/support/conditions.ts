import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { expect } from 'vitest';
import type { Answer } from '../../../../packages/core/test/support/browser.ts';
import type { TestClient } from '../../../../packages/core/test/support/provider.ts';
import type { Suite } from './suite.ts';

/** How far clocks may be apart, in seconds, as in the original. */
const skewSeconds = 300;

/** Characters that an error description may have (RFC 6749, section 5.2). */
const describable = /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/;

/** What holds for every answer to an authorization request; answers the parameters. */
function checkCallback(
  suite: Suite,
  request: Record<string, string>,
  callback: URLSearchParams | null,
): URLSearchParams {
  if (callback === null) throw new Error('the browser did not come back to the client');
  expect(callback.get('state')).toBe(request.state ?? null);
  expect(callback.get('iss')).toBe(suite.metadata.issuer);
  return callback;
}

/** The answer to an authorization request that succeeded; answers the code. */
export function checkSuccessResponse(...given: Parameters<typeof checkCallback>): string {
  const callback = checkCallback(...given);
  expect(callback.get('error'), String(callback)).toBeNull();
  const code = callback.get('code') ?? '';
  // Long enough (RFC 6749, section 10.10): its format is shown by the tests of core.
  expect(code.length).toBeGreaterThan(40);
  return code;
}

/** The answer to an authorization request that was refused; answers the error. */
export function checkErrorResponse(...given: Parameters<typeof checkCallback>): string {
  const callback = checkCallback(...given);
  expect(callback.get('error_description') ?? 'none').toMatch(describable);
  const known = ['error', 'error_description', 'error_uri', 'state', 'iss'];
  expect([...callback.keys()].filter((name) => !known.includes(name))).toEqual([]);
  expect(callback.get('error')).toMatch(/^[a-z_]+$/);
  return callback.get('error') ?? '';
}

/** The answer of the token endpoint (RFC 6749, section 5.1). */
export function checkTokenResponse(answer: Answer): {
  readonly accessToken: string;
  readonly idToken: string;
} {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const tokens = answer.json();
  expect(String(tokens.token_type).toLowerCase()).toBe('bearer');
  expect(tokens.access_token).toEqual(expect.stringMatching(/^[\x21-\x7E]+$/));
  expect(Number.isInteger(tokens.expires_in) && Number(tokens.expires_in) > 0).toBe(true);
  expect(tokens.id_token).toEqual(expect.any(String));
  return { accessToken: String(tokens.access_token), idToken: String(tokens.id_token) };
}

/** What holds for every ID token (OpenID Connect Core, section 3.1.3.7), and `at_hash`. */
export async function checkIdToken(
  suite: Suite,
  idToken: string,
  of: {
    readonly client: TestClient;
    readonly request: Record<string, string>;
    readonly accessToken: string;
  },
): Promise<{ readonly claims: JWTPayload; readonly header: JWTHeaderParameters }> {
  const now = suite.clock.now();
  // jose picks the key by `kid`, and refuses where none or several fit.
  const { payload, protectedHeader } = await jwtVerify(idToken, createLocalJWKSet(suite.jwks), {
    issuer: String(suite.metadata.issuer),
    audience: of.client.id,
    algorithms: ['RS256'],
    clockTolerance: skewSeconds,
    currentDate: new Date(now),
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
  });
  expect(protectedHeader.kid).toEqual(expect.any(String));
  expect(payload.nonce).toBe(of.request.nonce);
  expect(payload.sub).toMatch(/^[\x20-\x7E]{1,255}$/);
  expect(payload.azp ?? of.client.id).toBe(of.client.id);
  expect(payload.iat).toBeLessThanOrEqual(now / 1000 + skewSeconds);
  const half = createHash('sha256').update(of.accessToken).digest().subarray(0, 16);
  expect(payload.at_hash).toBe(half.toString('base64url'));
  // Identity data comes from userinfo.
  const protocol = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash'];
  expect(Object.keys(payload).filter((name) => !protocol.includes(name))).toEqual([]);
  return { claims: payload, header: protectedHeader };
}

/** Standard claims that a userinfo answer may hold, all of them text (OpenID Connect Core, section 5.1). */
const standardClaims =
  /^(?:sub|name|profile|picture|website|gender|birthdate|zoneinfo|locale|\w+_name|nickname)$/;

/** The answer of userinfo (OpenID Connect Core, section 5.3.2). */
export function checkUserinfo(answer: Answer, sub: string | undefined): Record<string, unknown> {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  const record = answer.json();
  expect(record.sub).toBe(sub);
  for (const [claim, value] of Object.entries(record)) {
    if (standardClaims.test(claim)) expect.soft(value, claim).toEqual(expect.any(String));
  }
  return record;
}

/** A code that was used before: `invalid_grant`, as the RFC has it. */
export function checkReuse(answer: Answer): void {
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  const { error, error_description, error_uri } = answer.json();
  expect(error).toBe('invalid_grant');
  expect(error_description ?? 'none').toMatch(describable);
  expect(error_uri).toBeUndefined();
}
