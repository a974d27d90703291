import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import { fixedWindows } from '../fixed-windows.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { readParameters } from '../http/body.ts';
import type { Handler } from '../http/route.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import type { PresentedCode, SharedRateLimits } from '../ports/rate-limits.ts';
import type { Storage } from '../ports/storage.ts';
import { printableUrl } from '../printable.ts';
import { digest } from '../tokens.ts';
import {
  type Credentials,
  checkSecret,
  invalidClient,
  readCredentials,
  requireEnabled,
} from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import { signIdToken } from './id-token.ts';
import { accessTokenSeconds, maxFailedVerifiers } from './lifetimes.ts';
import { verifierMatches } from './pkce.ts';
import { findUser } from './user.ts';

type TokenRequest = ReturnType<typeof readTokenRequest>;

/** What a request presents. */
interface Presented {
  readonly credentials: Credentials;
  readonly request: TokenRequest;
}

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
async function requireGrant(
  core: Core,
  grant: GrantState | null,
  client: ClientRecord,
  credentials: Credentials,
  { verifier }: TokenRequest,
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
  found: GrantState | null,
  { credentials, request }: Presented,
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

/** Reads what is presented; what is wrong with it is said when the address may be answered. */
function readPresented(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): Presented | { readonly error: unknown } {
  try {
    return {
      credentials: readCredentials(authorization, parameters),
      request: readTokenRequest(parameters),
    };
  } catch (error) {
    return { error };
  }
}

const clientIds = /^[A-Za-z0-9_-]{1,255}$/;

/** What names the client and the grant. */
function namesOf({ credentials: { clientId }, request: { code } }: Presented): PresentedCode {
  // An id that cannot be one is looked up as one that nobody has.
  return { clientId: clientIds.test(clientId) ? clientId : '', codeDigest: digest(code) };
}

/** Counts of failures, where the storage keeps them, or else in memory: looked at first, and then at the storage. */
function countsOf({ clients, grants, rateLimits }: Storage): Pick<SharedRateLimits, 'consume' | 'peek'> {
  if (rateLimits !== undefined) return rateLimits;
  const windows = fixedWindows();
  return {
    consume: windows.consume,
    async peek(requests, presented) {
      const states = windows.peek(requests);
      if (presented === null || states.some(({ allowed }) => !allowed))
        return { states, client: null, grant: null };
      const { clientId, codeDigest } = presented;
      return { states, client: await clients.find(clientId), grant: await grants.find(codeDigest) };
    },
  };
}

/** The token endpoint: exchanges an authorization code for an access token. */
export function tokenHandler(core: Core): Handler {
  const counts = countsOf(core.storage);
  const failures = addressLimit(counts, {
    name: 'client authentication',
    limit: core.options.limits.failedClientAuthentications,
  });

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const presented = readPresented(ctx.req.headers.authorization, await readParameters(ctx.req));
    const address = core.clientAddress(ctx.req);
    const now = core.clock.now();
    const names = 'error' in presented ? null : namesOf(presented);
    const found = await counts.peek(failures.requests(address, now), names);
    requireAllowed(found.states, now, 'Client authentication failed too often from this address.');
    try {
      if ('error' in presented) throw presented.error;
      const client = requireEnabled(found.client, presented.credentials);
      await allowOriginOf(core, ctx, client);
      checkSecret(client, presented.credentials, now);
      ctx.body = await exchange(core, client, found.grant, presented);
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'invalid_client') {
        core.options.logger.warn(Object(error.cause), 'a client could not be authenticated');
        await failures.consume(address, now);
      }
      throw error;
    }
  };
}
