import type { Core } from '../context.ts';
import type { Forms } from '../http/csrf.ts';
import type { Handler, Route } from '../http/route.ts';
import { authorizeHandler, resumeHandler } from './authorize.ts';
import { appsHandler, revokeAppHandler } from './connected-apps.ts';
import { consentHandler, interactionHandler } from './consent-page.ts';
import { allowAnyOrigin, preflightHandler } from './cors.ts';
import { discoveryHandler, jwksHandler } from './discovery.ts';
import { apiPaths, authPaths } from './endpoints.ts';
import type { Engine } from './engine/engine.ts';
import type { Interactions } from './interaction.ts';
import { revocationHandler } from './revocation.ts';
import { tokenHandler } from './token.ts';
import { userinfoHandler } from './userinfo.ts';

/** Every route of the identity provider. */
export function oauthRoutes(core: Core, engine: Engine, interactions: Interactions, forms: Forms): Route[] {
  const authorize = authorizeHandler(core, engine);
  const userinfo = userinfoHandler(core);
  const discovery = discoveryHandler(core);
  const jwks = jwksHandler(core);
  const open =
    (handler: Handler): Handler =>
    (ctx) => {
      allowAnyOrigin(ctx);
      return handler(ctx);
    };
  const page = { below: 'authUrl', errors: 'page' } as const;
  const document = { below: 'authUrl', errors: 'json' } as const;
  const api = { below: 'baseUrl', errors: 'json' } as const;

  return [
    {
      path: authPaths.authorize,
      summary: 'Authorization endpoint: where an app sends the user.',
      ...page,
      handlers: { GET: authorize, POST: authorize },
    },
    {
      path: authPaths.resume,
      summary: 'Where the browser goes on after the user has answered.',
      ...page,
      handlers: { GET: resumeHandler(core, engine) },
    },
    {
      path: authPaths.interaction,
      summary: 'Consent page of one authorization request, and its answer.',
      ...page,
      handlers: {
        GET: interactionHandler(core, engine, interactions),
        POST: consentHandler(interactions, forms),
      },
    },
    {
      path: authPaths.apps,
      summary: 'Connected apps: what the user gave access to.',
      ...page,
      handlers: { GET: appsHandler(core, forms) },
    },
    {
      path: authPaths.revokeApp,
      summary: 'Ends the access of one app.',
      ...page,
      handlers: { POST: revokeAppHandler(core, forms) },
    },
    {
      path: authPaths.discovery,
      summary: 'Metadata (OpenID Connect Discovery).',
      ...document,
      handlers: { GET: open(discovery) },
    },
    {
      path: authPaths.oauthDiscovery,
      summary: 'The same metadata where plain OAuth looks for it (RFC 8414).',
      ...document,
      handlers: { GET: open(discovery) },
    },
    { path: authPaths.jwks, summary: 'Public signing keys.', ...document, handlers: { GET: open(jwks) } },
    {
      path: apiPaths.token,
      summary: 'Token endpoint: exchanges a code for an access token. JSON or form.',
      ...api,
      handlers: { POST: tokenHandler(core), OPTIONS: preflightHandler(core, ['POST']) },
    },
    {
      path: apiPaths.userinfo,
      summary: 'Fields of the user, limited to the approved scopes.',
      ...api,
      handlers: { GET: userinfo, POST: userinfo, OPTIONS: preflightHandler(core, ['GET', 'POST']) },
    },
    {
      path: apiPaths.revoke,
      summary: 'Ends an access token. JSON or form.',
      ...api,
      handlers: { POST: revocationHandler(core), OPTIONS: preflightHandler(core, ['POST']) },
    },
  ];
}
