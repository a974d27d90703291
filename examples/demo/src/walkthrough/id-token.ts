import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';

/** The claims of an ID token whose signature is right. */
export type Claims = Readonly<Record<string, unknown>>;

function decode(part: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/**
 * Verifies the signature of an ID token with node:crypto against a JWK Set (RFC 7515, RFC 7517).
 *
 * @returns `null` when the signature is wrong, or no published key made it
 */
export function verifyIdToken(token: string, jwks: Readonly<Record<string, unknown>>): Claims | null {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const { alg, kid } = decode(head);
  const keys: unknown[] = Array.isArray(jwks.keys) ? jwks.keys : [];
  const jwk = keys.find(
    (key): key is JsonWebKey => typeof key === 'object' && key !== null && 'kid' in key && key.kid === kid,
  );
  // The algorithm is ours to choose; a token that says `none` is no token.
  if (jwk === undefined || (alg !== 'RS256' && alg !== 'ES256')) return null;
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const right = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    // JOSE writes an ECDSA signature as two numbers side by side, not as DER (RFC 7518, section 3.4).
    alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key,
    Buffer.from(signature, 'base64url'),
  );
  return right ? decode(payload) : null;
}

/** The hash of the access token that the ID token carries (OpenID Connect Core, section 3.1.3.6). */
export function accessTokenHash(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');
}
