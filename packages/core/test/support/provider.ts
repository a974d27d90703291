import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage } from '@ostiary/testing/memory';
import { keepSigningKeys, lendSigningKeys, sealingKey } from '../../../testing/src/signing-keys.ts';
import { keyScopes, type NewApiKey, type NewClient } from '../../src/admin.ts';
import { type Ostiary, type OstiaryOptions, scopeNames } from '../../src/index.ts';
import { type Assembled, assembleWithTables } from '../../src/ostiary.ts';
import { type Answer, answerOf, TestBrowser } from './browser.ts';
import { ana, Host } from './directory.ts';

/** Ends the minute of repeated log lines at once, so that tests see each error whole. */
function atOnce(end: () => void): () => void {
  queueMicrotask(end);
  return () => undefined;
}

/**
 * A clock that stands still until a test moves it. The clock starts at the real time, because oidc-provider
 * reads the machine's clock.
 */
export class TestClock {
  #now = Date.now();
  now(): number {
    return this.#now;
  }
  advance(ms: number): void {
    this.#now += ms;
  }
}

/** Default limits of test providers, which tests do not reach by accident. */
export const generousLimits = {
  authorizeStarts: 1_000_000,
  failedClientAuthentications: 1_000_000,
  refreshes: 1_000_000,
  refreshesPerGrant: 1_000_000,
  pushedRequests: 1_000_000,
  pushedRequestsPerClient: 1_000_000,
};

/** Any JSON object. */
export type Json = Record<string, unknown>;

/** Additional or changed parameters of a request; `undefined` removes a parameter. */
type Changes = Readonly<Record<string, string | undefined>>;
type Headers = Readonly<Record<string, string>>;

/** A client that was created for a test. */
export interface TestClient {
  readonly id: string;
  readonly secret: string | null;
  readonly redirectUri: string;
}

/** An API key that was issued for a test. */
export type TestKey = Awaited<ReturnType<TestProvider['key']>>;

/** Creates a PKCE pair, and the parameters that bind an authorization request to it. */
export function pkce(verifier = randomBytes(32).toString('base64url')) {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge, bound: { code_challenge: challenge, code_challenge_method: 'S256' } };
}

/** Builds an `Authorization` header of HTTP Basic. */
export const basic = (id: string, secret: string | null): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** Builds the parameters with which a client exchanges a code. */
export function tokenRequest({ id, secret, redirectUri }: TestClient, code: string): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: id,
    ...(secret === null ? {} : { client_secret: secret }),
  };
}

/** A running identity provider behind a real HTTP server, on a free port of the loopback address. */
export class TestProvider {
  declare readonly ostiary: Ostiary;
  declare readonly partnerRoutes: Assembled['partnerRoutes'];
  declare readonly origin: string;
  /** Origin of the provider as browsers see it: `authUrl` without a trailing slash. */
  declare readonly site: string;
  declare readonly host: Host;
  declare readonly clock: TestClock;
  /** Lines that were logged: level, message, fields. */
  declare readonly logged: { readonly level: string; readonly message: string; readonly fields: object }[];
  readonly #server: Server;

  private constructor(
    parts: Pick<TestProvider, 'ostiary' | 'partnerRoutes' | 'origin' | 'site' | 'host' | 'clock' | 'logged'>,
    server: Server,
  ) {
    Object.assign(this, parts);
    this.#server = server;
  }

  /**
   * Starts a provider. `options` override the test's; `authUrl` is by default the URL of the server. Several
   * providers can share a storage, a `TestClock` (as option `clock`) and a host application.
   */
  static async start(options: Partial<OstiaryOptions> = {}, host = new Host()): Promise<TestProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clock = options.clock instanceof TestClock ? options.clock : new TestClock();
    const logged: TestProvider['logged'] = [];
    const log = (level: string) => (fields: object, message: string) =>
      void logged.push({ level, message, fields });
    // Give the provider existing signing keys, because generating an RSA key takes longer than the rest of
    // the start. Tests with their own sealing key generate one.
    const isPlain = options.sealingKeys === undefined;
    const storage = options.storage ?? memoryStorage();
    if (isPlain) {
      await storage.open();
      await lendSigningKeys(storage.signingKeys, clock.now());
    }
    const given: OstiaryOptions = {
      authUrl: origin,
      sealingKeys: [isPlain ? sealingKey : randomBytes(32)],
      users: host.users,
      login: host.login,
      clock,
      limits: generousLimits,
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      ...options,
      // A copy of the storage object, like that of another process.
      storage: { ...storage },
    };
    const { ostiary, partnerRoutes } = await assembleWithTables(given, { repetitionTimer: atOnce });
    if (isPlain) await keepSigningKeys(storage.signingKeys);
    server.on('request', (request, response) => {
      const { pages } = host;
      ostiary.handler(request, response, pages === null ? undefined : () => pages(request, response));
    });
    const site = (options.authUrl ?? origin).replace(/\/$/, '');
    return new TestProvider({ ostiary, partnerRoutes, origin, site, host, clock, logged }, server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.ostiary.close();
  }

