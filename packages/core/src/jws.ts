import { createHmac, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from './ports/clients.ts';

/** A key as it is published or stored (RFC 7517, section 4). */
export type Jwk = JsonWebKey & { readonly kid: string; readonly alg: SigningAlgorithm; readonly use: 'sig' };

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signLater = promisify(sign);

/** A JWT, signed in the thread pool (RFC 7515, section 7.1). */
export async function signJwt(
  header: { readonly alg: SigningAlgorithm; readonly kid: string },
  claims: object,
  key: KeyObject,
): Promise<string> {
  const input = `${encoded({ ...header, typ: 'JWT' })}.${encoded(claims)}`;
  // The encoding is that of ES256 (RFC 7518, section 3.4); RSA has no choice and ignores it.
  const signature = await signLater('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/** A JWT that a secret signs, with HS256. @param header - names the algorithm */
export function signWithSecret(header: object, claims: object, secret: KeyObject): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

/** The claims of a JWT whose signature was verified before. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}
