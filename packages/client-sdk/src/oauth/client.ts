import { ApiPromise } from '../http/api-promise.ts';
import { Unreadable } from '../http/body.ts';
import { call } from '../http/call.ts';
import { queryOf } from '../http/path.ts';
import { randomBytes, webCrypto } from '../http/platform.ts';
import { type Connection, checkNames, type RequestOptions, refuse } from '../options.ts';
import { codeOf } from './callback.ts';
import { checkOAuthOptions, type OAuthSettings, type OstiaryOAuthOptions } from './options.ts';
import type { OAuthScope, Userinfo } from './userinfo.ts';

/** Parameters of a sign-in. */
export interface AuthorizationRequest {
  /** Scopes of the service's own may be among them. */
  readonly scope: readonly (OAuthScope | (string & {}))[];
  /** `none`: answer at once or fail; `login`: sign in again; `consent`: ask again. */
  readonly prompt?: 'none' | 'login' | 'consent' | undefined;
  /** Maximum time since the user's last sign-in, in seconds. */
  readonly maxAge?: number | undefined;
  readonly loginHint?: string | undefined;
  /** Languages of the pages, the preferred one first. */
  readonly uiLocales?: readonly string[] | undefined;
}

/** URL to which you send the user, and values to keep in the user's session until the user comes back. */
export interface Authorization {
  readonly url: string;
  /** Ties the callback to this browser. */
  readonly state: string;
  /** Ties the code to this sign-in (RFC 7636). */
  readonly codeVerifier: string;
  /** Stands in the ID token, for those who check one. */
  readonly nonce: string;
}

/**
 * A code to exchange: with the callback and what was remembered; or alone, when you have compared `state` and `iss` yourself.
 */
export type CodeExchange =
  | {
      /** The address that the user came back to, with its query. */
      readonly callbackUrl: string | URL;
      readonly state: string;
      readonly codeVerifier: string;
      readonly code?: undefined;
    }
  | {
      readonly code: string;
      readonly codeVerifier: string;
      readonly callbackUrl?: undefined;
      readonly state?: undefined;
    };

/** Tokens from the exchange of a code or a refresh token. */
export interface Tokens {
  readonly accessToken: string;
  readonly tokenType: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** Scopes that the user approved. */
  readonly scope: readonly string[];
  /** As it came, with the scope `openid`. It is not validated here: use openid-client if you decide by it. */
  readonly idToken: string | null;
  /** Present with the scope `offline_access`, where the service has it. Each use replaces it by the next one. */
  readonly refreshToken: string | null;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The wire names of an answer. */
interface TokenAnswer {
  readonly access_token?: unknown;
  readonly token_type?: unknown;
  readonly expires_in?: unknown;
  readonly scope?: unknown;
  readonly id_token?: unknown;
  readonly refresh_token?: unknown;
}

function tokensOf(answer: TokenAnswer): Tokens {
  const { access_token, token_type, expires_in, scope, id_token, refresh_token } = answer;
  if (typeof access_token !== 'string' || String(token_type).toLowerCase() !== 'bearer')
    throw new Unreadable();
  return {
    accessToken: access_token,
    tokenType: 'Bearer',
    expiresIn: Number(expires_in),
    scope: String(scope ?? '')
      .split(' ')
      .filter((name) => name !== ''),
    idToken: typeof id_token === 'string' ? id_token : null,
    refreshToken: typeof refresh_token === 'string' ? refresh_token : null,
  };
}

/**
 * Signs users in, for web clients with a secret and for public ones without. It always uses PKCE, state and nonce, and compares the
 * issuer of the callback. Nothing that it throws, logs or shows of itself holds the client secret, a code or a token.
 *
 * @example
 * ```ts
 * const oauth = new OstiaryOAuth({
 *   authUrl: 'https://id.example.com',
 *   clientId: 'your-client-id',
 *   redirectUri: 'https://app.example/callback',
 * });
 * const { url, state, codeVerifier } = await oauth.authorizeUrl({ scope: ['openid', 'profile'] });
 * console.log('redirect to', url, 'and remember', { state, codeVerifier });
 *
 * const callbackUrl = 'https://app.example/callback?code=…&state=…';
 * const { accessToken } = await oauth.exchange({ callbackUrl, state, codeVerifier });
 * const user = await oauth.userinfo<'openid' | 'profile'>(accessToken);
 * console.log(user.kid, user.name);
 * ```
 */
export class OstiaryOAuth {
  readonly #settings: OAuthSettings;
  /** Exchanges that are under way, by code and verifier. */
  readonly #exchanges = new Map<string, ApiPromise<Tokens>>();

  /** @throws TypeError for options that are wrong or that nobody knows, and for a client secret in a browser */
  constructor(options: OstiaryOAuthOptions) {
    this.#settings = checkOAuthOptions(options);
  }

  /**
   * Prepares a sign-in.
   *
   * @throws TypeError without a scope
   */
  async authorizeUrl(request: AuthorizationRequest): Promise<Authorization> {
    checkNames(request, ['scope', 'prompt', 'maxAge', 'loginHint', 'uiLocales']);
    const { scope, prompt, maxAge, loginHint, uiLocales } = request;
    if (!Array.isArray(scope) || scope.length === 0) refuse('scope must be a list of scopes');
    const { authUrl, clientId, redirectUri } = this.#settings;
    const [state, nonce, codeVerifier] = [randomBytes(), randomBytes(), randomBytes()].map(base64url) as [
      string,
      string,
      string,
    ];
    const challenge = await webCrypto().subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
    const query = queryOf({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scope.join(' '),
      state,
      nonce,
      code_challenge: base64url(new Uint8Array(challenge)),
      code_challenge_method: 'S256',
      prompt,
      max_age: maxAge,
      login_hint: loginHint,
      ui_locales: uiLocales?.join(' '),
    });
    return { url: `${authUrl}/oauth/authorize${query}`, state, codeVerifier, nonce };
  }

