import { createHash, randomBytes } from 'node:crypto';
import { scopeNames } from '@ostiary/core';
import type { ClientAdministration, NewClient } from '@ostiary/core/admin';
import type { TestBrowser } from './browser.ts';
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
  /** `null` for a public client. */
  readonly clientSecret: string | null;
  /** The first of its redirect URIs. */
  readonly redirectUri: string;
}

/**
 * An authorization request.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const request: AuthorizeOptions = { scopes: ['openid'], parameters: { nonce: 'n-1', prompt: 'consent' } };
 * await kit.authorize(kit.clients.web, request);
 * ```
 */
export interface AuthorizeOptions {
  /** @defaultValue every scope */
  readonly scopes?: readonly string[];
  /** @defaultValue the first redirect URI of the client */
  readonly redirectUri?: string;
  /** @defaultValue a random one */
  readonly state?: string;
  /** Other parameters, such as `nonce` or `prompt`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/**
 * End of an authorization request.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const { callback, state }: Authorization = await kit.authorize(kit.clients.web);
 * console.log(callback.searchParams.get('state') === state);
 * ```
 */
export interface Authorization {
  /** The redirect URI with what the service added. */
  readonly callback: URL;
  readonly state: string;
  /** The secret of PKCE, for the exchange. */
  readonly codeVerifier: string;
  /** @throws Error when there is none: the request was denied or refused */
  readonly code: string;
}

/**
 * The OAuth half of a kit.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const token = await kit.accessToken(kit.clients.web, { user: kit.user, scopes: ['openid', 'profile'] });
 * ```
 */
export interface TestOAuth {
  readonly clients: {
    /** A client with a secret, of the partner of the kit. */
    readonly web: TestClient;
    /** Makes a client without secret: a single-page, mobile or desktop app, of the same partner. */
    readonly app: TestClient;
    /** Makes another one; what is not given is made up. */
    create(settings?: Partial<NewClient>): Promise<TestClient>;
  };
  /** The address of an authorization request, without PKCE. */
  authorizeUrl(client: TestClient, options?: AuthorizeOptions): string;
  /**
   * Lets a user approve, or deny, what a client asks for, with PKCE. It goes through the real pages.
   *
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * const { code, codeVerifier } = await kit.authorize(kit.clients.app, { scopes: ['openid', 'kyc'] });
   * ```
   */
  authorize(
    client: TestClient,
    options?: AuthorizeOptions & {
      /** @defaultValue the first user of the kit */
      readonly user?: UserReference;
      /** @defaultValue `'approve'` */
      readonly decision?: 'approve' | 'deny';
    },
  ): Promise<Authorization>;
  /** An access token: {@link TestOAuth.authorize}, and the exchange. */
  accessToken(
    client: TestClient,
    options?: AuthorizeOptions & { readonly user?: UserReference },
  ): Promise<string>;
}

/** Dependencies of the OAuth half. */
export interface OAuthParts {
  readonly admin: ClientAdministration;
  readonly partner: string;
  /** Redirect URIs of clients that are created without their own. */
  readonly allowedScopes: readonly string[];
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly signIn: (user: UserReference | undefined) => TestBrowser;
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
    const { user, decision = 'approve', state = random() } = options;
    const codeVerifier = random();
    const url = urlOf(client, state, options);
    url.searchParams.set('code_challenge', createHash('sha256').update(codeVerifier).digest('base64url'));
    url.searchParams.set('code_challenge_method', 'S256');
    const callback = await parts.signIn(user)[decision](url);
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
