import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import fc from 'fast-check';
import { changed, damaged, hostileText } from './values.ts';

/** A key pair for ES256 signatures. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: object;
}

export function newKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicJwk: publicKey.export({ format: 'jwk' }) };
}

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part) ?? '').toString('base64url');

/** Signs any JWT header and claims with ES256, even if the header names another algorithm. */
function signed(header: unknown, claims: unknown, { privateKey }: SigningKey): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/** Makes JWTs, a few of them right, most with a wrong header, claim, signature or text. */
function tokens(header: object, claims: object, key: SigningKey): fc.Arbitrary<string> {
  const whole = fc
    .tuple(changed(header), changed(claims), fc.constantFrom('right', 'right', 'right', 'none', 'wrong'))
    .map(([givenHeader, givenClaims, signature]) => {
      // A right token is used once, so each needs an id of its own.
      const jti = 'jti' in givenClaims && givenClaims.jti === '' ? randomUUID() : givenClaims.jti;
      const token = signed(givenHeader, { ...givenClaims, jti }, key);
      const [input] = /^[^.]*\.[^.]*\./.exec(token) ?? [''];
      if (signature === 'none') return input;
      return signature === 'wrong' ? `${input}${'A'.repeat(86)}` : token;
    });
  return fc.oneof({ weight: 4, arbitrary: whole }, { weight: 2, arbitrary: damaged(whole) }, hostileText);
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** Returns header and claims of a right DPoP proof (RFC 9449). */
function proofParts({ publicJwk }: SigningKey, method: string, url: string, token: string | null) {
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk };
  const ath = token === null ? {} : { ath: createHash('sha256').update(token).digest('base64url') };
  return { header, claims: { jti: '', htm: method, htu: url, iat: seconds(), ...ath } };
}

/** Builds a right DPoP proof for a token request. */
export function rightProof(key: SigningKey, url: string): string {
  const { header, claims } = proofParts(key, 'POST', url, null);
  return signed(header, { ...claims, jti: randomUUID() }, key);
}

/** Generates random DPoP proofs for a request, most of them wrong. */
export function proofs(key: SigningKey, method: string, url: string, token: string | null) {
  const { header, claims } = proofParts(key, method, url, token);
  return tokens(header, claims, key);
}

/** Generates random client assertions (RFC 7523), most of them wrong. */
export const assertions = (key: SigningKey, clientId: string, issuer: string) =>
  tokens(
    { alg: 'ES256', kid: 'key-1' },
    { iss: clientId, sub: clientId, aud: issuer, jti: '', iat: seconds(), exp: seconds() + 300 },
    key,
  );
