import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { readKnownParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { findUser } from '../scopes/user-record.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { printableUrl } from '../text/printable.ts';
import {
  type ClientAuthentication,
  type Credentials,
  credentialParameters,
  hasCredential,
} from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import { requestProof, requireFirstUse, requireProof } from './dpop-binding.ts';
import type { DpopProof } from './dpop-proof.ts';
import { scopesInIdToken } from './id-token.ts';
import { firstRefreshToken, issueTokens, tokenResponse } from './issued-tokens.ts';
import { maxFailedVerifiers } from './lifetimes.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { requestedPart } from './resources.ts';

/**
 * Names of the parameters of a token request that are read, in addition to those of client authentication
 * and, with the option `resources`, `resource` (RFC 6749, sections 4.1.3 and 6; RFC 7636); others are
 * ignored.
 */
const tokenParameters = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'];

interface CodeRequest {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string | null;
  /** Requested resources, as URIs separated by spaces (RFC 8707); `null` if the request names none. */
  readonly resource: string | null;
  readonly proof: DpopProof | null;
}

/** Returns a parameter of a token request. @throws OAuthError `invalid_request` if it is missing or empty */
function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name);
  if (!value) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}

/** Checks whether a PKCE verifier is well-formed and matches a challenge (RFC 7636, section 4.6). */
function verifierMatches(verifier: string, challenge: string): boolean {
  const isWellFormed = /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier);
  return isWellFormed && equalDigests(digest(verifier), Buffer.from(challenge, 'base64url'));
}

/**
 * Checks the PKCE verifier of a code exchange and counts a wrong one (RFC 7636, section 4.6). Also refuses a
 * verifier if the code has no challenge: an attacker may have removed the challenge from the authorization
 * request (RFC 9700, section 2.1.1).
 */
async function checkPkce(core: Core, grant: GrantState, verifier: string | null): Promise<void> {
  if (grant.codeChallenge === null ? verifier === null : verifierMatches(verifier ?? '', grant.codeChallenge))
    return;
  if (verifier !== null) await core.storage.grants.recordFailedVerifier(grant.codeDigest);
  throw new OAuthError('invalid_grant', 'The PKCE check failed.');
}

function checkRedirectUri(core: Core, client: ClientRecord, grant: GrantState, redirectUri: string): void {
  if (redirectUri === grant.redirectUri) return;
  const isRegistered = isRegisteredRedirectUri(client, redirectUri);
  core.options.logger.warn(
    { client: client.clientId, redirectUri: printableUrl(redirectUri) },
    `a code was refused: its redirect_uri is not ${isRegistered ? 'that of the authorization request' : 'registered'}`,
  );
  throw new OAuthError(isRegistered ? 'invalid_grant' : 'redirect_uri_mismatch');
}

/** Exchanges an authorization code for an access token (RFC 6749, section 4.1.3). Returns the body of the response. */
async function exchangeCode(
  core: Core,
  ctx: Context,
  authentication: ClientAuthentication,
  credentials: Credentials,
  { code, redirectUri, verifier, resource, proof }: CodeRequest,
): Promise<object> {
  const { grants } = core.storage;
  const [client, found] = await Promise.all([
    authentication.authenticate(ctx, credentials),
    grants.find(digest(code)),
  ]);
  const now = core.clock.now();

  const grant = found?.clientId === client.clientId ? found : null;
  const pkceDecides = verifier !== null || (grant !== null && grant.codeChallenge !== null);
  if (!hasCredential(credentials) && !pkceDecides) {
    const reason = 'neither a client_secret nor a code_verifier was sent';
    throw await authentication.failure(ctx, credentials, client.clientId, reason);
  }
  if (grant === null) throw new OAuthError('invalid_grant');
  await checkPkce(core, grant, verifier);
  if (grant.consumedAt !== null) {
    await grants.revoke(grant.codeDigest, now);
    throw new OAuthError('invalid_grant');
  }
  checkRedirectUri(core, client, grant, redirectUri);
  requireProof(client, grant.dpopJkt, proof);
  const burnt = grant.failedVerifiers >= maxFailedVerifiers;
  if (burnt || grant.revokedAt !== null || grant.expiresAt <= now) throw new OAuthError('invalid_grant');
  const part = resource === null ? grant : requestedPart(core, grant, resource);
  const user = await findUser(core.options.users, grant.sub, scopesInIdToken(core, grant, part.scopes));
  if (user === null) {
    core.options.logger.warn(
      { client: client.clientId },
      'a code was refused: users.find does not know its sub',
    );
    throw new OAuthError('invalid_grant');
  }

  const issued = await issueTokens(core, { client, grant, user, proof, now, ...part });
  const refreshToken = firstRefreshToken(core, client, grant, now);
  if (proof !== null) await requireFirstUse(core, proof);
  const outcome = await grants.redeem({
    codeDigest: grant.codeDigest,
    token: issued.token,
    refreshToken: refreshToken?.stored ?? null,
    ...{ maxFailedVerifiers, now },
  });
  if (outcome !== 'redeemed') throw new OAuthError('invalid_grant');
  core.counts.add('sign_ins', 'live');
  return tokenResponse(issued, refreshToken?.text ?? null);
}

/**
 * Creates the handler of the token endpoint, which exchanges authorization codes and refresh tokens for
 * access tokens.
 */
export async function tokenHandler(core: Core, authentication: ClientAuthentication): Promise<Handler> {
  const refreshTokens =
    core.options.refreshTokens && (await import('./refresh.ts')).refreshTokenExchange(core, authentication);
  const readProof = await requestProof(core, 'token');

  const known = new Set([
    ...tokenParameters,
    ...credentialParameters(core.options),
    ...(core.options.resources ? ['resource'] : []),
  ]);

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const parameters = await readKnownParameters(ctx.req, known);
    await authentication.requireAllowed(ctx);
    const credentials = await authentication.readCredentials(ctx, parameters);
    const proof = await readProof(ctx);

    const resource = parameters.get('resource') || null;
    const grantType = required(parameters, 'grant_type');
    if (grantType === 'authorization_code') {
      const code = required(parameters, 'code');
      const redirectUri = required(parameters, 'redirect_uri');
      const verifier = parameters.get('code_verifier') || null;
      const request = { code, redirectUri, verifier, resource, proof };
      ctx.body = await exchangeCode(core, ctx, authentication, credentials, request);
    } else if (grantType === 'refresh_token' && refreshTokens !== undefined) {
      const refreshToken = required(parameters, 'refresh_token');
      const scope = parameters.get('scope') || null;
      ctx.body = await refreshTokens.exchange(ctx, credentials, { refreshToken, scope, resource, proof });
    } else {
      const both = 'The supported grant types are authorization_code and refresh_token.';
      throw new OAuthError('unsupported_grant_type', refreshTokens && both);
    }
  };
}