  /**
   * Returns a new browser. By default the user Ana has signed in at the host application five seconds ago.
   */
  browser(sub: string | null = ana.sub): TestBrowser {
    const browser = new TestBrowser(new URL(this.site).origin, this.origin);
    if (sub !== null) this.signIn(browser, sub, 5_000);
    return browser;
  }

  /** Signs a user in at the host application in this browser, `agoMs` before now. */
  signIn(browser: TestBrowser, sub: string, agoMs = 0, context: Parameters<Host['signIn']>[3] = {}): void {
    this.host.signIn(browser.name, sub, new Date(this.clock.now() - agoMs), context);
  }

  signOut(browser: TestBrowser): void {
    this.host.signOut(browser.name);
  }

  /** Creates a client. Its consents are remembered for `https:` redirect URIs, such as the default one. */
  async client(settings: Partial<NewClient> = {}): Promise<TestClient> {
    const redirectUri = settings.redirectUris?.[0] ?? 'https://app.example/callback';
    const { client, clientSecret } = await this.ostiary.admin.clients.create({
      name: 'Test app',
      redirectUris: [redirectUri],
      allowedScopes: scopeNames,
      ...settings,
    });
    return { id: client.clientId, secret: clientSecret, redirectUri };
  }

  /** Returns the URL of an authorization request. */
  authorizeUrl(client: TestClient, changes: Changes = {}): string {
    const parameters = {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: client.redirectUri,
      scope: 'openid',
      state: 'a state',
      ...changes,
    };
    const sent = Object.entries(parameters).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return `${this.site}/oauth/authorize?${new URLSearchParams(sent)}`;
  }

