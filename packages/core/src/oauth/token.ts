import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { readParameters } from '../http/body.ts';
import type { Handler } from '../http/route.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { printableUrl } from '../printable.ts';
import { digest } from '../tokens.ts';
import {
  type Credentials,
  checkSecret,
  findClient,
  invalidClient,
  readCredentials,
} from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import { signIdToken } from './id-token.ts';
import { accessTokenSeconds, maxFailedVerifiers } from './lifetimes.ts';
import { verifierMatches } from './pkce.ts';
import { findUser } from './user.ts';

type TokenRequest = ReturnType<typeof readTokenRequest>;

function readTokenRequest(parameters: ReadonlyMap<string, string>) {
  const required = (name: string): string => {
    const value = parameters.get(name);
    if (!value) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
    return value;
  };
  if (required('grant_type') !== 'authorization_code') throw new OAuthError('unsupported_grant_type');
  return {
    code: required('code'),
    redirectUri: required('redirect_uri'),
    verifier: parameters.get('code_verifier') || null,
  };
}

/**
 * Decides whether PKCE lets this presentation of the code pass, and counts wrong verifiers (RFC 7636, section
 * 4.6). A verifier for a code that was bound to none is refused too: somebody may have stripped the challenge
 * from the request (RFC 9700, section 2.1.1).
 */
async function checkPkce(core: Core, grant: GrantState, verifier: string | null): Promise<void> {
  if (grant.codeChallenge === null ? verifier === null : verifierMatches(verifier ?? '', grant.codeChallenge))
    return;
  if (verifier !== null) await core.storage.grants.recordFailedVerifier(grant.codeDigest);
  throw new OAuthError('invalid_grant', 'The PKCE check failed.');
}

/** The grant that a presentation of a code is entitled to; whether it was used is not looked at yet. */
async function findGrant(
  core: Core,
  client: ClientRecord,
  credentials: Credentials,
  { code, verifier }: TokenRequest,
): Promise<GrantState> {
  const grant = await core.storage.grants.find(digest(code));
  const own = grant?.clientId === client.clientId ? grant : null;
  const pkceDecides = verifier !== null || (own !== null && own.codeChallenge !== null);
  if (credentials.secret === null && !pkceDecides) {
    const reason = 'neither a client_secret nor a code_verifier was sent';
    throw invalidClient(credentials, client.clientId, reason);
  }
  if (own === null) throw new OAuthError('invalid_grant');
  await checkPkce(core, own, verifier);
  return own;
}

function checkRedirectUri(core: Core, client: ClientRecord, grant: GrantState, redirectUri: string): void {
  if (redirectUri === grant.redirectUri) return;
  const isRegistered = client.redirectUris.includes(redirectUri);
  core.options.logger.warn(
    { client: client.clientId, redirectUri: printableUrl(redirectUri) },
    `a code was refused: its redirect_uri is not ${isRegistered ? 'that of the authorization request' : 'registered'}`,
  );
  throw new OAuthError(isRegistered ? 'invalid_grant' : 'redirect_uri_mismatch');
}

async function exchange(
  core: Core,
  client: ClientRecord,
  credentials: Credentials,
  request: TokenRequest,
): Promise<object> {
  const now = core.clock.now();
  const { grants } = core.storage;
  const grant = await findGrant(core, client, credentials, request);
  if (grant.consumedAt !== null) {
    await grants.revoke(grant.codeDigest, now);
    throw new OAuthError('invalid_grant');
  }
  checkRedirectUri(core, client, grant, request.redirectUri);
  const burnt = grant.failedVerifiers >= maxFailedVerifiers;
  if (burnt || grant.revokedAt !== null || grant.expiresAt <= now) throw new OAuthError('invalid_grant');
  if ((await findUser(core, grant.sub, [])) === null) {
    core.options.logger.warn(
      { client: client.clientId },
      'a code was refused: users.find does not know its sub',
    );
    throw new OAuthError('invalid_grant');
  }

  const accessToken = core.tokens.newAccessToken(core.random);
  const tokenDigest = digest(accessToken);
  // Signed before the code is consumed: whatever fails until then leaves the code usable.
  const idToken = grant.scopes.includes('openid')
    ? await signIdToken(core, { client, grant, tokenDigest, now })
    : null;
  const outcome = await grants.redeem({
    codeDigest: grant.codeDigest,
    token: { digest: tokenDigest, issuedAt: now, expiresAt: now + accessTokenSeconds * 1000 },
    maxFailedVerifiers,
    now,
  });
  if (outcome !== 'redeemed') throw new OAuthError('invalid_grant');
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
    scope: grant.scopes.join(' '),
    ...(idToken === null ? {} : { id_token: idToken }),
  };
}

/** The token endpoint: exchanges an authorization code for an access token. */
export function tokenHandler(core: Core): Handler {
  const failures = addressLimit(core.storage.rateLimits, {
    name: 'client authentication',
    limit: core.options.limits.failedClientAuthentications,
  });

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const parameters = await readParameters(ctx.req);
    const authorization = ctx.req.headers.authorization;
    const address = core.clientAddress(ctx.req);
    const now = core.clock.now();
    const state = await failures.peek(address, now);
    requireAllowed(state, now, 'Client authentication failed too often from this address.');
    try {
      const credentials = readCredentials(authorization, parameters);
      const request = readTokenRequest(parameters);
      const client = await findClient(core.storage.clients, credentials);
      await allowOriginOf(core, ctx, client);
      checkSecret(client, credentials, now);
      ctx.body = await exchange(core, client, credentials, request);
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'invalid_client') {
        core.options.logger.warn(Object(error.cause), 'a client could not be authenticated');
        await failures.consume(address, now);
      }
      throw error;
    }
  };
}
