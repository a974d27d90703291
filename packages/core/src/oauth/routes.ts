import type { Forms } from '../http/csrf.ts';
import type { Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { appsHandler, restoreAppHandler, revokeAppHandler } from './apps-page.ts';
import { authorizeHandler, resumeHandler } from './authorize.ts';
import type { ClientAssertions } from './client-assertion.ts';
import { clientAuthentication } from './client-authentication.ts';
import { logoHandler } from './client-logo.ts';
import type { ConnectedApps } from './connected-apps.ts';
import { cancelHandler, cancelPageHandler, consentHandler, interactionHandler } from './consent-page.ts';
import { preflightHandler } from './cors.ts';
import { documentRoutes } from './document-routes.ts';
import { apiPaths, authPaths } from './endpoints.ts';
import type { Engine } from './engine/engine.ts';
import type { Interactions } from './interaction.ts';
import type { PushedRequests } from './pushed-requests.ts';
import { revocationHandler } from './revocation.ts';
import type { SignOuts } from './sign-outs.ts';
import { tokenHandler } from './token.ts';
import { userinfoHandler } from './userinfo.ts';

function page(path: string, summary: string, handlers: Route['handlers']): Route {
  return { path, summary, below: 'authUrl', errors: 'page', handlers };
}

/** Creates the route of a page on which a GET request changes something. */
function changing(path: string, summary: string, handlers: Route['handlers']): Route {
  return { ...page(path, summary, handlers), changesOnGet: true };
}

/** Loads the code that checks clients' assertions, if the option `privateKeyJwt` is on. */
async function assertionsOf(core: Core): Promise<ClientAssertions | null> {
  if (!core.options.privateKeyJwt) return null;
  return (await import('./client-assertion.ts')).clientAssertions(core);
}

/** Loads the code for pushed authorization requests, if the option `pushedRequests` is set. */
async function pushedRequestsOf(core: Core): Promise<PushedRequests | null> {
  if (core.options.pushedRequests === undefined) return null;
  return (await import('./pushed-requests.ts')).pushedRequests(core);
}

/**
 * Returns the routes of the OAuth endpoints and pages. Handlers that an option enables are loaded only with
 * that option.
 */
export async function oauthRoutes(
  core: Core,
  engine: Engine,
  interactions: Interactions,
  consents: ConnectedApps,
  forms: Forms,
  signOuts: SignOuts,
): Promise<Route[]> {
  const pushed = await pushedRequestsOf(core);
  const authorize = authorizeHandler(core, engine, pushed);
  const userinfo = userinfoHandler(core);
  const authentication = clientAuthentication(core, await assertionsOf(core));
  const api = (path: string, summary: string, handlers: Route['handlers']): Route => {
    const OPTIONS = preflightHandler(core, Object.keys(handlers));
    return { path, summary, below: 'baseUrl', errors: 'json', handlers: { ...handlers, OPTIONS } };
  };

  async function introspection(): Promise<Route[]> {
    const { introspectionHandler } = await import('./introspection.ts');
    // The endpoint is for servers, so it has no handler for the preflight requests of pages (CORS).
    const route: Omit<Route, 'summary'> = {
      ...{ path: apiPaths.introspect, below: 'baseUrl', errors: 'json' },
      handlers: { POST: introspectionHandler(core, authentication) },
    };
    const summary =
      'Returns the user and the scopes of an access token (RFC 7662). Needs the option `introspection`.';
    return [{ ...route, summary }];
  }

  async function pushing(requests: PushedRequests): Promise<Route[]> {
    const { pushHandler } = await import('./pushed-authorization.ts');
    return [
      api(
        apiPaths.par,
        'Takes an authorization request that the browser then refers to (RFC 9126). With the option `pushedRequests`.',
        { POST: await pushHandler(core, authentication, requests) },
      ),
    ];
  }

  async function logoutPages(): Promise<Route[]> {
    const { logoutHandlers } = await import('./logout.ts');
    const { ask, confirm } = logoutHandlers(core, forms, signOuts);
    return [
      changing(
        authPaths.logout,
        'Logout endpoint, to which an app sends the user to sign out. Needs `login.signOut`.',
        {
          GET: ask,
          POST: ask,
        },
      ),
      page(
        authPaths.confirmLogout,
        'Receives the answer of a user who was asked to confirm a sign-out. Needs `login.signOut`.',
        {
          POST: confirm,
        },
      ),
    ];
  }

  return [
    changing(authPaths.authorize, 'Authorization endpoint, to which an app sends the user.', {
      GET: authorize,
      POST: authorize,
    }),
    changing(authPaths.resume, 'Continues the authorization request after the user has answered.', {
      GET: resumeHandler(core, engine),
    }),
    changing(
      authPaths.interaction,
      'Consent page of one authorization request. Receives the answer of the user.',
      {
        GET: interactionHandler(core, engine, interactions),
        POST: consentHandler(interactions, forms),
      },
    ),
    page(authPaths.cancel, 'Returns to the app without a sign-in. The app gets `access_denied`.', {
      GET: cancelPageHandler(core, interactions),
      POST: cancelHandler(interactions, forms),
    }),
    page(authPaths.logo, 'The logo of an app.', { GET: logoHandler(core) }),
    page(authPaths.apps, 'Page of connected apps, which have access to data of the user.', {
      GET: appsHandler(core, consents, forms),
    }),
    page(authPaths.revokeApp, 'Ends the access of one app to data of the user.', {
      POST: revokeAppHandler(core, consents, forms),
    }),
    page(authPaths.restoreApp, 'Undoes the removal of an app, for ten minutes.', {
      POST: restoreAppHandler(core, consents, forms),
    }),
    ...(core.options.login.signOut === undefined ? [] : await logoutPages()),
    ...documentRoutes(core),
    api(
      apiPaths.token,
      'Token endpoint: exchanges a code, or a refresh token, for an access token. JSON or form.',
      {
        POST: await tokenHandler(core, authentication),
      },
    ),
    ...(pushed === null ? [] : await pushing(pushed)),
    api(apiPaths.userinfo, 'Fields of the user, limited to the approved scopes.', {
      GET: userinfo,
      POST: userinfo,
    }),
    api(apiPaths.revoke, 'Ends an access or refresh token. JSON or form.', { POST: revocationHandler(core) }),
    ...(core.options.introspection ? await introspection() : []),
  ];
}
