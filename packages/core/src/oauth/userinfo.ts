import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { hasBody, isParameters, readKnownParameters } from '../http/body.ts';
import { writeJson } from '../http/headers.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { AccessTokenState } from '../ports/grants.ts';
import type { UserRecord } from '../ports/users.ts';
import { digest } from '../secrets/tokens.ts';
import { rejectionReason } from './access-token.ts';
import { allowOriginOf, narrowOriginTo } from './cors.ts';
import { findUser } from './user.ts';

/**
 * Creates the error for a refused token. The header always says `invalid_token`, also for an expired token
 * (RFC 6750, section 3); the body may have another code.
 */
function refusedToken(code: 'invalid_token' | 'token_expired', description?: string): OAuthError {
  return new OAuthError(code, description, {
    headers: {
      'WWW-Authenticate': `Bearer error="invalid_token", error_description="${description ?? 'The access token is invalid.'}"`,
    },
  });
}

const userinfoParameters: ReadonlySet<string> = new Set(['access_token']);

/**
 * Reads the token in the body of a POST; `null` if there is none. HTTP clients name a media type for an empty
 * body too. If there is a token in the header as well, only a form is read.
 */
async function readPostedToken({ req }: Context, isInHeader: boolean): Promise<string | null> {
  const type = req.headers['content-type'] ?? '';
  if (type === '' || !hasBody(req)) return null;
  if (isInHeader && !isParameters(type)) return null;
  return (await readKnownParameters(req, userinfoParameters)).get('access_token') ?? null;
}

/**
 * Reads the token in the Authorization header or in a POST form. Refuses a request with both, and never reads
 * the query.
 */
async function readBearerToken(ctx: Context): Promise<string> {
  const header = ctx.req.headers.authorization;
  const inHeader = header === undefined ? null : (/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '');
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
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  return token;
}

/** Checks that a token is valid at `now`. @throws OAuthError if it is not */
function requireLiving(token: AccessTokenState | null, now: number): asserts token is AccessTokenState {
  const dead = rejectionReason(token, now);
  if (dead === 'expired')
    throw refusedToken('token_expired', 'The access token expired; a new authorization is required.');
  if (dead !== null) throw refusedToken('invalid_token');
}

/**
 * Returns the fields of the approved scopes from the host's record, validated. Leaves out fields that the
 * host does not know.
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
 * query per request.
 */
export function userinfoHandler(core: Core): Handler {
  const { storage, clock, tokens } = core;

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const presented = await readBearerToken(ctx);
    const token = tokens.isAccessToken(presented) ? await storage.grants.findToken(digest(presented)) : null;
    if (token !== null) await narrowOriginTo(core, ctx, token.clientId);
    requireLiving(token, clock.now());
    const user = await findUser(core, token.sub, token.scopes);
    if (user === null) throw refusedToken('invalid_token');
    writeJson(ctx, 200, JSON.stringify(userinfoOf(core, user, token.scopes)));
  };
}
