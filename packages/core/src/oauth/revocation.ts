import { OAuthError } from '../errors.ts';
import { readKnownParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { digest } from '../secrets/tokens.ts';
import { allowOriginOf, narrowOriginTo } from './cors.ts';
import { refreshTokenDigests } from './issued-tokens.ts';

/**
 * Names of the parameters of a revocation request that are read (RFC 7009, section 2.1); others are ignored.
 */
const revocationParameters: ReadonlySet<string> = new Set(['token']);

/**
 * Creates the handler of the revocation endpoint (RFC 7009). The specification of this service demands no
 * client authentication: anyone who has a token may revoke it. Client credentials are ignored, and an unknown
 * token counts as success. A refresh token is revoked with everything that was issued with it (section 2.1),
 * an access token alone.
 */
export function revocationHandler(core: Core): Handler {
  const { storage, clock, tokens } = core;

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const token = (await readKnownParameters(ctx.req, revocationParameters)).get('token');
    if (!token) throw new OAuthError('invalid_request', 'The parameter token is missing.');
    if (tokens.isAccessToken(token)) {
      // Read first, so that a failing read leaves the token as it is.
      const known =
        ctx.req.headers.origin === undefined ? null : await storage.grants.findToken(digest(token));
      if (known !== null) await narrowOriginTo(core, ctx, known.clientId);
      await storage.grants.revokeToken(digest(token), clock.now());
    }
    if (tokens.isRefreshToken(token)) {
      const grant = await storage.grants.findRefreshToken(refreshTokenDigests(core, token));
      if (grant !== null) {
        await narrowOriginTo(core, ctx, grant.clientId);
        await storage.grants.revoke(grant.codeDigest, clock.now());
      }
    }
    ctx.body = { ok: true };
  };
}
