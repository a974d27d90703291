import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { offlineAccess } from '../scopes.ts';
import { digest } from '../tokens.ts';
import { isPublicClient } from './client.ts';
import { type Credentials, invalidClient } from './client-authentication.ts';
import { issueTokens } from './issued-tokens.ts';
import { refreshGraceMs } from './lifetimes.ts';
import { findUser } from './user.ts';

/** What is presented to get new tokens (RFC 6749, section 6). */
interface RefreshRequest {
  readonly refreshToken: string;
  /** Scopes of the new access token, fewer than the user approved; `null`: all of them. */
  readonly scope: string | null;
}

const refused = (): OAuthError =>
  new OAuthError(
    'invalid_grant',
    'The refresh token is invalid, expired, was used before, or belongs to another client.',
  );

/** What the user approved and the client is still allowed, or the part of it that is asked for. */
function scopesOf(client: ClientRecord, grant: GrantState, asked: string | null): readonly string[] {
  const allowed = grant.scopes.filter((scope) => client.allowedScopes.includes(scope));
  if (!allowed.includes(offlineAccess)) throw refused();
  if (asked === null) return allowed;
  const wanted = [...new Set(asked.split(' ').filter((name) => name !== ''))];
  if (wanted.length > 0 && wanted.every((name) => allowed.includes(name))) return wanted;
  throw new OAuthError(
    'invalid_scope',
    'A refresh can ask for scopes that the user approved, and for no others.',
  );
}

/**
 * Exchanges a refresh token for an access token and the next refresh token. One that was replaced before ends everything of its
 * grant (RFC 9700, section 4.14.2), but for the client that did not get the answer: see `GrantStore.refresh`.
 */
export async function refresh(
  core: Core,
  client: ClientRecord,
  credentials: Credentials,
  { refreshToken, scope }: RefreshRequest,
): Promise<object> {
  const { storage, tokens, clock, options } = core;
  if (credentials.secret === null && !isPublicClient(client))
    throw invalidClient(credentials, client.clientId, 'no client_secret was sent for a refresh');
  const presented = digest(refreshToken);
  const grant = tokens.isRefreshToken(refreshToken) ? await storage.grants.findRefreshToken(presented) : null;
  // One of another client ends nothing: whoever has it is not who was given it.
  if (grant === null || grant.clientId !== client.clientId) throw refused();
  if (grant.revokedAt !== null) throw refused();
  const scopes = scopesOf(client, grant, scope);
  if ((await findUser(core, grant.sub, [])) === null) {
    options.logger.warn(
      { client: client.clientId },
      'a refresh was refused: users.find does not know its sub',
    );
    throw refused();
  }

  const now = clock.now();
  // The nonce was of the sign-in (OpenID Connect Core, section 12.2).
  const issued = await issueTokens(core, { client, grant: { ...grant, nonce: null }, scopes, now });
  // The host may have made its lives shorter meanwhile.
  if (issued.refreshToken === null || issued.refreshToken.expiresAt <= now) throw refused();
  const outcome = await storage.grants.refresh({
    ...{ digest: presented, scopes, now },
    token: issued.token,
    successor: issued.refreshToken,
    graceMs: refreshGraceMs,
  });
  if (outcome === 'refreshed') return issued.answer;
  if (outcome === 'replayed') {
    options.logger.warn(
      { client: client.clientId },
      'a refresh token was presented again after it had been replaced: everything that was issued with it has ended',
    );
  }
  throw refused();
}

export type Refresh = typeof refresh;
