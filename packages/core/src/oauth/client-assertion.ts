import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import { z } from 'zod';
import { OAuthError } from '../errors.ts';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { hasKeys } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientJwks, ClientRecord } from '../ports/clients.ts';
import { digest } from '../secrets/tokens.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { urlBelow } from '../text/urls.ts';
import { clientKeys, UnreachableKeysError } from './client-keys.ts';
import { apiPaths } from './endpoints.ts';

/**
 * Longest time from now to the expiry of a client's assertion (signed JWT), in seconds. An assertion that
 * expires later is refused, because its id is stored until its expiry.
 */
const maxLifeSeconds = 600;

/**
 * Allowed difference between the clocks of client and server, in seconds. FAPI 2.0 (section 5.3.2.1) requires
 * 10 to 60.
 */
const skewSeconds = 30;

/** Value of the parameter `client_assertion_type` (RFC 7523, section 2.2). */
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Maximum length of a client's assertion whose claims are read, in characters. Assertions of libraries have
 * 300 to 800.
 */
const maxAssertionLength = 8 * 1024;

const headerSchema = z.object({
  alg: z.enum(clientAlgorithms),
  kid: z.string().max(255).optional(),
  // Refuses JWTs for other purposes (RFC 8725, section 3.11).
  typ: z
    .string()
    .regex(/^(?:application\/)?(?:jwt|client-authentication\+jwt)$/i, 'is the type of another token')
    .optional(),
  crit: z.never('is not supported').optional(),
});

const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.union([z.string(), z.tuple([z.string()])]),
  jti: z.string().min(1).max(255),
  exp: z.number(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
});

type Header = z.output<typeof headerSchema>;
type Claims = z.output<typeof claimsSchema>;

/** Thrown for a client's assertion that is refused, with the reason for the log. */
class RefusedAssertion extends Error {
  override readonly name = 'RefusedAssertion';
}

/** An assertion as it was sent, not verified yet. */
interface SentAssertion {
  readonly assertion: string;
  /** Client id that the assertion contains; empty if it contains none. */
  readonly clientId: string;
}

/**
 * Returns the client id that an assertion contains, before the assertion is verified. Empty if it contains
 * none.
 */
function assertedClientId(assertion: string): string {
  if (assertion.length > maxAssertionLength) return '';
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : '';
  } catch {
    return '';
  }
}

/**
 * Reads the assertion parameters of a request; `null` if there are none. Does not verify the assertion.
 * @throws OAuthError `invalid_request` if only one of them was sent, or the type is unknown
 */
function sentAssertion(parameters: ReadonlyMap<string, string>): SentAssertion | null {
  const type = parameters.get('client_assertion_type') || null;
  const assertion = parameters.get('client_assertion') || null;
  if (type === null && assertion === null) return null;
  if (assertion === null)
    throw new OAuthError('invalid_request', 'The parameter client_assertion is missing.');
  if (type === assertionType) return { assertion, clientId: assertedClientId(assertion) };
  throw new OAuthError('invalid_request', `The client_assertion_type has to be ${assertionType}.`);
}

/** Decodes a client's assertion without verifying it. @throws RefusedAssertion if it is malformed */
function readAssertion(assertion: string): { readonly header: Header; readonly claims: Claims } {
  if (assertion.length > maxAssertionLength)
    throw new RefusedAssertion(`it has more than ${maxAssertionLength} characters`);
  let parts: readonly [unknown, unknown];
  try {
    parts = [decodeProtectedHeader(assertion), decodeJwt(assertion)];
  } catch {
    throw new RefusedAssertion('it is no JWT');
  }
  const header = headerSchema.safeParse(parts[0], inPlainWords);
  if (!header.success) throw new RefusedAssertion(inOneLine(problemsOf(header.error.issues), 'header'));
  const claims = claimsSchema.safeParse(parts[1], inPlainWords);
  if (!claims.success) throw new RefusedAssertion(inOneLine(problemsOf(claims.error.issues), 'claims'));
  return { header: header.data, claims: claims.data };
}

