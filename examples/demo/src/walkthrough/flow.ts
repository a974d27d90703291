import { createHash, randomBytes } from 'node:crypto';
import type { IdentityChecks } from '@ostiary/reference-server';
import type { DemoClient, DemoFile, DemoUser } from '../demo-file.ts';
import type { Browser, Page } from './browser.ts';
import { found, textOf } from './found.ts';
import type { Report } from './report.ts';

/** Facts about the running demo that the walkthrough needs. */
export interface Surroundings {
  readonly file: DemoFile;
  /** Origin of the demo's shop. */
  readonly shopUrl: string;
  /** Changes the state of an identity check, as the server's staff do with `ostiary users kyc`. */
  readonly changeKyc: IdentityChecks['change'];
}

/** Objects that each step of the walkthrough uses. */
export interface Walk extends Surroundings {
  readonly report: Report;
  readonly browser: Browser;
  readonly user: DemoUser;
  /** OAuth client with a secret. */
  readonly confidential: DemoClient;
  readonly publicClient: DemoClient;
  /** URLs from the discovery document. */
  readonly endpoints: Endpoints;
}

/** URLs from the discovery document. */
export type Endpoints = Readonly<
  Record<
    'authorization_endpoint' | 'token_endpoint' | 'userinfo_endpoint' | 'revocation_endpoint' | 'jwks_uri',
    string
  >
>;

/** An authorization request of an app, with the values that the app keeps for the callback. */
export interface Attempt {
  readonly client: DemoClient;
  readonly scope: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

type Flow = Pick<Walk, 'browser' | 'report' | 'file'> & {
  readonly endpoints: Pick<Endpoints, 'authorization_endpoint'>;
};

export const random = (): string => randomBytes(32).toString('base64url');

const isAt = (uri: string) => (location: string) => location.startsWith(uri);

/** Returns the public client of the demo, or the client with a secret. */
export const clientOf = ({ clients }: DemoFile, isPublic: boolean): DemoClient =>
  found(
    clients.find(({ clientSecret }) => (clientSecret === null) === isPublic),
    'such client',
  );

/**
 * Opens the authorization URL in the browser and follows redirects, up to a page or the client's redirect
 * URI.
 */
export async function authorize(
  { browser, endpoints }: Pick<Flow, 'browser' | 'endpoints'>,
  client: DemoClient,
  scope: string,
): Promise<{ attempt: Attempt; page: Page }> {
  const redirectUri = found(client.redirectUris[0], 'redirect URI');
  const [state, nonce, verifier] = [random(), random(), random()];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const first = await browser.open(`${endpoints.authorization_endpoint}?${query}`);
  const attempt = { client, scope, redirectUri, state, nonce, verifier };
  return { attempt, page: await browser.follow(first, isAt(redirectUri)) };
}

/** Approves or denies on the consent page, and returns the parameters of the callback URL. */
export async function decide(
  { browser, report, file }: Pick<Flow, 'browser' | 'report' | 'file'>,
  { redirectUri, state }: Attempt,
  page: Page,
  decision: 'approve' | 'deny',
): Promise<URLSearchParams> {
  const form = page.forms.find(({ buttons }) => buttons.some(({ value }) => value === decision));
  const answer = await browser.submit(page, found(form, 'form with this button'), { decision });
  const { location } = await browser.follow(answer, isAt(redirectUri));
  const query = new URL(location ?? 'none:').searchParams;
  report.check({
    'the browser is sent back to the redirect URI': location !== null,
    'state came back unchanged': query.get('state') === state,
    'iss names the provider': query.get('iss') === file.authUrl,
  });
  return query;
}

/** Requests scopes that the signed-in user approves. Returns the body of the token request with the code. */
export async function approvedExchange(walk: Flow, client: DemoClient, scope: string) {
  const { attempt, page } = await authorize(walk, client, scope);
  const query = await decide(walk, attempt, page, 'approve');
  return exchangeBody(attempt, textOf(query.get('code'), 'code'));
}

/** Makes the body of the token request that exchanges a code. */
export function exchangeBody(
  { client, redirectUri, verifier }: Attempt,
  code: string,
): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: client.clientId,
    code_verifier: verifier,
    ...(client.clientSecret !== null && { client_secret: client.clientSecret }),
  };
}