  /**
   * Exchanges the code of a callback. A code is good for one exchange, and a second one ends what the first gave: it is tried again
   * only when it was refused before anything happened. With outcome `unknown`, send the user through the sign-in again. A call with
   * a code whose exchange is under way shares that exchange: React's StrictMode runs effects twice.
   *
   * @throws CallbackError when the callback holds an error or belongs to somebody else; OstiaryError `invalid_grant`,
   * `invalid_client`, …
   */
  exchange(exchange: CodeExchange, options?: RequestOptions): ApiPromise<Tokens> {
    return later(() => this.#exchange(exchange, options));
  }

  #exchange(exchange: CodeExchange, options: RequestOptions | undefined): ApiPromise<Tokens> {
    checkNames(exchange, ['callbackUrl', 'code', 'state', 'codeVerifier', 'nonce', 'url']);
    const { redirectUri, issuer } = this.#settings;
    const { callbackUrl, codeVerifier, state } = exchange;
    if (typeof codeVerifier !== 'string' || codeVerifier === '') refuse('codeVerifier must be a string');
    const code =
      callbackUrl === undefined
        ? exchange.code
        : codeOf(new URL(callbackUrl, redirectUri), { state: state ?? '', issuer });
    if (typeof code !== 'string' || code === '') refuse('give a callbackUrl or a code');
    const key = `${code} ${codeVerifier}`;
    const underWay = this.#exchanges.get(key);
    if (underWay !== undefined) return underWay;
    const parameters = { code, redirect_uri: redirectUri, code_verifier: codeVerifier };
    const tokens = this.#tokens('authorization_code', parameters, [code, codeVerifier], options);
    this.#exchanges.set(key, tokens);
    const forget = () => void this.#exchanges.delete(key);
    tokens.then(forget, forget);
    return tokens;
  }

  /**
   * Exchanges a refresh token for an access token and the next refresh token, which replaces it. Within 30 seconds of the first use,
   * other tabs and retries get the same next refresh token: with outcome `unknown`, call again. Later, or once the next one was used,
   * the replaced token ends the whole sign-in.
   *
   * @throws OstiaryError `invalid_grant` when the sign-in is over: send the user through the flow again
   */
  refresh(
    refreshToken: string,
    options?: RequestOptions & {
      /** Scopes of the new access token, fewer than were approved. @defaultValue all of them */
      readonly scope?: readonly string[];
    },
  ): ApiPromise<Tokens> {
    return later(() => {
      checkToken(refreshToken, 'refreshToken');
      const { scope, ...rest } = options ?? {};
      const parameters = { refresh_token: refreshToken, scope: scope?.join(' ') };
      return this.#tokens('refresh_token', parameters, [refreshToken], rest);
    });
  }

  #tokens(
    grantType: string,
    parameters: object,
    secrets: readonly string[],
    options: RequestOptions | undefined,
  ): ApiPromise<Tokens> {
    const { clientId, clientSecret } = this.#settings;
    const body = { grant_type: grantType, ...parameters, client_id: clientId, client_secret: clientSecret };
    return call(
      this.#hiding(...secrets),
      { method: 'POST', path: '/v1/oauth/token', body, repeat: 'once' },
      options,
      tokensOf,
    );
  }

  /**
   * The user of an access token.
   *
   * @typeParam Scope - the scopes that were approved
   * @throws OstiaryError `token_expired` after an hour, `invalid_token` when it was revoked
   */
  userinfo<Scope extends OAuthScope = never>(
    accessToken: string,
    options?: RequestOptions,
  ): ApiPromise<Userinfo<Scope>> {
    return later(() => {
      checkToken(accessToken, 'accessToken');
      const headers = { Authorization: `Bearer ${accessToken}` };
      return call(this.#hiding(accessToken), { path: '/v1/oauth/userinfo', headers }, options);
    });
  }

  /**
   * Ends an access token, or a refresh token with everything that was issued with it. To end one that has ended is no error.
   *
   * @throws OstiaryError
   */
  revoke(token: string, options?: RequestOptions): ApiPromise<{ readonly ok: true }> {
    return later(() => {
      checkToken(token, 'token');
      const body = { token };
      return call(this.#hiding(token), { method: 'POST', path: '/v1/oauth/revoke', body }, options);
    });
  }

  /** Returns the connection with more secrets to hide: the errors of a call must not contain its tokens. */
  #hiding(...secrets: readonly string[]): Connection {
    const { connection } = this.#settings;
    return { ...connection, secrets: [...connection.secrets, ...secrets] };
  }
}

/** Makes what `work` throws before it sends a rejection, like every other failure. */
function later<Data>(work: () => ApiPromise<Data>): ApiPromise<Data> {
  return new ApiPromise((async () => await work().withResponse())());
}

/** A text that cannot be a header would be an error of `fetch` that quotes it. */
function checkToken(token: unknown, name: string): void {
  if (!/^[!-~]{1,4096}$/.test(String(token)) || typeof token !== 'string') {
    refuse(`${name} must be printable ASCII`);
  }
}
