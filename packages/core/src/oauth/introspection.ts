import { OAuthError } from '../errors.ts';
import { readKnownParameters } from '../http/body.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { digest } from '../secrets/tokens.ts';
import { deadAt } from './access-token.ts';
import { invalidClient, readCredentials } from './client-authentication.ts';
import type { CountedAuthentication } from './counted-authentication.ts';
import { issuerOf } from './endpoints.ts';

/** Parameters of RFC 7662, section 2.1, and of client authentication; others are ignored. */
const introspectionParameters: ReadonlySet<string> = new Set(['token', 'client_id', 'client_secret']);

/**
 * The introspection endpoint (RFC 7662), for clients that are resource servers: it says whose a token is and what it opens,
 * whichever client it was issued to. Of whatever opens nothing it says no more than that.
 */
export function introspectionHandler(core: Core, authenticated: CountedAuthentication): Handler {
  const { storage, clock, tokens, options } = core;

  return async (ctx) => {
    const parameters = await readKnownParameters(ctx.req, introspectionParameters);
    const read = () => {
      const credentials = readCredentials(ctx.req.headers.authorization, parameters);
      const text = parameters.get('token');
      if (!text) throw new OAuthError('invalid_request', 'The parameter token is missing.');
      return { credentials, text };
    };
    ctx.body = await authenticated(ctx, read, async (client, _grant, { credentials, text }) => {
      if (credentials.secret === null)
        throw invalidClient(credentials, client.clientId, 'no client_secret was sent for an introspection');
      if (client.resourceServer !== true) throw new OAuthError('unauthorized_client');
      const token = tokens.isAccessToken(text) ? await storage.grants.findToken(digest(text)) : null;
      if (token === null || deadAt(token, clock.now()) !== null) return { active: false };
      return {
        active: true,
        scope: token.scopes.join(' '),
        client_id: token.clientId,
        sub: token.sub,
        token_type: 'Bearer',
        exp: Math.floor(token.expiresAt / 1000),
        iss: issuerOf(options),
      };
    });
  };
}
