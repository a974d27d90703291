import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState, NewAccessToken, NewRefreshToken } from '../ports/grants.ts';
import { offlineAccess } from '../scopes.ts';
import { digest } from '../tokens.ts';
import { signIdToken } from './id-token.ts';
import { accessTokenSeconds } from './lifetimes.ts';

/** What a client is given for a grant: as it is stored, and as it is answered. */
export interface IssuedTokens {
  readonly token: NewAccessToken;
  readonly refreshToken: NewRefreshToken | null;
  readonly answer: object;
}

const dayMs = 24 * 3600_000;

/** A refresh token for a grant, where it has `offline_access` and the host allows it. It ends with the shorter of its two lives. */
function newRefreshToken({ options, tokens, random }: Core, grant: GrantState, now: number) {
  if (options.refreshTokens === undefined || !grant.scopes.includes(offlineAccess)) return null;
  const { idleDays, absoluteDays } = options.refreshTokens;
  const text = tokens.newRefreshToken(random);
  const expiresAt = Math.min(now + idleDays * dayMs, grant.issuedAt + absoluteDays * dayMs);
  return { text, stored: { digest: digest(text), expiresAt: Math.floor(expiresAt) } };
}

/**
 * Makes an access token with these scopes, a refresh token and an ID token where the grant has them. Nothing is stored yet, so
 * that whatever fails until then leaves what the client presented usable.
 */
export async function issueTokens(
  core: Core,
  {
    client,
    grant,
    scopes,
    now,
  }: { client: ClientRecord; grant: GrantState; scopes: readonly string[]; now: number },
): Promise<IssuedTokens> {
  const accessToken = core.tokens.newAccessToken(core.random);
  const token = { digest: digest(accessToken), issuedAt: now, expiresAt: now + accessTokenSeconds * 1000 };
  const refreshToken = newRefreshToken(core, grant, now);
  const idToken = scopes.includes('openid')
    ? await signIdToken(core, { client, grant, tokenDigest: token.digest, now })
    : null;
  return {
    token,
    refreshToken: refreshToken?.stored ?? null,
    answer: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      scope: scopes.join(' '),
      ...(refreshToken === null ? {} : { refresh_token: refreshToken.text }),
      ...(idToken === null ? {} : { id_token: idToken }),
    },
  };
}