/**
 * Verifies the signature of an assertion with the client's key that the JWT header names. If the header has
 * no `kid`, tries the keys one after the other. @throws RefusedAssertion if no key fits
 */
async function checkSignature(assertion: string, jwks: ClientJwks): Promise<void> {
  const options = { algorithms: [...clientAlgorithms] };
  try {
    await compactVerify(assertion, createLocalJWKSet({ keys: [...jwks.keys] }), options);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw new RefusedAssertion('no key of the client fits it');
    if (!(error instanceof errors.JWKSMultipleMatchingKeys))
      throw new RefusedAssertion('its signature is wrong');
    for await (const key of error) {
      const isRight = await compactVerify(assertion, key, options).then(
        () => true,
        () => false,
      );
      if (isRight) return;
    }
    throw new RefusedAssertion('its signature is wrong');
  }
}

export type ClientAssertions = ReturnType<typeof clientAssertions>;

/**
 * Creates the functions that read and check clients' assertions (`private_key_jwt`: RFC 7523, section 3;
 * OpenID Connect Core, section 9).
 */
export function clientAssertions(core: Core) {
  const { storage, clock, options } = core;
  const keysOf = clientKeys(core);
  const { issuer } = options;
  const endpoints = [apiPaths.token, apiPaths.par, apiPaths.introspect].map((path) =>
    urlBelow(options.baseUrl, path),
  );

  /**
   * Checks the claims of an assertion: client, audience and times. @throws RefusedAssertion if one is wrong
   */
  function checkClaims(
    { clientId, profile }: ClientRecord,
    { iss, sub, aud, exp, nbf, iat }: Claims,
    now: number,
  ): void {
    if (iss !== clientId || sub !== clientId)
      throw new RefusedAssertion('iss and sub have to be the client_id');
    // FAPI 2.0 (section 5.3.2.1) accepts nothing but the issuer, as a string.
    if (profile === 'fapi2' && aud !== issuer)
      throw new RefusedAssertion(`aud has to be the issuer, ${issuer}, and no list`);
    const audience = typeof aud === 'string' ? aud : aud[0];
    if (audience !== issuer && !endpoints.includes(audience))
      throw new RefusedAssertion(`aud has to be the issuer, ${issuer}`);
    const seconds = now / 1000;
    if (exp + skewSeconds <= seconds) throw new RefusedAssertion('it has expired');
    if (exp > seconds + maxLifeSeconds + skewSeconds)
      throw new RefusedAssertion(`its exp is more than ${maxLifeSeconds} seconds ahead`);
    if (Math.max(nbf ?? 0, iat ?? 0) > seconds + skewSeconds)
      throw new RefusedAssertion('it is from the future');
  }

  /**
   * Returns the reason why an assertion does not authenticate the client; `null` if it does. The id (`jti`)
   * of an accepted assertion is marked as used.
   * @throws OAuthError `temporarily_unavailable` if the keys of the client cannot be fetched
   */
  async function problemOf(client: ClientRecord, assertion: string): Promise<string | null> {
    if (!hasKeys(client)) return 'the client has no keys';
    try {
      const { header, claims } = readAssertion(assertion);
      const now = clock.now();
      checkClaims(client, claims, now);
      const jwks = await keysOf(client, header.kid);
      if (jwks === null) return 'the client has no keys';
      await checkSignature(assertion, jwks);
      const isFirst = await storage.proofIds.use({
        namespace: 'client_assertion',
        digest: digest(`${client.clientId} ${claims.jti}`),
        expiresAt: Math.ceil((claims.exp + skewSeconds) * 1000),
        now,
      });
      return isFirst ? null : 'it was used before';
    } catch (error) {
      if (error instanceof RefusedAssertion) return error.message;
      if (!(error instanceof UnreachableKeysError)) throw error;
      throw new OAuthError(
        'temporarily_unavailable',
        'The keys of the client cannot be fetched at the moment.',
        {
          headers: { 'Retry-After': '30' },
          cause: error,
        },
      );
    }
  }

  return { read: sentAssertion, problemOf };
}
