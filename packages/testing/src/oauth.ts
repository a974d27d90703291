import { createHash, randomBytes } from 'node:crypto';
import { scopeNames } from '@ostiary/core';
import type { ClientAdministration, NewClient } from '@ostiary/core/admin';
import type { SignInContext, TestBrowser } from './browser.ts';
import type { UserReference } from './users.ts';

/**
 * An OAuth client of the kit.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const client: TestClient = await kit.clients.create({ allowedScopes: ['openid'] });
 * ```
 */
export interface TestClient {
  readonly clientId: string;
  /** Client secret; `null` for a public client. */
  readonly clientSecret: string | null;
  /** First redirect URI of the client. */
  readonly redirectUri: string;
}

/**
 * Options of an authorization request.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const request: AuthorizeOptions = { scopes: ['openid'], parameters: { nonce: 'n-1', prompt: 'consent' } };
 * await kit.authorize(kit.clients.web, request);
 * ```
 */
export interface AuthorizeOptions {
  /** @defaultValue Ostiary's own scopes: `openid`, `profile`, `kyc`, `wallet:balance`, `identity` */
  readonly scopes?: readonly string[];
  /** @defaultValue the first redirect URI of the client */
  readonly redirectUri?: string;
  /** @defaultValue a random one */
  readonly state?: string;
  /** Further parameters, such as `nonce` or `prompt`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/**
 * User who handles an authorization request, and how the user is signed in.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const by: AuthorizingUser = { user: 'user-2', signedIn: { amr: ['pwd'] } };
 * await kit.authorize(kit.clients.web, { ...by, decision: 'deny' });
 * ```
 */
export interface AuthorizingUser {
  /** @defaultValue the first user of the kit */
  readonly user?: UserReference;
  /** Class and methods of the user's sign-in (`acr`, `amr`). @defaultValue not known */
  readonly signedIn?: SignInContext;
}

/**
 * Result of an approved or denied authorization request.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const { callback, state }: Authorization = await kit.authorize(kit.clients.web);
 * console.log(callback.searchParams.get('state') === state);
 * ```
 */
export interface Authorization {
  /** Redirect URI with the response parameters. */
  readonly callback: URL;
  readonly state: string;
  /** PKCE code verifier, for the code exchange. */
  readonly codeVerifier: string;
  /**
   * Authorization code of the response. @throws Error if there is none, because the request was denied or
   * refused
   */
  readonly code: string;
}

/**
 * OAuth functions of a kit.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const token = await kit.accessToken(kit.clients.web, { user: kit.user, scopes: ['openid', 'profile'] });
 * ```
 */
export interface TestOAuth {
  readonly clients: {
    /** Confidential OAuth client of the test kit's partner. */
    readonly web: TestClient;
    /** Public client of the kit's partner: a single-page, mobile or desktop app. */
    readonly app: TestClient;
    /** Creates another OAuth client. Missing settings are filled in. */
    create(settings?: Partial<NewClient>): Promise<TestClient>;
  };
  /** Returns the URL of an authorization request without PKCE. */
  authorizeUrl(client: TestClient, options?: AuthorizeOptions): string;
  /**
   * Makes an authorization request with PKCE for a signed-in user, who approves or denies it on the real
   * consent page. If the service asks for a new sign-in, it succeeds at once, without a login page. After a
   * denial, `callback` contains the error.
   *
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * const { code, codeVerifier } = await kit.authorize(kit.clients.app, { scopes: ['openid', 'kyc'] });
   * ```
   */
  authorize(
    client: TestClient,
    options?: AuthorizeOptions &
      AuthorizingUser & {
        /** @defaultValue `'approve'` */
        readonly decision?: 'approve' | 'deny';
      },
  ): Promise<Authorization>;
  /**
   * Returns an access token: makes an authorization request as {@link TestOAuth.authorize} does, and
   * exchanges the code.
   */
  accessToken(client: TestClient, options?: AuthorizeOptions & AuthorizingUser): Promise<string>;
}

/**
 * Parts of the test kit that its OAuth functions use, such as the client administration and a signed-in browser.
 */
export interface OAuthParts {
  readonly admin: ClientAdministration;
  readonly partner: string;
  /** Scopes of clients that are created without a list of scopes. */
  readonly allowedScopes: readonly string[];
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly signIn: (user: UserReference | undefined, context: SignInContext | undefined) => TestBrowser;
  readonly send: (request: Request) => Promise<Response>;
}

const random = (): string => randomBytes(32).toString('base64url');

export async function createOAuth(parts: OAuthParts): Promise<TestOAuth> {
  const create = async (settings: Partial<NewClient> = {}): Promise<TestClient> => {
    const { redirectUris = ['https://app.example/callback'] } = settings;
    const { client, clientSecret } = await parts.admin.create({
      name: 'Test app',
      redirectUris,
      allowedScopes: parts.allowedScopes,
      partner: parts.partner,
      ...settings,
    });
    return { clientId: client.clientId, clientSecret, redirectUri: redirectUris[0] ?? '' };
  };

  const urlOf = (client: TestClient, state: string, options: AuthorizeOptions): URL => {
    const url = new URL(`${parts.authUrl}/oauth/authorize`);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: options.redirectUri ?? client.redirectUri,
      scope: (options.scopes ?? scopeNames).join(' '),
      state,
      ...options.parameters,
    }).toString();
    return url;
  };

  const authorize: TestOAuth['authorize'] = async (client, options = {}) => {
    const { user, signedIn, decision = 'approve', state = random() } = options;
    const codeVerifier = random();
    const url = urlOf(client, state, options);
    url.searchParams.set('code_challenge', createHash('sha256').update(codeVerifier).digest('base64url'));
    url.searchParams.set('code_challenge_method', 'S256');
    const callback = await parts.signIn(user, signedIn)[decision](url);
    return {
      callback,
      state,
      codeVerifier,
      get code() {
        const code = callback.searchParams.get('code');
        if (code === null) throw new Error(`there is no code: ${callback.searchParams}`);
        return code;
      },
    };
  };

  return {
    clients: { web: await create(), app: await create({ public: true, name: 'Public test app' }), create },
    authorizeUrl: (client, options = {}) => urlOf(client, options.state ?? random(), options).href,
    authorize,
    async accessToken(client, options = {}) {
      const { code, codeVerifier } = await authorize(client, options);
      const response = await parts.send(
        new Request(`${parts.baseUrl}/v1/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            grant_type: 'authorization_code',
            code,
            code_verifier: codeVerifier,
            redirect_uri: options.redirectUri ?? client.redirectUri,
            client_id: client.clientId,
            ...(client.clientSecret === null ? {} : { client_secret: client.clientSecret }),
          }),
        }),
      );
      const body = (await response.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(`the exchange failed: ${JSON.stringify(body)}`);
      return body.access_token;
    },
  };
}
