import type { Handler, Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { allowAnyOrigin, openPreflight } from './cors.ts';
import { discoveryHandler, jwksHandler } from './discovery.ts';
import { authPaths, wellKnownOfIssuer } from './endpoints.ts';

/** Wraps a handler so that pages of every origin may read its response. */
function readableAnywhere(handler: Handler): Handler {
  return (ctx) => {
    allowAnyOrigin(ctx);
    return handler(ctx);
  };
}

/** Creates the route of a public JSON document, which pages of every origin may read. */
function document(path: string, summary: string, handler: Handler): Route {
  const handlers = { GET: readableAnywhere(handler), OPTIONS: openPreflight };
  return { path, summary, below: 'authUrl', errors: 'json', handlers };
}

/** Returns the routes of the OAuth metadata documents and of the public signing keys. */
export function documentRoutes(core: Core): Route[] {
  const discovery = discoveryHandler(core);
  const behindWellKnown = wellKnownOfIssuer(core.options).map((path) =>
    document(path, "The same metadata, with the issuer's path behind (RFC 8414, section 3.1).", discovery),
  );
  return [
    document(authPaths.discovery, 'Metadata (OpenID Connect Discovery).', discovery),
    document(
      authPaths.oauthDiscovery,
      'The same metadata where plain OAuth looks for it (RFC 8414).',
      discovery,
    ),
    ...behindWellKnown,
    document(authPaths.jwks, 'Public signing keys.', jwksHandler(core)),
  ];
}
