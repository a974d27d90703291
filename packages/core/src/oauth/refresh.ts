import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { findUser } from '../scopes/user-record.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { type ClientAuthentication, type Credentials, hasCredential } from './client-authentication.ts';
import { refreshBinding, requireFirstUse, requireProof } from './dpop-binding.ts';
import type { DpopProof } from './dpop-proof.ts';
import { scopesInIdToken } from './id-token.ts';
import {
  givesRefreshTokens,
  issueTokens,
  refreshTokenDigests,
  refreshTokenEnd,
  tokenResponse,
} from './issued-tokens.ts';
import { accessTokenSeconds, refreshGraceMs } from './lifetimes.ts';
import { refreshLimits } from './limits.ts';
import { type GrantPart, requestedPart } from './resources.ts';

/** Parameters of a refresh request (RFC 6749, section 6). */
interface RefreshRequest {
  readonly refreshToken: string;
  /** Requested scopes, which must be among those that the user approved; `null` requests all of them. */
  readonly scope: string | null;
  /**
   * Requested resources, as URIs separated by spaces (RFC 8707); `null` requests all resources that the user
   * approved.
   */
  readonly resource: string | null;
  readonly proof: DpopProof | null;
}

const refused = (): OAuthError =>
  new OAuthError(
    'invalid_grant',
    'The refresh token is invalid, expired, was used before, or belongs to another client.',
  );

/**
 * Returns the scopes for a refreshed token: those that the user approved and the client is still allowed, or
 * the requested ones of them.
 * @throws OAuthError `invalid_scope` for any other requested scope; `invalid_grant` if the client is no
 * longer allowed any of the scopes, or gets no refresh token for those that it is allowed
 */
function scopesOf(client: ClientRecord, { scopes }: GrantPart, asked: string | null): readonly string[] {
  const allowed = scopes.filter((scope) => client.allowedScopes.includes(scope));
  if (allowed.length === 0 || !givesRefreshTokens(client, allowed)) throw refused();
  if (asked === null) return allowed;
  const wanted = spaceSeparated(asked);
  if (wanted.length > 0 && wanted.every((name) => allowed.includes(name))) return wanted;
  throw new OAuthError(
    'invalid_scope',
    'A refresh can ask for scopes that the user approved, and for no others.',
  );
}

interface Successor {
  readonly text: string;
  readonly digest: Uint8Array;
}

/**
 * Derives the refresh token that replaces the presented one, with a key that was derived from a sealing key.
 */
function successorOf({ tokens }: Core, presented: string, key: Uint8Array): Successor {
  const text = tokens.succeedingRefreshToken(presented, key);
  return { text, digest: digest(text) };
}

/**
 * Returns the number of access tokens that are kept per grant: as many as can be valid at once within the
 * rate limit, and those of one window more, so that no token is removed before it has expired.
 */
const maxAccessTokens = ({ options }: Core): number =>
  options.limits.refreshesPerGrant * (accessTokenSeconds / 60 + 1);

/** Creates the refresh token exchange with its rate limits. */
export function refreshTokenExchange(core: Core, authentication: ClientAuthentication) {
  const { storage, tokens, clock, options } = core;
  const limits = refreshLimits(core);

  /**
   * Exchanges a refresh token for an access token and the next refresh token. Another use of a token that was
   * replaced before revokes the whole grant (RFC 9700, section 4.14.2), with exceptions for other tabs and
   * retries: see `GrantStore.refresh`. Returns the body of the response.
   */
  async function exchange(
    ctx: Context,
    credentials: Credentials,
    { refreshToken, scope, resource, proof }: RefreshRequest,
  ): Promise<object> {
    const presented = refreshTokenDigests(core, refreshToken);
    const [client, grant] = await Promise.all([
      authentication.authenticate(ctx, credentials),
      tokens.isRefreshToken(refreshToken) ? storage.grants.findRefreshToken(presented) : null,
    ]);
    await limits.countAddress(core.clientAddress(ctx.req), clock.now());
    if (!hasCredential(credentials) && !isPublicClient(client)) {
      const reason = 'no client_secret was sent for a refresh';
      throw await authentication.failure(ctx, credentials, client.clientId, reason);
    }
    // Do not revoke the grant for another client's token: it was stolen from a client that may still use it.
    if (grant === null || grant.clientId !== client.clientId) throw refused();
    if (grant.revokedAt !== null) throw refused();
    requireProof(client, refreshBinding(client, grant), proof);
    await limits.countGrant(grant.codeDigest, clock.now());
    const part = resource === null ? grant : requestedPart(core, grant, resource);
    const { resources } = part;
    const scopes = scopesOf(client, part, scope);
    const user = await findUser(options.users, grant.sub, scopesInIdToken(core, grant, scopes));
    if (user === null) {
      options.logger.warn(
        { client: client.clientId },
        'a refresh was refused: users.find does not know its sub',
      );
      throw refused();
    }

    const now = clock.now();
    const expiresAt = refreshTokenEnd(core, grant, now);
    // The host may have shortened the lifetimes since the token was issued.
    if (expiresAt === null || expiresAt <= now) throw refused();
    // ID tokens issued on refresh have no nonce (OpenID Connect Core, section 12.2).
    const issued = await issueTokens(core, {
      ...{ client, grant: { ...grant, nonce: null }, user, scopes, resources, proof, now },
    });
    // A process with another order of sealing keys may have stored a successor derived with one of the
    // previous keys.
    const [currentKey, ...previousKeys] = core.sealer.derive('refresh tokens');
    const newest = successorOf(core, refreshToken, currentKey);
    const previous = previousKeys.map((key) => successorOf(core, refreshToken, key));
    // FAPI 2.0 Security Profile, section 5.3.2.1: no rotation. A stolen token is of no use without the client's keys.
    const kept = { text: refreshToken, digest: presented.digest };
    const [successor, ...otherSuccessors] =
      client.profile === 'fapi2' ? [kept, newest, ...previous] : [newest, ...previous];
    if (proof !== null) await requireFirstUse(core, proof);
    const result = await storage.grants.refresh({
      ...{ presented, now },
      token: issued.token,
      successor: { digest: successor.digest, expiresAt },
      otherSuccessors: otherSuccessors.map((other) => other.digest),
      graceMs: refreshGraceMs,
      maxAccessTokens: maxAccessTokens(core),
    });
    if (result.outcome === 'refreshed') {
      const stored = [successor, ...otherSuccessors].find((one) =>
        equalDigests(one.digest, result.successor),
      );
      if (stored === undefined) throw new Error('the storage returned a successor that it was not given');
      return tokenResponse(issued, stored.text);
    }
    if (result.outcome === 'unknown_successor') {
      options.logger.error(
        { client: client.clientId },
        'a refresh token was presented again, and its successor was derived with a sealing key that this process does not have',
      );
      throw new OAuthError('temporarily_unavailable', undefined, { headers: { 'Retry-After': '1' } });
    }
    if (result.outcome === 'replayed') {
      options.logger.warn(
        { client: client.clientId },
        'a refresh token was presented again after it had been replaced: everything that was issued with it has ended',
      );
    }
    throw refused();
  }
  return { exchange };
}
