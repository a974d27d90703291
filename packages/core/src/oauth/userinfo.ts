import type { Context } from 'koa';
import { OAuthError, type OAuthErrorCode, oauthErrors } from '../errors.ts';
import { hasBody } from '../http/body.ts';
import { writeJson } from '../http/headers.ts';
import { isParameters, readKnownParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import type { Core } from '../options/context.ts';
import type { Options } from '../options/parse.ts';
import type { AccessTokenState } from '../ports/grants.ts';
import type { UserRecord } from '../ports/users.ts';
import { findUser } from '../scopes/user-record.ts';
import { digest } from '../secrets/tokens.ts';
import { urlBelow } from '../text/urls.ts';
import { rejectionReason } from './access-token.ts';
import { allowOriginOf, narrowOriginTo } from './cors.ts';
import { proofChecks } from './dpop-binding.ts';
import { proofProblem } from './dpop-resource.ts';
import { apiPaths } from './endpoints.ts';

/** Authorization scheme with which a token was sent. */
type Scheme = 'Bearer' | 'DPoP';

/**
 * Parameter of the header `WWW-Authenticate` that lists the algorithms for DPoP proofs (RFC 9449, section
 * 7.1).
 */
const proofAlgorithms = `algs="${clientAlgorithms.join(' ')}"`;

/**
 * Creates an error with the header `WWW-Authenticate` (RFC 6750, section 3; RFC 9449, section 7.1). `error`
 * is the error code in that header.
 */
function challenged(
  scheme: Scheme,
  error: 'invalid_token' | 'invalid_dpop_proof',
  description: string,
  code: OAuthErrorCode = error,
): OAuthError {
  const algorithms = scheme === 'DPoP' ? `, ${proofAlgorithms}` : '';
  const challenge = `${scheme} error="${error}", error_description="${description}"${algorithms}`;
  return new OAuthError(code, description, { status: 401, headers: { 'WWW-Authenticate': challenge } });
}

const invalidToken = (scheme: Scheme): OAuthError =>
  challenged(scheme, 'invalid_token', oauthErrors.invalid_token.text);

const userinfoParameters: ReadonlySet<string> = new Set(['access_token']);

/**
 * Reads the access token in the body of a POST request; `null` if there is none. Some HTTP clients name a
 * media type for an empty body. If the header has a token too, only a form or JSON is read.
 */
async function readPostedToken({ req }: Context, isInHeader: boolean): Promise<string | null> {
  const type = req.headers['content-type'] ?? '';
  if (type === '' || !hasBody(req)) return null;
  if (isInHeader && !isParameters(type)) return null;
  return (await readKnownParameters(req, userinfoParameters)).get('access_token') ?? null;
}

/**
 * Reads the access token in the Authorization header or in the body of a POST request. Refuses a request with
 * both, and never reads the query.
 */
async function readAccessToken(
  ctx: Context,
  { dpop }: Options,
): Promise<{ readonly presented: string; readonly scheme: Scheme }> {
  const header = ctx.req.headers.authorization;
  const credentials = dpop ? /^(Bearer|DPoP) +(\S+) *$/i : /^(Bearer) +(\S+) *$/i;
  const [, scheme = 'Bearer', sent = ''] = credentials.exec(header ?? '') ?? [];
  const inHeader = header === undefined ? null : sent;
  const inBody = ctx.method === 'POST' ? await readPostedToken(ctx, inHeader !== null) : null;
  if (inHeader !== null && inBody !== null) {
    throw new OAuthError('invalid_request', 'The access token is sent twice; use the header or the form.', {
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_request"' },
    });
  }
  const token = inHeader ?? inBody;
  if (token === null) {
    // Without a token, the header has no error code (RFC 6750, section 3.1).
    throw new OAuthError('invalid_token', 'The access token is missing.', {
      headers: { 'WWW-Authenticate': dpop ? `Bearer, DPoP ${proofAlgorithms}` : 'Bearer' },
    });
  }
  return { presented: token, scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer' };
}

/** Checks that an access token is valid at `now`. @throws OAuthError if it is not */
function requireLiving(
  token: AccessTokenState | null,
  scheme: Scheme,
  now: number,
): asserts token is AccessTokenState {
  const dead = rejectionReason(token, now);
  // In the header an expired token is `invalid_token`; the body may have another code (RFC 6750, section 3).
  if (dead === 'expired')
    throw challenged(scheme, 'invalid_token', oauthErrors.token_expired.text, 'token_expired');
  if (dead !== null) throw invalidToken(scheme);
}

/**
 * Returns the fields of the approved scopes from the host application's user record, after checking them.
 * Leaves out fields that the host does not provide.
 */
export function userinfoOf(
  { options, logMissingFields }: Core,
  user: UserRecord,
  approved: readonly string[],
): Record<string, unknown> {
  const answer: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const scope of approved) {
    for (const { name, of } of options.scopes.claimsOf(scope)) {
      const value = of(user);
      if (value === undefined) missing.push(name);
      else answer[name] = value;
    }
  }
  logMissingFields(missing);
  return answer;
}

/**
 * Creates the handler of the userinfo endpoint: the user's fields, limited to the approved scopes. Makes one
 * query per request, and more for a request of a page (CORS) or with a DPoP proof.
 */
export function userinfoHandler(core: Core): Handler {
  const { storage, clock, tokens, options } = core;
  const url = urlBelow(options.baseUrl, apiPaths.userinfo);
  const proofs = proofChecks(core);

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const { presented, scheme } = await readAccessToken(ctx, options);
    const token = tokens.isAccessToken(presented) ? await storage.grants.findToken(digest(presented)) : null;
    if (token !== null) await narrowOriginTo(core, ctx, token.clientId);
    requireLiving(token, scheme, clock.now());
    const request = { method: ctx.method, url, headers: ctx.req.headers };
    const problem = await proofProblem(proofs, token, presented, request, options.baseUrl.origin);
    if (problem !== null) throw challenged('DPoP', problem.code, problem.description);
    const user = await findUser(options.users, token.sub, token.scopes);
    if (user === null) throw invalidToken(scheme);
    writeJson(ctx, 200, JSON.stringify(userinfoOf(core, user, token.scopes)));
  };
}
