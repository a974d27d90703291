import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** URL and current time of a provider. */
interface Provider {
  readonly origin: string;
  readonly clock: { now(): number };
}

/**
 * Claims and header of a DPoP proof that differ from those of a correct proof; `undefined` removes a claim.
 */
export interface ProofChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** Returns the hash of an access token that a DPoP proof contains. */
export const athOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** Makes a key of a client, which signs DPoP proofs at the time of a provider. */
export async function dpopKey(provider: Provider, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = await exportJWK(publicKey);

  /** Signs a DPoP proof for a method and a path of the provider. */
  function proof(
    method: string,
    path: string,
    { claims = {}, header = {} }: ProofChanges = {},
  ): Promise<string> {
    const given = {
      jti: randomUUID(),
      htm: method,
      htu: `${provider.origin}${path}`,
      iat: Math.floor(provider.clock.now() / 1000),
      ...claims,
    };
    const protectedHeader = { alg, typ: 'dpop+jwt', jwk, ...header };
    return new SignJWT(given).setProtectedHeader(protectedHeader).sign(privateKey);
  }

  return {
    jwk,
    privateJwk: await exportJWK(privateKey),
    jkt: await calculateJwkThumbprint(jwk),
    proof,
    /** Returns the header of a token request that contains a DPoP proof. */
    forToken: async (changes?: ProofChanges) => ({ dpop: await proof('POST', '/v1/oauth/token', changes) }),
    /** Returns the headers of a request that sends an access token with a DPoP proof. */
    async forResource(token: unknown, path = '/v1/oauth/userinfo', { claims, header }: ProofChanges = {}) {
      const bound = { ath: athOf(String(token)), ...claims };
      const changes = { claims: bound, ...(header && { header }) };
      return { authorization: `DPoP ${token}`, dpop: await proof('GET', path, changes) };
    },
  };
}

export type DpopKey = Awaited<ReturnType<typeof dpopKey>>;
