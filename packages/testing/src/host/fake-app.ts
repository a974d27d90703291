import { createHash, randomBytes } from 'node:crypto';
import type { NewClient } from '@ostiary/core/admin';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { Fetch } from '../network.ts';
import type { TestClient } from '../oauth.ts';
import type { HostBrowser, Walk } from './browser.ts';

/** Token response that a fake app receives for a user. */
export interface FakeTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly id_token?: string;
  readonly refresh_token?: string;
}

/**
 * A user who has signed in to a fake app.
 *
 * @example
 * ```ts
 * const session: FakeSession = await app.signIn({ fields: { name: 'ana', password: 'secret' } });
 * session.userinfo.sub;
 * ```
 */
export interface FakeSession {
  /** Browser in which the user signed in, for the user's next steps. */
  readonly browser: HostBrowser;
  readonly tokens: FakeTokens;
  /** Claims of the validated ID token; `null` without the scope `openid`. */
  readonly claims: Readonly<Record<string, unknown>> | null;
  /** Response of the userinfo endpoint. */
  readonly userinfo: Readonly<Record<string, unknown>>;
  /** Requests a URL, or a path on `baseUrl`, with the access token. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * Exchanges the refresh token for new tokens. @throws Error if the app has no refresh token, or it was
   * refused
   */
  refresh(): Promise<FakeSession>;
  /** Revokes the refresh token or, if there is none, the access token. */
  revoke(): Promise<void>;
}

/**
 * An app that signs users in with your service, as an app of another developer would: with PKCE, state and
 * nonce, and all checks.
 *
 * @example
 * ```ts
 * const app: FakeApp = await kit.app({ allowedScopes: ['openid', 'profile'] });
 * ```
 */
export interface FakeApp<Name extends string = string> {
  readonly client: TestClient;
  /**
   * Takes a user through a whole sign-in at the app.
   *
   * @throws Error if the sign-in stops at a page, the app is refused, or a response violates the standards
   * @example
   * ```ts
   * const { userinfo } = await app.signIn({ fields: { name: 'ana', password: 'secret' } });
   * ```
   */
  signIn(
    options?: Walk & {
      /** @defaultValue all that the client may ask for */
      readonly scopes?: readonly Name[];
      /** @defaultValue a new one */
      readonly browser?: HostBrowser;
      /** Further parameters of the authorization request, such as `prompt`. */
      readonly parameters?: Readonly<Record<string, string>>;
    },
  ): Promise<FakeSession>;
}

/** Functions of the test kit that a fake app needs. */
export interface AppParts {
  readonly settings: Partial<NewClient>;
  readonly create: (
    settings: Partial<NewClient>,
  ) => Promise<TestClient & { readonly scopes: readonly string[] }>;
  readonly send: Fetch;
  readonly newBrowser: () => HostBrowser;
  readonly discoveryUrl: string;
  readonly baseUrl: string;
  /** Returns the current time in milliseconds since the Unix epoch. */
  readonly now: () => number;
}

const random = (): string => randomBytes(32).toString('base64url');

async function json(response: Response, what: string): Promise<Record<string, unknown>> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${what}: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

export async function createFakeApp(parts: AppParts): Promise<FakeApp> {
  const { send, now, baseUrl } = parts;
  const client = await parts.create(parts.settings);
  const metadata = await json(await send(parts.discoveryUrl), 'discovery');
  const endpoint = (name: string) => String(metadata[`${name}_endpoint`]);

  const post = (name: string, parameters: Readonly<Record<string, string>>) => {
    const secret = client.clientSecret === null ? {} : { client_secret: client.clientSecret };
    const body = new URLSearchParams({ ...parameters, client_id: client.clientId, ...secret });
    return send(endpoint(name), { method: 'POST', body });
  };

  /** Validates an ID token and returns its claims (OpenID Connect Core, section 3.1.3.7). */
  async function claimsOf(idToken: string, nonce: string | null) {
    const jwks = await json(await send(String(metadata.jwks_uri)), 'the key set');
    const keys = createLocalJWKSet(jwks as unknown as Parameters<typeof createLocalJWKSet>[0]);
    const { payload } = await jwtVerify(idToken, keys, {
      ...{ issuer: String(metadata.issuer), audience: client.clientId, currentDate: new Date(now()) },
      requiredClaims: ['sub', 'iat', 'exp'],
    });
    if (nonce !== null && payload.nonce !== nonce) throw new Error('the ID token has another nonce');
    return payload;
  }

  async function sessionOf(
    answer: Record<string, unknown>,
    { browser, nonce }: { readonly browser: HostBrowser; readonly nonce: string | null },
  ): Promise<FakeSession> {
    const tokens = answer as unknown as FakeTokens;
    const call: FakeSession['fetch'] = (url, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${tokens.access_token}`);
      return send(new URL(url, baseUrl), { ...init, headers });
    };
    const claims = tokens.id_token === undefined ? null : await claimsOf(tokens.id_token, nonce);
    const userinfo = await json(await call(endpoint('userinfo')), 'userinfo');
    // Required by OpenID Connect Core, section 5.3.2.
    if (claims !== null && userinfo.sub !== claims.sub) throw new Error('userinfo is of another user');
    return {
      browser,
      tokens,
      claims,
      userinfo,
      fetch: call,
      async refresh() {
        const { refresh_token } = tokens;
        if (refresh_token === undefined) throw new Error('there is no refresh token: ask for offline_access');
        const refreshed = await post('token', { grant_type: 'refresh_token', refresh_token });
        return sessionOf(await json(refreshed, 'the refresh'), { browser, nonce: null });
      },
      async revoke() {
        await json(
          await post('revocation', { token: tokens.refresh_token ?? tokens.access_token }),
          'the revocation',
        );
      },
    };
  }

  return {
    client,
    async signIn({ scopes = client.scopes, browser = parts.newBrowser(), parameters, ...walk } = {}) {
      const [state, nonce, verifier] = [random(), random(), random()];
      const url = new URL(endpoint('authorization'));
      url.search = new URLSearchParams({
        ...{ response_type: 'code', client_id: client.clientId, redirect_uri: client.redirectUri },
        ...{ scope: scopes.join(' '), state, nonce, code_challenge_method: 'S256' },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        ...parameters,
      }).toString();
      const left = await browser.walk(url, walk);
      if (!left.href.startsWith(client.redirectUri))
        throw new Error(
          `the browser left for ${left.origin}${left.pathname}, which is not the redirect URI of the app; if it is yours, give its origin to the kit as authUrl`,
        );
      const callback = left.searchParams;
      if (callback.get('state') !== state) throw new Error('the browser came back with another state');
      if (callback.get('iss') !== metadata.issuer)
        throw new Error('the browser came back from another issuer');
      const code = callback.get('code');
      if (code === null) throw new Error(`${callback.get('error')}: ${callback.get('error_description')}`);
      const request = { grant_type: 'authorization_code', code, code_verifier: verifier };
      const answer = await post('token', { ...request, redirect_uri: client.redirectUri });
      return sessionOf(await json(answer, 'the exchange'), { browser, nonce });
    },
  };
}
