import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { type Configuration, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Core } from '../../context.ts';
import { OAuthError, type OAuthErrorCode, oauthErrors, toOAuthError } from '../../errors.ts';
import type { KeySet } from '../../keys/signing-keys.ts';
import { scopeNames } from '../../scopes.ts';
import { requireStillAllowed, unknownRequest } from '../client.ts';
import { consentState } from '../consent.ts';
import { authPaths, interactionPage, issuerOf } from '../endpoints.ts';
import { codeSeconds, interactionSeconds } from '../lifetimes.ts';
import { type AdapterRun, providerAdapter } from './adapter.ts';
import { createPolicy } from './policy.ts';

/** One request on its way through the engine. */
export interface EngineRun extends AdapterRun {
  /** Where the engine sends the browser. */
  location?: string;
  /** Why it does not. */
  error?: unknown;
}

/** The run that a call of the engine's belongs to. */
const currentRun = new AsyncLocalStorage<EngineRun>();

/** Requests on their way through the engine. */
export type EngineRuns = WeakMap<IncomingMessage, EngineRun>;

/** An error of the engine in the words of the specification. */
export function translated(error: unknown): OAuthError {
  if (error instanceof errors.SessionNotFound) return unknownRequest();
  if (!(error instanceof errors.OIDCProviderError)) return toOAuthError(error);
  const code = error.error === 'invalid_redirect_uri' ? 'redirect_uri_mismatch' : error.error;
  if (!Object.hasOwn(oauthErrors, code)) return new OAuthError('invalid_request', error.error_description);
  return new OAuthError(code as OAuthErrorCode, error.error_description, { cause: error });
}

/** One grant per authorization, where the consent covers it; it is stored together with the code. */
async function grantOf(core: Core, { oidc }: KoaContextWithOIDC) {
  const { client, account, params, provider, requestParamScopes: scopes } = oidc;
  const record = client ? await core.storage.clients.find(client.clientId) : null;
  if (record === null || account === undefined) return undefined;
  requireStillAllowed(record, params?.redirect_uri, scopes);
  const { covered } = await consentState(core, { client: record, sub: account.accountId, scopes });
  if (!covered) return undefined;
  const grant = new provider.Grant({ accountId: account.accountId, clientId: record.clientId });
  grant.jti = core.random.bytes(16).toString('base64url');
  grant.addOIDCScope([...scopes].join(' '));
  return grant;
}

function configuration(core: Core, keys: KeySet, runs: EngineRuns): Configuration {
  const { options, sealer } = core;
  const visitor = (ctx: { req: IncomingMessage }) => runs.get(ctx.req)?.authentication ?? null;
  const cookies = {
    httpOnly: true,
    sameSite: 'lax',
    secure: options.authUrl.protocol === 'https:',
    signed: true,
  } as const;

  return {
    adapter: providerAdapter(core, () => currentRun.getStore()),
    jwks: { keys: keys.keys.map((key) => ({ ...key.privateJwk })) },
    routes: { authorization: authPaths.authorize },
    scopes: scopeNames,
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    pkce: { required: () => false }, // Checked before the engine is called.
    enableHttpPostMethods: false,
    allowOmittingSingleRegisteredRedirectUri: false,
    expiresWithSession: () => false,
    cookies: {
      keys: sealer.derive('cookies').map((key) => key.toString('base64url')),
      names: {
        session: `${options.prefix}_session`,
        interaction: `${options.prefix}_interaction`,
        resume: `${options.prefix}_resume`,
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
      policy: createPolicy(core, visitor),
      url: (_ctx, { uid }) => interactionPage(options, uid),
    },
    extraParams: {
      // Validators run on every request once its parameters are right, and before the engine looks at its
      // session: the place to tell it who the host says is there. The parameter itself means nothing here.
      display: (ctx) => {
        const authentication = visitor(ctx);
        if (authentication === null) return;
        ctx.oidc.session?.loginAccount({
          accountId: authentication.sub,
          loginTs: Math.floor(authentication.authenticatedAt.getTime() / 1000),
        });
      },
    },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    loadExistingGrant: (ctx) => grantOf(core, ctx),
    renderError: (_ctx, _out, error) => {
      throw translated(error);
    },
  };
}

/**
 * Makes every URL come from the configuration: neither the Host header, nor forwarded ones, nor an absolute
 * request target has a say.
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

/**
 * The session cookie of the engine is never sent: it would mean nothing, because its sessions are not kept.
 */
function withoutSessionCookie(setCookie: readonly string[], name: string): string[] {
  return setCookie.filter((cookie) => !cookie.startsWith(`${name}=`) && !cookie.startsWith(`${name}.sig=`));
}

/**
 * Builds the protocol engine for one key set. A rotation builds another one; it takes less than a
 * millisecond.
 */
export function createProvider(core: Core, keys: KeySet, runs: EngineRuns): Provider {
  const { authUrl } = core.options;
  const provider = new Provider(issuerOf(core.options), configuration(core, keys, runs));
  pinAddress(provider, authUrl);
  // Otherwise Koa prints every connection that a caller breaks. The application around logs them.
  provider.silent = true;
  provider.use(async (ctx, next) => {
    // The engine writes headers; the answer itself is written by the application around it.
    ctx.respond = false;
    ctx.mountPath = authUrl.pathname.replace(/\/$/, '');
    const run = runs.get(ctx.req);
    if (run === undefined) return;
    try {
      await currentRun.run(run, next);
      run.location = ctx.response.get('Location');
      ctx.remove('Location');
    } catch (error) {
      run.error = error;
    }
    const setCookie = ctx.response.headers['set-cookie'];
    if (Array.isArray(setCookie)) {
      const kept = withoutSessionCookie(setCookie, provider.cookieName('session'));
      if (kept.length > 0) ctx.set('Set-Cookie', kept);
      else ctx.remove('Set-Cookie');
    }
  });
  return provider;
}