  /**
   * Follows redirects within this provider, deciding on a consent page, until a redirect leads elsewhere or
   * another page is shown.
   */
  async follow(browser: TestBrowser, url: string, decision: 'approve' | 'deny' = 'approve'): Promise<Answer> {
    let [address, answer] = [url, await browser.get(url)];
    for (let step = 0; step < 10; step += 1) {
      const csrf = /name="csrf" value="([^"]+)"/.exec(answer.text)?.[1];
      if (answer.location?.startsWith(`${this.site}/oauth/`)) {
        address = answer.location;
        answer = await browser.get(address);
      } else if (answer.status === 200 && csrf !== undefined && address.includes('/oauth/interaction/'))
        answer = await browser.post(address, { csrf, decision });
      else return answer;
    }
    throw new Error('the flow goes in circles');
  }

  /** Signs in, approves, and returns the parameters of the callback. */
  async authorize(
    client: TestClient,
    changes: Changes = {},
    browser = this.browser(),
  ): Promise<URLSearchParams> {
    const { location, status, text } = await this.follow(browser, this.authorizeUrl(client, changes));
    if (location === null) throw new Error(`the flow ended with ${status}: ${text.slice(0, 200)}`);
    return new URL(location).searchParams;
  }

  /** Returns an authorization code for a client. */
  async code(client: TestClient, changes: Changes = {}, browser = this.browser()): Promise<string> {
    const callback = await this.authorize(client, changes, browser);
    return callback.get('code') ?? Promise.reject(new Error(`no code but ${callback}`));
  }

  /** Calls an API endpoint with a JSON body (an object) or a form body. */
  call(path: string, body: object | URLSearchParams | string, headers: Headers = {}): Promise<Answer> {
    const isForm = body instanceof URLSearchParams;
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    return this.request(path, {
      method: 'POST',
      body: isForm || typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': type, ...headers },
    });
  }

  /** Returns an authorization code that is bound to a PKCE verifier. */
  async boundCode(client: TestClient): Promise<{ code: string; verifier: string; challenge: string }> {
    const { bound, ...pair } = pkce();
    return { ...pair, code: await this.code(client, bound) };
  }

  /**
   * Sends one authorization request. Returns what the client gets (`code` or an error), or the page that the
   * user sees.
   */
  async attempt(client: TestClient, changes: Changes = {}, browser = this.browser()): Promise<string> {
    const { outcome } = await browser.get(this.authorizeUrl(client, changes));
    return outcome.replace('303 ', '');
  }

  /**
   * Exchanges a code, by default with the client's secret and correct redirect URI; `undefined` removes a
   * parameter.
   */
  async exchange(client: TestClient, code: string, changes: Record<string, unknown> = {}): Promise<Answer> {
    return this.call('/v1/oauth/token', { ...tokenRequest(client, code), ...changes });
  }

  /** Returns the outcome of a code exchange, such as `200 ok` or `400 invalid_grant`. */
  async redeem(client: TestClient, code: string, changes: Record<string, unknown> = {}): Promise<string> {
    return (await this.exchange(client, code, changes)).outcome;
  }

  /** Runs a whole sign-in, and returns the client's tokens. */
  async tokens(client: TestClient, changes: Changes = {}, browser = this.browser()): Promise<Json> {
    const { verifier, bound } = pkce();
    const code = await this.code(client, { ...bound, ...changes }, browser);
    return (await this.exchange(client, code, { code_verifier: verifier })).json();
  }

  /** Runs a whole sign-in. Returns an access token with the given scopes. */
  async token(client: TestClient, scope = 'openid', browser = this.browser()): Promise<string> {
    return String((await this.tokens(client, { scope }, browser)).access_token);
  }

  /** Exchanges the code in a callback URL, and returns the id of the user. */
  async subOf(client: TestClient, { callback }: Answer): Promise<unknown> {
    const { access_token: token } = (await this.exchange(client, callback.get('code') ?? '')).json();
    return (await this.userinfo(String(token))).json().sub;
  }

  /** Checks whether the userinfo endpoint accepts a token. */
  async isAlive(token: unknown): Promise<boolean> {
    const { status } = await this.userinfo(String(token));
    if (status !== 200 && status !== 401) throw new Error(`userinfo answered ${status}`);
    return status === 200;
  }

  /** Revokes a token at the revocation endpoint. */
  revoke(token: string, headers: Headers = {}): Promise<Answer> {
    return this.call('/v1/oauth/revoke', { token }, headers);
  }

  /** Returns the CSRF token of each form on the user's page of connected apps, by client. */
  async connectedApps(browser: TestBrowser): Promise<ReadonlyMap<string, string>> {
    const forms = (await browser.get(`${this.site}/account/apps`)).text.matchAll(
      /action="[^"]*\/account\/apps\/([^/"]+)\/revoke">\s*<input type="hidden" name="csrf" value="([^"]+)"/g,
    );
    return new Map([...forms].map(([, clientId = '', csrf = '']) => [clientId, csrf]));
  }

  /** Removes a connected app as its user does on the page. */
  async removeApp(client: TestClient, browser = this.browser()): Promise<Answer> {
    const csrf = (await this.connectedApps(browser)).get(client.id) ?? '';
    return browser.post(`${this.site}/account/apps/${client.id}/revoke`, { csrf });
  }

  /** Log lines with level `error`. */
  get errors(): TestProvider['logged'] {
    return this.logged.filter(({ level }) => level === 'error');
  }

  /** Sends a request to the provider unchanged. Redirects are not followed. */
  async request(path: string, init: RequestInit = {}): Promise<Answer> {
    return answerOf(await fetch(new URL(path, this.origin), { redirect: 'manual', ...init }));
  }

  /** Calls the userinfo endpoint with a bearer token. */
  userinfo(token: string, headers: Headers = {}): Promise<Answer> {
    return this.request('/v1/oauth/userinfo', { headers: { authorization: `Bearer ${token}`, ...headers } });
  }

  /** Creates a partner; returns its slug. */
  async partner(slug = `partner-${randomBytes(6).toString('hex')}`): Promise<string> {
    return (await this.ostiary.admin.partners.create({ slug, name: `The partner ${slug}` })).slug;
  }

  /** Issues an API key: by default a live key with every scope, of a new partner. */
  async key(settings: Partial<NewApiKey> = {}) {
    const partner = settings.partner ?? (await this.partner());
    const given = { mode: 'live', scopes: keyScopes, ...settings, partner } as const;
    const { key, signingSecret, apiKey } = await this.ostiary.admin.apiKeys.issue(given);
    return { id: apiKey.id, key, signingSecret, partner, mode: apiKey.mode };
  }

  /**
   * Calls the partner API, such as `POST /v1/partner/verify`; text and bytes are sent unchanged, other values
   * as JSON.
   */
  async partnerCall(
    key: TestKey | string | null,
    target: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<Answer> {
    const [method = '', path = ''] = target.split(' ');
    const presented = typeof key === 'string' || key === null ? key : key.key;
    const given = presented === null ? headers : { 'x-api-key': presented, ...headers };
    if (body === undefined) return this.request(path, { method, headers: given });
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return this.request(path, {
      method,
      headers: { 'content-type': 'application/json', ...given },
      body: raw ? (body as BodyInit) : JSON.stringify(body),
    });
  }
}
