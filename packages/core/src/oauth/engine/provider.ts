import { type Adapter, type Configuration, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { OAuthError, type OAuthErrorCode, oauthErrors, toOAuthError } from '../../errors.ts';
import type { KeySet } from '../../keys/signing-keys.ts';
import type { Core } from '../../options/context.ts';
import { findClient, requireStillAllowed, unknownRequest } from '../client.ts';
import { consentedScopes } from '../consented.ts';
import { authPaths, interactionCookie, pageUrl } from '../endpoints.ts';
import { readIdTokenHint } from '../id-token-hint.ts';
import { codeSeconds, interactionSeconds } from '../lifetimes.ts';
import {
  authorizationCodeAdapter,
  clientAdapter,
  currentRun,
  inert,
  requestedInRun,
  visitor,
} from './adapter.ts';
import { interactionAdapter } from './interactions.ts';
import { createPolicy, readRequestStart } from './policy.ts';

/**
 * Selects the storage adapter for each of oidc-provider's models. Its sessions are not stored, because the
 * host application reports on every request which user is signed in. Its tokens and grants are not used:
 * Ostiary has its own token endpoint, and a grant is stored together with its code.
 */
function providerAdapter(core: Core): (model: string) => Adapter {
  const adapters: { readonly [model: string]: Adapter } = {
    Client: clientAdapter(core),
    Interaction: interactionAdapter(core),
    AuthorizationCode: authorizationCodeAdapter(core),
  };
  return (model) => adapters[model] ?? inert;
}

export { currentRun, readRequestStart };

/**
 * Converts an error of oidc-provider to an OAuthError with oidc-provider's description. A code that the table
 * of errors lacks becomes `invalid_request`.
 */
export function translated(error: unknown): OAuthError {
  if (error instanceof errors.SessionNotFound) return unknownRequest();
  if (!(error instanceof errors.OIDCProviderError)) return toOAuthError(error);
  // The client and the request were checked before, so a refusal of either is a bug of this service, and
  // logged as one.
  if (error instanceof errors.InvalidClientMetadata || error instanceof errors.InvalidRedirectUri)
    return new OAuthError('server_error', undefined, { cause: error });
  const code = error.error;
  if (!Object.hasOwn(oauthErrors, code)) return new OAuthError('invalid_request', error.error_description);
  return new OAuthError(code as OAuthErrorCode, error.error_description, { cause: error });
}

/**
 * Creates a grant for an authorization that the user's consent covers. The grant is stored together with the
 * code.
 */
async function grantOf(core: Core, { oidc }: KoaContextWithOIDC) {
  const { client, account, params, provider, session, requestParamScopes: scopes } = oidc;
  const record = client ? await findClient(core, client.clientId) : null;
  if (record === null || account === undefined) return undefined;
  requireStillAllowed(record, String(params?.redirect_uri), scopes);
  const consent = await core.storage.consents.find(account.accountId, record.clientId);
  const requested = { scopes: [...scopes], resources: requestedInRun() };
  const approved = consentedScopes(core, record, consent, requested);
  if (approved === null) return undefined;
  // The engine uses client ids as keys of this object: in an object with a prototype, an id such as
  // `__proto__` would change every object.
  if (session !== undefined) session.authorizations = Object.create(null);
  const grant = new provider.Grant({ accountId: account.accountId, clientId: record.clientId });
  grant.jti = core.random.bytes(16).toString('base64url');
  grant.addOIDCScope(approved.join(' '));
  return grant;
}

function configuration(core: Core, keys: KeySet): Configuration {
  const { options, sealer } = core;
  const cookies = {
    httpOnly: true,
    sameSite: 'lax',
    secure: options.authUrl.protocol === 'https:',
    signed: true,
  } as const;

  return {
    adapter: providerAdapter(core),
    jwks: { keys: keys.keys.map((key) => ({ ...key.privateJwk })) },
    routes: { authorization: authPaths.authorize },
    scopes: [...options.scopes.names],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    pkce: { required: () => false }, // PKCE is checked before the engine is called.
    enableHttpPostMethods: false,
    allowOmittingSingleRegisteredRedirectUri: false,
    expiresWithSession: () => false,
    cookies: {
      keys: sealer.derive('cookies').map((key) => key.toString('base64url')),
      // Use one cookie for an interaction's page and for resuming it, because browsers keep few cookies per
      // site.
      names: {
        session: `${options.prefix}_session`,
        interaction: interactionCookie(options),
        resume: interactionCookie(options),
      },
      long: cookies,
      short: cookies,
    },
    ttl: {
      AuthorizationCode: codeSeconds,
      Interaction: interactionSeconds,
      Session: interactionSeconds,
      Grant: codeSeconds,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      introspection: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      revocation: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    interactions: {
      policy: createPolicy(core),
      url: (_ctx, { uid }) => pageUrl(options, 'interaction', uid),
    },
    extraParams: {
      // The engine would remove `offline_access` from requests without `prompt=consent`. Ostiary keeps the
      // scope, because its consent page asks for it.
      scope: ({ oidc: { params } }) => {
        if (params) params.scope = currentRun.getStore()?.scope ?? params.scope;
      },
      // Stored with the interaction; the engine does not use it.
      ...(options.claimsParameter && { claims: null }),
      // Stored with the interaction; the engine copies it to the code.
      ...(options.dpop && { dpop_jkt: null }),
      // Stored with the interaction; `Engine` creates this parameter from `resource`.
      ...(options.resources && { resources: null }),
    },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    loadExistingGrant: (ctx) => grantOf(core, ctx),
    renderError: (_ctx, _out, error) => {
      throw translated(error);
    },
  };
}

/**
 * Makes oidc-provider build all URLs from `authUrl`, and ignore the Host header, forwarded headers and an
 * absolute URL in the request.
 */
function pinAddress(provider: Provider, authUrl: URL): void {
  Object.defineProperties(provider.request, {
    protocol: { value: authUrl.protocol.slice(0, -1) },
    host: { value: authUrl.host },
    hostname: { value: authUrl.hostname },
    origin: { value: authUrl.origin },
    ip: { value: '' },
    ips: { value: [] },
  });
}

/** Throws if a bundler has renamed classes: oidc-provider identifies its models by their class names. */
function assertClassNames({ Interaction }: Provider): void {
  if (Interaction.name === 'Interaction') return;
  throw new Error(
    'the bundler has renamed classes; let it keep names, such as with `keepNames: true` of esbuild',
  );
}

/**
 * Replaces oidc-provider's session by a session of the user whom the host application reports as signed in. A
 * resumed request begins without a user, because the result of its interaction names the user.
 */
function signInAsHostSays({ Session }: Provider): void {
  const get = async ({ oidc }: KoaContextWithOIDC) => {
    const session = new Session();
    const authentication = visitor();
    if (authentication !== null && oidc.route === 'authorization') {
      session.loginAccount({
        accountId: authentication.sub,
        loginTs: Math.floor(authentication.authenticatedAt.getTime() / 1000),
      });
    }
    return session;
  };
  Object.defineProperty(Session, 'get', { value: get });
}

/**
 * Makes oidc-provider read an `id_token_hint` in the same way as the logout endpoint. Its own check knows
 * only keys that can still sign, and accepts a logout token as an ID token.
 */
function readHintsAsLogoutDoes(provider: Provider, core: Core): void {
  const validate: Provider['IdToken']['validate'] = async (token, client) => {
    const hint = await readIdTokenHint(core, token);
    if (hint === null)
      throw new errors.InvalidRequest('The id_token_hint is not an ID token of this service.');
    if (hint.aud !== client.clientId)
      throw new errors.InvalidRequest('The id_token_hint was issued to another client than client_id names.');
    return { header: {}, payload: { ...hint } };
  };
  Object.defineProperty(provider.IdToken, 'validate', { value: validate });
}

/**
 * Creates an oidc-provider instance for one set of signing keys. After a key rotation another instance is
 * created, which takes less than a millisecond.
 */
export function createProvider(core: Core, keys: KeySet): Provider {
  const { authUrl, issuer } = core.options;
  const provider = new Provider(issuer, configuration(core, keys));
  assertClassNames(provider);
  pinAddress(provider, authUrl);
  signInAsHostSays(provider);
  readHintsAsLogoutDoes(provider, core);
  // Without this, Koa prints every connection that a client breaks. The surrounding application logs them.
  provider.silent = true;
  // Cookies that the engine must never send: sessions are not stored, and `Engine` sets the cookie of an
  // interaction itself, with the interaction's remaining lifetime.
  const engineCookies = (['session', 'interaction'] as const).flatMap((name) => [
    `${provider.cookieName(name)}=`,
    `${provider.cookieName(name)}.sig=`,
  ]);
  const isKept = (cookie: string) => !engineCookies.some((start) => cookie.startsWith(start));
  provider.use(async (ctx, next) => {
    // The engine only sets headers; the surrounding application writes the response.
    ctx.respond = false;
    ctx.mountPath = authUrl.pathname.replace(/\/$/, '');
    const run = currentRun.getStore();
    if (run === undefined) return;
    try {
      await next();
      run.location = ctx.response.get('Location');
      ctx.remove('Location');
    } catch (error) {
      run.error = error;
    }
    const setCookie = ctx.response.headers['set-cookie'];
    if (!Array.isArray(setCookie)) return;
    ctx.remove('Set-Cookie');
    const kept = setCookie.filter(isKept);
    if (kept.length > 0) ctx.set('Set-Cookie', kept);
  });
  return provider;
}
