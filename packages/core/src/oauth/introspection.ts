import { OAuthError } from '../errors.ts';
import { readKnownParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { digest } from '../secrets/tokens.ts';
import { rejectionReason } from './access-token.ts';
import { type ClientAuthentication, credentialParameters, hasCredential } from './client-authentication.ts';
import { tokenTypeOf } from './issued-tokens.ts';

/**
 * Returns the value of the claim `aud` for resources: a string for one, a list for several (RFC 7519, section
 * 4.1.3).
 */
const audienceOf = (resources: readonly string[]): string | readonly string[] =>
  resources.length === 1 ? (resources[0] ?? '') : resources;

/**
 * Creates the handler of the introspection endpoint (RFC 7662) for clients that are resource servers. For a
 * valid access token of any client it returns the user and the scopes. For any other token, such as a refresh
 * token, it returns only that the token is not active.
 */
export function introspectionHandler(core: Core, authentication: ClientAuthentication): Handler {
  const { storage, clock, tokens, options } = core;
  // Parameters that are read (RFC 7662, section 2.1, and client authentication); others are ignored.
  const known = new Set(['token', ...credentialParameters(options)]);

  return async (ctx) => {
    const parameters = await readKnownParameters(ctx.req, known);
    await authentication.requireAllowed(ctx);
    const credentials = await authentication.readCredentials(ctx, parameters);
    const text = parameters.get('token');
    if (!text) throw new OAuthError('invalid_request', 'The parameter token is missing.');
    const client = await authentication.authenticate(ctx, credentials);
    if (!hasCredential(credentials)) {
      const reason = 'no client_secret was sent for an introspection';
      throw await authentication.failure(ctx, credentials, client.clientId, reason);
    }
    if (client.resourceServer !== true) throw new OAuthError('unauthorized_client');

    const token = tokens.isAccessToken(text) ? await storage.grants.findToken(digest(text)) : null;
    if (token === null || rejectionReason(token, clock.now()) !== null) {
      ctx.body = { active: false };
      return;
    }
    ctx.body = {
      active: true,
      scope: token.scopes.join(' '),
      client_id: token.clientId,
      sub: token.sub,
      ...(token.resources !== null && { aud: audienceOf(token.resources) }),
      token_type: tokenTypeOf(token),
      ...(token.dpopJkt !== null && { cnf: { jkt: token.dpopJkt } }),
      exp: Math.floor(token.expiresAt / 1000),
      iss: options.issuer,
      // Required by RFC 9470, section 6.2.
      ...(token.acr !== null && {
        acr: token.acr,
        auth_time: Math.floor(token.authenticatedAt / 1000),
      }),
    };
  };
}
