import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PartnerConfig, RegisteredClient } from './config.ts';

// Everything that "Sign in with Ostiary" takes, without a library: node:crypto and fetch.

type Provider = PartnerConfig['provider'];

/** A sign-in that was begun in this browser. Kept on the server, in the session, until the user comes back. */
export interface PendingSignIn {
  readonly client: RegisteredClient;
  /** Comes back unchanged: proves that the answer belongs to a sign-in that this browser began. */
  readonly state: string;
  /** Stays here: proves at the exchange that we are the ones who asked (PKCE, RFC 7636). */
  readonly verifier: string;
}

/** What the exchange gave. */
export interface TokenSet {
  readonly accessToken: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** The provider said no, or an answer did not hold what it must. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  /** An error code of RFC 6749, or one of our own: `wrong_state`, `wrong_issuer`, `unreachable`, `unexpected_answer`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const random = (): string => randomBytes(32).toString('base64url');
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Step 1: send the browser to the consent screen. */
export function beginSignIn(
  provider: Provider,
  client: RegisteredClient,
  scopes: readonly string[],
): { readonly url: string; readonly pending: PendingSignIn } {
  const pending = { client, state: random(), verifier: random() };
  const url = new URL('/oauth/authorize', provider.authUrl);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: scopes.join(' '),
    state: pending.state,
    code_challenge: sha256(pending.verifier).toString('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  return { url: url.href, pending };
}

/** Whether a callback belongs to this sign-in. Compares digests: they have one length, and the time tells nothing. */
export function belongsTo(pending: PendingSignIn, state: string): boolean {
  return timingSafeEqual(sha256(state), sha256(pending.state));
}

/** Step 2: read what the browser brought back. @throws {@link SignInError} */
export function readCallback(provider: Provider, query: URLSearchParams): string {
  // Another provider may not answer for this one (RFC 9207). Checked first: an error of a stranger is not shown either.
  if (query.get('iss') !== provider.authUrl) {
    throw new SignInError('wrong_issuer', 'The answer does not come from the provider that was asked.');
  }
  const error = query.get('error');
  if (error !== null) throw new SignInError(error, query.get('error_description') ?? '');
  const code = query.get('code');
  if (code === null || query.getAll('code').length > 1) {
    throw new SignInError('unexpected_answer', 'The answer holds no code.');
  }
  return code;
}

/** Calls the provider's API: ten seconds for the whole answer, no redirects (they would carry secrets along). */
async function call(url: URL, init: RequestInit): Promise<Record<string, unknown>> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(10_000) });
    body = await response.json();
  } catch (cause) {
    throw new SignInError('unreachable', 'The provider did not answer.', { cause });
  }
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  if (!response.ok) {
    const { error, error_description: description } = fields;
    throw new SignInError(
      typeof error === 'string' ? error : 'unexpected_answer',
      typeof description === 'string' ? description : `The provider answered ${response.status}.`,
    );
  }
  return fields;
}

function post(url: URL, body: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  return call(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Step 3: exchange the code, from server to server. @throws {@link SignInError} */
export async function exchangeCode(
  provider: Provider,
  pending: PendingSignIn,
  code: string,
): Promise<TokenSet> {
  const { client, verifier } = pending;
  const answer = await post(new URL('/v1/oauth/token', provider.baseUrl), {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    client_id: client.clientId,
    code_verifier: verifier,
    ...(client.clientSecret !== null && { client_secret: client.clientSecret }),
  });
  const { access_token: accessToken, token_type: type, expires_in: seconds, scope } = answer;
  if (
    typeof accessToken !== 'string' ||
    typeof type !== 'string' ||
    type.toLowerCase() !== 'bearer' ||
    typeof seconds !== 'number' ||
    typeof scope !== 'string'
  ) {
    throw new SignInError('unexpected_answer', 'The token answer is not complete.');
  }
  return { accessToken, scopes: scope.split(' '), expiresAt: Date.now() + seconds * 1_000 };
}

/** Step 4: ask who it is. The fields depend on the approved scopes. @throws {@link SignInError} */
export function readUserinfo(provider: Provider, accessToken: string): Promise<Record<string, unknown>> {
  return call(new URL('/v1/oauth/userinfo', provider.baseUrl), {
    headers: { Authorization: `Bearer ${accessToken}`, Accept: 'application/json' },
  });
}

/** At the end: make the token worthless. Possession is proof, so no other credential goes along. @throws {@link SignInError} */
export async function revokeToken(provider: Provider, accessToken: string): Promise<void> {
  await post(new URL('/v1/oauth/revoke', provider.baseUrl), { token: accessToken });
}
