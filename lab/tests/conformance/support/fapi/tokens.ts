import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { answerOf } from '../../../../../packages/core/test/support/browser.ts';
import { checkIdToken } from '../flow.ts';
import { checkLifetime, checkUnguessable } from './checks.ts';
import type { FapiClient } from './clients.ts';
import { type Approved, type Change, described, type Flow, prover, signedBy } from './requests.ts';

/** Signature algorithms that the FAPI 2.0 profile permits (section 5.4). */
export const permittedAlgorithms = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Optional variations of a request to the token endpoint. */
interface TokenOptions {
  readonly client?: FapiClient;
  readonly authentication?: oauth.ClientAuth;
  /** Key pair of the DPoP proof; `null` sends no proof. */
  readonly keys?: oauth.CryptoKeyPair | null;
  readonly changeProof?: Change;
}

/** Returns the arguments that all requests to the token endpoint have in common. */
function tokenArguments(flow: Flow, options: TokenOptions) {
  const { suite, keys: ownKeys } = flow;
  const { client = flow.client, keys = ownKeys, changeProof } = options;
  const { authentication = signedBy(client) } = options;
  const sent = {
    [oauth.customFetch]: suite.fetch,
    ...(keys !== null && { DPoP: prover(flow, keys, changeProof) }),
  };
  return { caller: [suite.server, described(suite, client), authentication] as const, sent };
}

/** Exchanges the authorization code of a sign-in. */
export function exchange(
  flow: Approved,
  options: TokenOptions & { readonly verifier?: string | typeof oauth.nopkce } = {},
): Promise<Response> {
  const { callback, parameters, verifier: own } = flow;
  const { caller, sent } = tokenArguments(flow, options);
  const { verifier = own } = options;
  return oauth.authorizationCodeGrantRequest(
    ...caller,
    callback,
    parameters.redirect_uri ?? '',
    verifier,
    sent,
  );
}

/** Uses a refresh token. */
export function refresh(
  flow: Flow,
  refreshToken: string,
  options: TokenOptions & { readonly scope?: string } = {},
): Promise<Response> {
  const { caller, sent } = tokenArguments(flow, options);
  return oauth.refreshTokenGrantRequest(...caller, refreshToken, {
    ...sent,
    additionalParameters: options.scope === undefined ? {} : { scope: options.scope },
  });
}

/** Tokens of a user, with the sign-in that led to the tokens. */
export interface SignedIn extends Approved {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Checks the members that every successful response of the token endpoint has. */
export function checkTokens(tokens: Readonly<Record<string, unknown>>): void {
  expect(String(tokens.token_type).toLowerCase()).toBe('dpop');
  checkUnguessable(tokens.access_token);
  checkLifetime(tokens.expires_in);
  checkUnguessable(tokens.refresh_token);
}

/** Checks the response to the exchange of an authorization code, and the ID token in this response. */
export async function signedInWith(flow: Approved, response: Response): Promise<SignedIn> {
  const { suite, client, parameters } = flow;
  const tokens = (await answerOf(response.clone())).json();
  const expectedNonce = parameters.nonce ?? oauth.expectNoNonce;
  const self = described(suite, client);
  await oauth.processAuthorizationCodeResponse(suite.server, self, response, {
    ...{ expectedNonce, requireIdToken: true },
  });
  checkTokens(tokens);
  const [accessToken, idToken] = [String(tokens.access_token), String(tokens.id_token)];
  const { claims } = await checkIdToken(suite, { idToken, accessToken }, parameters, permittedAlgorithms);
  return { ...flow, accessToken, refreshToken: String(tokens.refresh_token), claims };
}
