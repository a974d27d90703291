import { randomBytes } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { Answer, TestBrowser } from '../../../../packages/core/test/support/browser.ts';
import { ana } from '../../../../packages/core/test/support/directory.ts';
import type { TestClient, TestClock, TestProvider } from '../../../../packages/core/test/support/provider.ts';
import { startProvider } from '../../../../packages/core/test/support/running.ts';

/** The address of the suite's own callback. Nothing listens there: browsers of these tests stop in front of it. */
export const redirectUri = 'https://suite.example/test/a/ostiary/callback';

/** How long it takes a person to sign in. */
const typingMs = 3_000;

/** Any text that was not there before. */
export const randomText = (bytes = 12): string => randomBytes(bytes).toString('base64url');

/** What the user's browser ended up with. */
export interface Visit {
  /** The parameters that came back to the redirect URI, or `null` when the browser never left the provider. */
  readonly callback: URLSearchParams | null;
  /** The page on which the browser stands, or the last redirect. */
  readonly page: Answer;
  /** How often the user had to sign in, and to decide about consent, on the way. */
  readonly logins: number;
  readonly consents: number;
}

/** What every module is given: a provider behind a proxy that ends TLS, and static clients, as an operator types them in. */
export class Suite {
  readonly discoveryUrl: string;
  readonly metadata: Record<string, unknown>;
  readonly jwks: JSONWebKeySet;
  readonly client: TestClient;
  readonly secondClient: TestClient;
  readonly #provider: TestProvider;

  private constructor(
    provider: TestProvider,
    found: Pick<Suite, 'metadata' | 'jwks' | 'client' | 'secondClient'>,
  ) {
    this.#provider = provider;
    this.discoveryUrl = `${provider.site}/.well-known/openid-configuration`;
    this.metadata = found.metadata;
    this.jwks = found.jwks;
    this.client = found.client;
    this.secondClient = found.secondClient;
  }

  /** Starts a provider, provisions two static clients, and reads what the provider says of itself. */
  static async start(): Promise<Suite> {
    const provider = await startProvider({ authUrl: 'https://id.example.com' });
    const json = async (path: string) => (await provider.request(path)).json();
    const provision = () =>
      provider.client({ redirectUris: [redirectUri], allowedScopes: ['openid', 'profile', 'kyc'] });
    return new Suite(provider, {
      metadata: await json('/.well-known/openid-configuration'),
      jwks: (await json('/.well-known/jwks.json')) as unknown as JSONWebKeySet,
      client: await provision(),
      secondClient: await provision(),
    });
  }

  get clock(): TestClock {
    return this.#provider.clock;
  }

  /** A browser without cookies. */
  newBrowser(): TestBrowser {
    return this.#provider.browser(null);
  }

  /** Asks the provider at an address that it named. */
  ask(url: unknown, init: RequestInit = {}): Promise<Answer> {
    return this.#provider.request(new URL(String(url)).pathname, init);
  }

  endpoint(name: string): string {
    return String(this.metadata[`${name}_endpoint`]);
  }

  /** The parameters of a plain authorization request, with `state` and `nonce` of its own. */
  request(changes: Record<string, string> = {}, { id } = this.client): Record<string, string> {
    return {
      client_id: id,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: randomText(),
      nonce: randomText(),
      response_type: 'code',
      ...changes,
    };
  }

  /**
   * Sends an authorization request, and does what a user does, at the login of the host too, until the browser is back at
   * the client or on a page with nothing to do.
   */
  async visit(request: Record<string, string>, browser = this.newBrowser(), post = false): Promise<Visit> {
    const endpoint = this.endpoint('authorization');
    let address = `${endpoint}?${new URLSearchParams(request)}`;
    let page = await (post ? browser.post(endpoint, request) : browser.get(address));
    let [logins, consents] = [0, 0];
    for (let step = 0; step < 20; step += 1) {
      const { location, text } = page;
      if (location?.startsWith(`${redirectUri}?`)) return { callback: page.callback, page, logins, consents };
      if (location !== null && new URL(location).pathname === '/login') {
        logins += 1;
        this.clock.advance(typingMs);
        this.#provider.signIn(browser, ana.sub);
        address = new URL(page.callback.get('return_to') ?? '', address).href;
        page = await browser.get(address);
      } else if (location !== null) {
        address = location;
        page = await browser.get(address);
      } else if (text.includes('name="decision"')) {
        consents += 1;
        const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
        page = await browser.post(address, { csrf, decision: 'approve' });
      } else return { callback: null, page, logins, consents };
    }
    throw new Error(`the browser goes in circles at ${address}`);
  }
}
