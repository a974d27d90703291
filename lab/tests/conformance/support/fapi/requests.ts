import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { answerOf } from '../../../../../packages/core/test/support/browser.ts';
import { randomText, redirectUri, type Suite } from '../suite.ts';
import { checkLifetime, checkUnguessable } from './checks.ts';
import type { FapiClient } from './clients.ts';

/** Scopes that clients of the FAPI 2.0 conformance modules request. */
export const scope = 'openid email';

/** Changes the header and the claims of a client assertion or a DPoP proof before signing. */
export type Change = oauth.ModifyAssertionFunction;

/** One authorization request of a client, with the request's keys and secrets. */
export interface Flow {
  readonly suite: Suite;
  readonly client: FapiClient;
  /** Parameters of the pushed authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly verifier: string;
  /** Key pair for DPoP proofs. */
  readonly keys: oauth.CryptoKeyPair;
}

/** Optional variations of a sign-in. */
export interface FlowOptions {
  readonly client?: FapiClient;
  /** Parameters that differ from the usual authorization request; `undefined` removes a parameter. */
  readonly parameters?: Readonly<Record<string, string | undefined>>;
  readonly keys?: oauth.CryptoKeyPair;
}

/** Optional variations of pushing an authorization request. */
export interface PushOptions {
  readonly authentication?: oauth.ClientAuth;
  /** True to send a DPoP proof. */
  readonly withProof?: boolean;
  readonly changeProof?: Change;
}

/** Optional variations of visiting the authorization endpoint with a pushed request. */
export interface VisitOptions {
  /** Additional parameters besides `request_uri`. */
  readonly outside?: Readonly<Record<string, string>>;
  /** True to send nothing but `request_uri` and `client_id`. */
  readonly isBare?: boolean;
  /** True to send the parameters in reverse alphabetical order. */
  readonly isReversed?: boolean;
}

/** Returns the client as the OAuth library describes it, with the provider's time. */
export const described = (suite: Suite, { id }: FapiClient): oauth.Client => ({
  client_id: id,
  id_token_signed_response_alg: 'ES256',
  [oauth.clockSkew]: Math.floor(suite.clock.now() / 1000) - Math.floor(Date.now() / 1000),
});

/** Authenticates a client with a signed assertion, which a function can change before. */
export const signedBy = ({ key }: FapiClient, change?: Change): oauth.ClientAuth =>
  oauth.PrivateKeyJwt(
    { key: key.privateKey, kid: key.publicJwk.kid ?? '' },
    change === undefined ? {} : { [oauth.modifyAssertion]: change },
  );

/**
 * Returns the signer of DPoP proofs with a key pair. A function can change each proof before it is signed.
 */
export const prover = (
  { suite, client }: Flow,
  keys: oauth.CryptoKeyPair,
  change?: Change,
): oauth.DPoPHandle =>
  oauth.DPoP(described(suite, client), keys, change === undefined ? {} : { [oauth.modifyAssertion]: change });

/** Returns the JWK thumbprint of a key pair for DPoP proofs. */
export const thumbprint = (keys: oauth.CryptoKeyPair): Promise<string> =>
  oauth.DPoP({}, keys).calculateThumbprint();

/** Prepares an authorization request, with a new `state`, `nonce`, PKCE verifier and key for DPoP proofs. */
export async function newFlow(suite: Suite, options: FlowOptions = {}): Promise<Flow> {
  const { client = suite.fapi.first, keys = await oauth.generateKeyPair('ES256') } = options;
  const verifier = oauth.generateRandomCodeVerifier();
  const parameters = Object.entries({
    ...{ response_type: 'code', client_id: client.id, redirect_uri: redirectUri, scope },
    ...{ state: randomText(), nonce: randomText() },
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...options.parameters,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { suite, client, parameters: Object.fromEntries(parameters), verifier, keys };
}

/** Pushes the authorization request of a sign-in. */
export function push(flow: Flow, options: PushOptions = {}): Promise<Response> {
  const { suite, client, parameters, keys } = flow;
  const { authentication = signedBy(client), withProof = false, changeProof } = options;
  return oauth.pushedAuthorizationRequest(
    ...([suite.server, described(suite, client), authentication, new URLSearchParams(parameters)] as const),
    {
      [oauth.customFetch]: suite.fetch,
      ...(withProof && { DPoP: prover(flow, keys, changeProof) }),
    },
  );
}

/**
 * Pushes the authorization request of a sign-in, and checks the response. Returns the reference to the pushed
 * request.
 */
export async function pushed(flow: Flow, options?: PushOptions) {
  const { suite, client } = flow;
  const response = await push(flow, options);
  const answer = await answerOf(response.clone());
  await oauth.processPushedAuthorizationResponse(suite.server, described(suite, client), response);
  const { request_uri: requestUri, expires_in: expiresIn } = answer.json();
  expect(URL.canParse(String(requestUri))).toBe(true);
  checkUnguessable(requestUri);
  checkLifetime(expiresIn, 5);
  return { requestUri: String(requestUri), expiresIn: Number(expiresIn) };
}

/**
 * Parameters that OAuth requires in an authorization request that is not pushed. The original conformance
 * suite repeats them besides `request_uri`.
 */
const repeated = ['client_id', 'redirect_uri', 'response_type', 'scope'];

/** Builds the parameters of a visit to the authorization endpoint with a pushed request. */
export function visitOf(flow: Flow, requestUri: string, options: VisitOptions = {}): Record<string, string> {
  const { outside = {}, isBare = false, isReversed = false } = options;
  const names = isBare ? ['client_id'] : repeated;
  const sent = Object.entries(flow.parameters).filter(([name]) => names.includes(name));
  const ordered = [...sent, ['request_uri', requestUri] as const, ...Object.entries(outside)].toSorted();
  return Object.fromEntries(isReversed ? ordered.toReversed() : ordered);
}

/** A sign-in whose request the user has approved. */
export interface Approved extends Flow {
  readonly callback: URLSearchParams;
}

type Visited = Awaited<ReturnType<Suite['visit']>>;

/** Checks the redirect of the browser to the client after the user has approved a request. */
export function approvedBy(flow: Flow, { callback, page }: Visited): Approved {
  const { suite, client, parameters } = flow;
  if (callback === null) throw new Error(`the browser did not come back to the client: ${page.outcome}`);
  expect(new URL(page.location ?? '').hash).toBe('');
  const registered = new URL(parameters.redirect_uri ?? '').searchParams;
  for (const [name, value] of registered) expect(callback.get(name)).toBe(value);
  const known = ['code', 'state', 'iss', ...registered.keys()];
  expect([...callback.keys()].filter((name) => !known.includes(name))).toEqual([]);
  const valid = oauth.validateAuthResponse(
    ...([suite.server, described(suite, client), callback] as const),
    parameters.state ?? oauth.expectNoState,
  );
  checkUnguessable(valid.get('code'));
  return { ...flow, callback: valid };
}

/** Prepares an authorization request, pushes it, and lets the user approve it, with all checks. */
export async function approved(
  suite: Suite,
  options: FlowOptions & PushOptions & VisitOptions = {},
): Promise<Approved> {
  const flow = await newFlow(suite, options);
  const { requestUri } = await pushed(flow, options);
  return approvedBy(flow, await suite.visit(visitOf(flow, requestUri, options)));
}
