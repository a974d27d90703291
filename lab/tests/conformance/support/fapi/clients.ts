import {
  type ClientKey,
  clientKey,
  clientWithKeys,
} from '../../../../../packages/core/test/support/client-keys.ts';
import type { TestClient, TestProvider } from '../../../../../packages/core/test/support/provider.ts';

/** A client of the FAPI 2.0 Security Profile, with the key that signs the client's assertions. */
export interface FapiClient extends TestClient {
  readonly key: ClientKey;
}

/** Creates a client of the FAPI 2.0 Security Profile, as an operator would. */
async function provisionFapi(
  provider: TestProvider,
  key: ClientKey,
  redirectUris: readonly string[],
): Promise<FapiClient> {
  const client = await clientWithKeys(provider, [key], {
    redirectUris: [...redirectUris],
    allowedScopes: ['openid', 'profile', 'email', 'offline_access'],
    idTokenAlg: 'ES256',
    refreshWithoutOfflineAccess: true,
    profile: 'fapi2',
  });
  return { ...client, key };
}

// The first key is an RSA key, because one module signs with it by RS256.
const [firstKey, secondKey, thirdKey, fourthKey] = await Promise.all([
  clientKey('PS256', 'first'),
  clientKey('ES256', 'second'),
  clientKey('ES256', 'third'),
  clientKey('ES256', 'fourth'),
]);

/**
 * Creates the clients of the FAPI 2.0 conformance modules. The third and fourth client are for users who deny
 * access.
 */
export async function fapiClients(provider: TestProvider, redirectUris: readonly string[]) {
  const provision = (key: ClientKey) => provisionFapi(provider, key, redirectUris);
  return {
    first: await provision(firstKey),
    second: await provision(secondKey),
    denied: [await provision(thirdKey), await provision(fourthKey)] as const,
  };
}
