import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { NewClient } from '../../src/admin.ts';
import type { TestClient, TestProvider } from './provider.ts';

/** Value of the parameter `client_assertion_type`. */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Key pair with which a client authenticates. */
export interface ClientKey {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

/** Makes a key pair of a client; `kid` is left out of the key if the argument is `null`. */
export async function clientKey(alg = 'ES256', kid: string | null = 'key-1'): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const named = { ...(kid !== null && { kid }), use: 'sig' };
  return {
    alg,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), ...named },
    privateJwk: { ...(await exportJWK(privateKey)), ...named },
  };
}

/** Changes of a client's assertion; `undefined` removes a claim or a member of the header. */
export interface AssertionChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

const present = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Signs an assertion of a client, which is correct unless it is changed. */
export function assertionOf(
  provider: { readonly origin: string; readonly clock: { now(): number } },
  { id }: Pick<TestClient, 'id'>,
  key: ClientKey,
  { claims = {}, header = {} }: AssertionChanges = {},
): Promise<string> {
  const now = Math.floor(provider.clock.now() / 1000);
  const right = { iss: id, sub: id, aud: provider.origin, jti: randomUUID(), iat: now, exp: now + 60 };
  return new SignJWT(present({ ...right, ...claims }) as JWTPayload)
    .setProtectedHeader({ alg: key.alg, ...present({ kid: key.publicJwk.kid, ...header }) })
    .sign(key.privateKey);
}

/** Builds the parameters with which a client authenticates. */
export const withAssertion = (assertion: string) => ({
  client_assertion_type: assertionType,
  client_assertion: assertion,
  client_secret: undefined,
});

/** Registers a client that authenticates with the given keys. */
export function clientWithKeys(
  provider: TestProvider,
  keys: readonly ClientKey[],
  settings: Partial<NewClient> = {},
): Promise<TestClient> {
  return provider.client({ jwks: { keys: keys.map(({ publicJwk }) => publicJwk) }, ...settings });
}
