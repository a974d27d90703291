import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState, NewAccessToken, NewRefreshToken, RefreshTokenDigests } from '../ports/grants.ts';
import type { UserRecord } from '../ports/users.ts';
import { offlineAccess } from '../scopes/scopes.ts';
import { digest } from '../secrets/tokens.ts';
import type { DpopProof } from './dpop-proof.ts';
import { signIdToken, userClaimsInIdToken } from './id-token.ts';
import { accessTokenSeconds } from './lifetimes.ts';
import type { GrantPart } from './resources.ts';

/** A new access token, not stored yet, with its ID token. */
export interface IssuedTokens {
  readonly accessToken: string;
  /** Record of the new access token, for the storage. */
  readonly token: NewAccessToken;
  /** ID token; `null` without the scope `openid`. */
  readonly idToken: string | null;
  readonly scopes: readonly string[];
}

/** Client and grant of a token, and the scopes and resources for which it is issued. */
interface TokenSubject extends GrantPart {
  readonly client: ClientRecord;
  readonly grant: GrantState;
  readonly user: UserRecord;
  /** DPoP proof of the token request; `null` issues a token that is not bound to a key. */
  readonly proof: DpopProof | null;
  readonly now: number;
}

const dayMs = 24 * 3600_000;

/**
 * Checks whether a client gets refresh tokens together with access tokens of these scopes, provided that the
 * host application enables them.
 */
export function givesRefreshTokens(client: ClientRecord, scopes: readonly string[]): boolean {
  return client.refreshWithoutOfflineAccess === true || scopes.includes(offlineAccess);
}

/**
 * Returns when the next refresh token of a grant expires, in milliseconds since the Unix epoch: after its
 * idle lifetime or its absolute lifetime, whichever ends first. `null` without the option `refreshTokens`.
 */
export function refreshTokenEnd({ options }: Core, grant: GrantState, now: number): number | null {
  if (options.refreshTokens === undefined) return null;
  const { idleDays, absoluteDays } = options.refreshTokens;
  return Math.floor(Math.min(now + idleDays * dayMs, grant.issuedAt + absoluteDays * dayMs));
}

/**
 * Creates the first refresh token of a grant; `null` without the option `refreshTokens`, or if the client
 * gets no refresh tokens (see {@link givesRefreshTokens}).
 */
export function firstRefreshToken(
  core: Core,
  client: ClientRecord,
  grant: GrantState,
  now: number,
): { readonly text: string; readonly stored: NewRefreshToken } | null {
  const expiresAt = refreshTokenEnd(core, grant, now);
  if (expiresAt === null || !givesRefreshTokens(client, grant.scopes)) return null;
  const text = core.tokens.newRefreshToken(core.random);
  return { text, stored: { ...refreshTokenDigests(core, text), expiresAt } };
}

/** Returns a list of scopes or resources in stored form: `null` if it equals the grant's whole list. */
const fewerOf = (
  part: readonly string[] | null,
  whole: readonly string[] | null,
): readonly string[] | null => (part?.length === whole?.length ? null : part);

/** Returns the digests under which a refresh token is stored. */
export function refreshTokenDigests({ tokens }: Core, text: string): RefreshTokenDigests {
  return { digest: digest(text), family: digest(tokens.familyOfRefreshToken(text)) };
}

/**
 * Creates an access token with the given scopes, and an ID token if they include `openid`. Stores nothing:
 * after a failure the client can present its code or refresh token again.
 */
export async function issueTokens(
  core: Core,
  { client, grant, user, scopes, resources, proof, now }: TokenSubject,
): Promise<IssuedTokens> {
  const accessToken = core.tokens.newAccessToken(core.random);
  const token = {
    digest: digest(accessToken),
    issuedAt: now,
    expiresAt: now + accessTokenSeconds * 1000,
    scopes: fewerOf(scopes, grant.scopes),
    resources: fewerOf(resources, grant.resources),
    dpopJkt: proof?.jkt ?? null,
  };
  const idToken = scopes.includes('openid')
    ? await signIdToken(core, {
        ...{ client, grant, tokenDigest: token.digest, now },
        userClaims: userClaimsInIdToken(core, grant, scopes, user),
      })
    : null;
  return { accessToken, token, idToken, scopes };
}

/** Returns the type of an access token (RFC 6749, section 7.1; RFC 9449, section 5). */
export const tokenTypeOf = ({ dpopJkt }: { readonly dpopJkt: string | null }): 'Bearer' | 'DPoP' =>
  dpopJkt === null ? 'Bearer' : 'DPoP';

/** Returns the body of a successful token response (RFC 6749, section 5.1). */
export function tokenResponse(
  { accessToken, token, idToken, scopes }: IssuedTokens,
  refreshToken: string | null,
): object {
  return {
    access_token: accessToken,
    token_type: tokenTypeOf(token),
    expires_in: accessTokenSeconds,
    scope: scopes.join(' '),
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    ...(idToken === null ? {} : { id_token: idToken }),
  };
}
