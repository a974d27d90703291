import { OAuthError } from '../errors.ts';
import { readKnownParameters } from '../http/body.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { printableUrl } from '../text/printable.ts';
import { type Credentials, invalidClient, readCredentials } from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import type { CountedAuthentication } from './counted-authentication.ts';
import { firstRefreshToken, issueTokens, tokenResponse } from './issued-tokens.ts';
import { maxFailedVerifiers } from './lifetimes.ts';
import { verifierMatches } from './pkce.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import type { Refresh } from './refresh.ts';
import { findUser } from './user.ts';

/** Parameters of RFC 6749, sections 2.3.1, 4.1.3 and 6, and of RFC 7636; others are ignored. */
const tokenParameters: ReadonlySet<string> = new Set([
  'grant_type',
  'code',
  'redirect_uri',
  'client_id',
  'client_secret',
  'code_verifier',
  'refresh_token',
  'scope',
]);

interface CodeRequest {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string | null;
}

/** What is presented, and what answers it once the client is authenticated. */
interface TokenRequest {
  readonly text: string;
  answer(client: ClientRecord, grant: GrantState | null, credentials: Credentials): Promise<object>;
}

/** Of one of the grant types that there are. @throws OAuthError */
function readTokenRequest(
  core: Core,
  parameters: ReadonlyMap<string, string>,
  address: string | null,
  refresh: Refresh | undefined,
): TokenRequest {
  const required = (name: string): string => {
    const value = parameters.get(name);
    if (!value) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
    return value;
  };
  const grantType = required('grant_type');
  if (grantType === 'refresh_token' && refresh !== undefined) {
    const refreshToken = required('refresh_token');
    const request = { address, refreshToken, scope: parameters.get('scope') || null };
    return {
      text: request.refreshToken,
      answer: (client, _, credentials) => refresh(client, credentials, request),
    };
  }
  if (grantType !== 'authorization_code') {
    const both = 'The supported grant types are authorization_code and refresh_token.';
    throw new OAuthError('unsupported_grant_type', refresh && both);
  }
  const request = {
    code: required('code'),
    redirectUri: required('redirect_uri'),
    verifier: parameters.get('code_verifier') || null,
  };
  return {
    text: request.code,
    answer: (client, grant, credentials) => exchange(core, client, grant, credentials, request),
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
async function requireGrant(
  core: Core,
  grant: GrantState | null,
  client: ClientRecord,
  credentials: Credentials,
  { verifier }: CodeRequest,
): Promise<GrantState> {
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
  const isRegistered = isRegisteredRedirectUri(client, redirectUri);
  core.options.logger.warn(
    { client: client.clientId, redirectUri: printableUrl(redirectUri) },
    `a code was refused: its redirect_uri is not ${isRegistered ? 'that of the authorization request' : 'registered'}`,
  );
  throw new OAuthError(isRegistered ? 'invalid_grant' : 'redirect_uri_mismatch');
}

async function exchange(
  core: Core,
  client: ClientRecord,
  found: GrantState | null,
  credentials: Credentials,
  request: CodeRequest,
): Promise<object> {
  const now = core.clock.now();
  const { grants } = core.storage;
  const grant = await requireGrant(core, found, client, credentials, request);
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

  const issued = await issueTokens(core, { client, grant, scopes: grant.scopes, now });
  const refreshToken = firstRefreshToken(core, grant, now);
  const outcome = await grants.redeem({
    codeDigest: grant.codeDigest,
    token: issued.token,
    refreshToken: refreshToken?.stored ?? null,
    ...{ maxFailedVerifiers, now },
  });
  if (outcome !== 'redeemed') throw new OAuthError('invalid_grant');
  return tokenResponse(issued, refreshToken?.text ?? null);
}

/** The token endpoint: exchanges an authorization code, or a refresh token, for an access token. */
export async function tokenHandler(core: Core, authenticated: CountedAuthentication): Promise<Handler> {
  const refresh = core.options.refreshTokens && (await import('./refresh.ts')).refreshing(core);
  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const parameters = await readKnownParameters(ctx.req, tokenParameters);
    const read = () => {
      const credentials = readCredentials(ctx.req.headers.authorization, parameters);
      return { credentials, ...readTokenRequest(core, parameters, core.clientAddress(ctx.req), refresh) };
    };
    ctx.body = await authenticated(ctx, read, (client, grant, { credentials, answer }) =>
      answer(client, grant, credentials),
    );
  };
}
