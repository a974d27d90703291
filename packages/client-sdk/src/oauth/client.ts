import { ApiPromise } from '../http/api-promise.ts';
import { Unreadable } from '../http/body.ts';
import { call } from '../http/call.ts';
import { queryOf } from '../http/path.ts';
import { randomBytes, webCrypto } from '../http/platform.ts';
import { type Connection, checkNames, type RequestOptions, refuse } from '../options.ts';
import { codeOf } from './callback.ts';
import { checkOAuthOptions, type OAuthSettings, type OstiaryOAuthOptions } from './options.ts';
import type { OAuthScope, Userinfo } from './userinfo.ts';

/** Parameters of a sign-in that you start. */
export interface AuthorizationRequest {
  /** Requested scopes: those that the SDK knows, and scopes that the service has added. */
  readonly scope: readonly (OAuthScope | (string & {}))[];
  /**
   * Value of `prompt`. `none`: respond at once or fail. `login`: ask for a sign-in again. `consent`: ask for
   * consent again.
   */
  readonly prompt?: 'none' | 'login' | 'consent' | undefined;
  /** Maximum time since the user's last sign-in, in seconds. */
  readonly maxAge?: number | undefined;
  readonly loginHint?: string | undefined;
  /** Languages of the pages, the preferred one first. */
  readonly uiLocales?: readonly string[] | undefined;
}

/** URL to which you send the user, and values to store in the user's session until the callback. */
export interface Authorization {
  readonly url: string;
  /** Random value that binds the callback to this browser. */
  readonly state: string;
  /** PKCE code verifier, which binds the code to this sign-in (RFC 7636). */
  readonly codeVerifier: string;
  /** Value of the ID token's claim `nonce`, for apps that validate ID tokens. */
  readonly nonce: string;
}

/**
 * An authorization code to exchange: either the callback URL with the stored values, or the code alone if you
 * have checked `state` and `iss` yourself.
 */
export type CodeExchange =
  | {
      /** URL of the callback, including its query. */
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
  /** Lifetime of the access token, in seconds. */
  readonly expiresIn: number;
  /** Scopes of the access token: those that the user approved, or fewer if a refresh asked for fewer. */
  readonly scope: readonly string[];
  /**
   * ID token as it was sent, with the scope `openid`; else `null`. The SDK does not validate it: use
   * openid-client if you rely on it.
   */
  readonly idToken: string | null;
  /**
   * Refresh token, with the scope `offline_access` if the service supports it; else `null`. Each use replaces
   * it by a new one.
   */
  readonly refreshToken: string | null;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Response of the token endpoint, with its original member names. */
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
 * Signs users in, for web clients with a secret and for public clients without one. It always uses PKCE,
 * state and nonce, and checks the issuer of the callback. Nothing that it throws, logs or prints about itself
 * contains the client secret, a code or a token.
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
  /** Running code exchanges, by code and verifier. */
  readonly #exchanges = new Map<string, ApiPromise<Tokens>>();

  /**
   * Creates an OAuth client. @throws TypeError for wrong or unknown options, and for a client secret in a
   * browser
   */
  constructor(options: OstiaryOAuthOptions) {
    this.#settings = checkOAuthOptions(options);
  }

  /**
   * Prepares a sign-in: makes the URL to redirect to, and the values to store until the callback.
   *
   * @throws TypeError without a scope, or for an unknown member
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
   * Exchanges the code of a callback. A code can be exchanged once, and a second exchange revokes the tokens
   * of the first. So a failed exchange is only repeated if it certainly changed nothing. With outcome
   * `unknown`, send the user through the sign-in again. A second call with the same code during an exchange
   * shares that exchange, because React's StrictMode runs effects twice.
   *
   * @throws CallbackError if the callback contains an error, has no code, or does not belong to this sign-in;
   * OstiaryError `invalid_grant`, `invalid_client`, …
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
        : codeOf(callbackOf(callbackUrl, redirectUri), { state: state ?? '', issuer });
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
   * Exchanges a refresh token for an access token and a new refresh token, which replaces it. For 30 seconds
   * after the first use, other tabs and retries get the same new refresh token: with outcome `unknown`, call
   * again. After that, or once the new token was used, using the old token revokes the whole sign-in.
   *
   * @throws OstiaryError `invalid_grant` if the sign-in has expired or was revoked: send the user through the flow again
   */
  refresh(
    refreshToken: string,
    options?: RequestOptions & {
      /**
       * Scopes of the new access token, if it should have fewer than the user approved. @defaultValue all of
       * them
       */
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
   * Returns the user to whom an access token belongs.
   *
   * @typeParam Scope - scopes that the user approved
   * @throws OstiaryError `token_expired` after an hour, `invalid_token` if the token was revoked, is unknown,
   * or expired more than a day ago
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
   * Revokes an access token, or a refresh token with everything that was issued with it. A token that is
   * already revoked or expired is not an error.
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

  /**
   * Returns the client's checked options with further secrets to remove from errors and logs, because a
   * call's errors must not contain its tokens.
   */
  #hiding(...secrets: readonly string[]): Connection {
    const { connection } = this.#settings;
    return { ...connection, secrets: [...connection.secrets, ...secrets] };
  }
}

/**
 * Parses the URL of a callback. The error of the platform would quote the URL, which contains the code.
 * @throws TypeError
 */
function callbackOf(callbackUrl: string | URL, redirectUri: string): URL {
  try {
    return new URL(callbackUrl, redirectUri);
  } catch {
    return refuse('callbackUrl must be a URL');
  }
}

/** Turns an error that `work` throws before it sends into a rejection, like every other failure. */
function later<Data>(work: () => ApiPromise<Data>): ApiPromise<Data> {
  return new ApiPromise((async () => await work().withResponse())());
}

/**
 * Checks that a token has 1 to 4,096 printable ASCII characters. With others in a header, `fetch` would throw
 * an error that quotes the token.
 */
function checkToken(token: unknown, name: string): void {
  if (!/^[!-~]{1,4096}$/.test(String(token)) || typeof token !== 'string') {
    refuse(`${name} must be printable ASCII`);
  }
}
