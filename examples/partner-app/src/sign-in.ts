import { createHash, timingSafeEqual } from 'node:crypto';
import { OstiaryOAuth, type Tokens, type Userinfo } from '@ostiary/client-sdk/oauth';
import type { PartnerConfig, RegisteredClient } from './config.ts';

/** A sign-in that was begun in this browser. Kept on the server, in the session, until the user comes back. */
export interface PendingSignIn {
  readonly client: RegisteredClient;
  /** Comes back unchanged: proves that the answer belongs to a sign-in that this browser began. */
  readonly state: string;
  /** Stays here: proves at the exchange that we are the ones who asked (PKCE). */
  readonly codeVerifier: string;
}

/** What the exchange gave, as far as the shop keeps it. */
export interface TokenSet extends Pick<Tokens, 'accessToken' | 'scope'> {
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** "Sign in with Ostiary", for each client of the shop. What goes wrong is an `OstiaryError`. */
export interface SignIn {
  /** Where to send the browser, and what to remember until it comes back. */
  begin(
    client: RegisteredClient,
    scopes: readonly string[],
  ): Promise<{ readonly url: string; readonly pending: PendingSignIn }>;
  /** Takes what the browser brought back. */
  finish(pending: PendingSignIn, callbackUrl: string): Promise<TokenSet>;
  /** Who it is. The fields depend on the approved scopes. */
  identity(tokens: TokenSet): Promise<Userinfo>;
  /** Makes the token worthless. */
  revoke(tokens: TokenSet): Promise<void>;
}

type Scopes = Parameters<OstiaryOAuth['authorizeUrl']>[0]['scope'];

/** See {@link SignIn}. @throws TypeError for addresses and clients that cannot be right */
export function createSignIn({ provider, clients }: Pick<PartnerConfig, 'provider' | 'clients'>): SignIn {
  const clientOf = ({ clientId, clientSecret, redirectUri }: RegisteredClient): OstiaryOAuth =>
    new OstiaryOAuth({
      authUrl: provider.authUrl,
      baseUrl: provider.baseUrl,
      clientId,
      clientSecret: clientSecret ?? undefined,
      redirectUri,
      // Somebody is waiting for a page.
      timeout: 10_000,
      totalTimeout: 15_000,
    });
  const confidential = clientOf(clients.confidential);
  const open = clientOf(clients.public);
  const of = (client: RegisteredClient): OstiaryOAuth =>
    client === clients.confidential ? confidential : open;

  return {
    async begin(client, scopes) {
      const { url, state, codeVerifier } = await of(client).authorizeUrl({ scope: scopes as Scopes });
      return { url, pending: { client, state, codeVerifier } };
    },
    async finish({ client, state, codeVerifier }, callbackUrl) {
      const tokens = await of(client).exchange({ callbackUrl, state, codeVerifier });
      const { accessToken, scope, expiresIn } = tokens;
      return { accessToken, scope, expiresAt: Date.now() + expiresIn * 1_000 };
    },
    identity: ({ accessToken }) => confidential.userinfo(accessToken),
    // Possession is proof, so it does not matter which client asks.
    revoke: async ({ accessToken }) => void (await confidential.revoke(accessToken)),
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether a callback belongs to this sign-in. Compares digests: they have one length, and the time tells nothing. */
export function belongsTo(pending: PendingSignIn, state: string): boolean {
  return timingSafeEqual(sha256(state), sha256(pending.state));
}
