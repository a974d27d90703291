import type { IncomingMessage } from 'node:http';
import type { Authentication, Login, LoginRequest } from '@ostiary/core';
import type { Timeline } from './clock.ts';
import { createHostBrowser } from './host/browser.ts';
import type { Fetch } from './network.ts';

const cookieName = 'test_login';
const loginPath = '/login';

/**
 * Authentication class and methods of a user's sign-in (`acr`, `amr`), as apps get them in ID tokens.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const strong: SignInContext = { acr: 'urn:example:two-factor', amr: ['pwd', 'otp'] };
 * await kit.authorize(kit.clients.web, { signedIn: strong });
 * ```
 */
export type SignInContext = Pick<Authentication, 'acr' | 'amr'>;

/** Login of the test kit: remembers which user is signed in in which browser. */
export class TestLogin implements Login {
  readonly #signedIn = new Map<string, Authentication>();
  readonly #timeline: Timeline;
  readonly acrValues?: readonly string[];
  #browsers = 0;

  /** @param acrValues - context classes with which the login page signs users in if an app requests them */
  constructor(timeline: Timeline, acrValues: readonly string[] | undefined) {
    this.#timeline = timeline;
    if (acrValues !== undefined) this.acrValues = acrValues;
  }

  /** Returns a cookie value that no other browser has. */
  newCookie(): string {
    this.#browsers += 1;
    return `${cookieName}=${this.#browsers}`;
  }

  /** Signs a user in, at a later time than all previous sign-ins of the kit. */
  signIn(cookie: string, sub: string, context: SignInContext = {}): void {
    this.#timeline.tick();
    this.#signedIn.set(cookie, { sub, authenticatedAt: new Date(this.#timeline.now()), ...context });
  }

  authenticate(request: IncomingMessage): Authentication | null {
    const cookies = (request.headers.cookie ?? '').split('; ');
    const cookie = cookies.find((pair) => pair.startsWith(`${cookieName}=`));
    return cookie === undefined ? null : (this.#signedIn.get(cookie) ?? null);
  }

  loginUrl(returnTo: string, { acrValues = [] }: Pick<LoginRequest, 'acrValues'>): string {
    const acr = acrValues.find((value) => this.acrValues?.includes(value));
    return `${loginPath}?${new URLSearchParams({ return_to: returnTo, ...(acr !== undefined && { acr }) })}`;
  }
}

/**
 * A headless browser in which a user is signed in. It keeps cookies and submits the consent page.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const callback = await kit.signIn(kit.user).deny(kit.authorizeUrl(kit.clients.web));
 * callback.searchParams.get('error'); // access_denied
 * ```
 */
export interface TestBrowser {
  /**
   * Opens an authorization URL as the signed-in user, approves the consent page, and follows redirects until
   * they leave the service.
   *
   * @returns the redirect URI with `code` and `state`, or with `error`
   * @throws Error with the text of the page at which it had to stop
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * const browser = kit.signIn(kit.user);
   * const callback = await browser.approve(kit.authorizeUrl(kit.clients.web));
   * callback.searchParams.get('code');
   * ```
   */
  approve(url: string | URL): Promise<URL>;
  /**
   * Opens an authorization URL as the signed-in user, denies consent, and follows redirects until they leave
   * the service.
   */
  deny(url: string | URL): Promise<URL>;
}

/** Functions and settings that a test browser needs. */
export interface BrowserParts {
  readonly login: TestLogin;
  readonly sub: string;
  readonly context: SignInContext | undefined;
  readonly authUrl: URL;
  readonly send: (request: Request) => Promise<Response>;
}

export function createBrowser({ login, sub, context, authUrl, send }: BrowserParts): TestBrowser {
  const signedIn = login.newCookie();
  login.signIn(signedIn, sub, context);
  /** Sends requests to the service, and also acts as the login page, which signs the user in at once. */
  const sendSignedIn: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === loginPath) {
      const acr = searchParams.get('acr');
      login.signIn(signedIn, sub, { ...context, ...(acr !== null && { acr }) });
      return Response.redirect(new URL(searchParams.get('return_to') ?? '', authUrl));
    }
    const cookies = [signedIn, request.headers.get('cookie')];
    request.headers.set('cookie', cookies.filter(Boolean).join('; '));
    return send(request);
  };
  const { walk } = createHostBrowser({
    ...{ send: sendSignedIn, authUrl: authUrl.href, origins: [authUrl.origin] },
    ...{ logged: () => '', languages: [] },
  });
  return {
    approve: (url) => walk(url),
    deny: (url) => walk(url, { decision: 'deny' }),
  };
}
