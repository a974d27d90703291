import type { IncomingMessage } from 'node:http';
import type { Authentication, Login } from '@ostiary/core';
import type { Timeline } from './clock.ts';
import { createHostBrowser } from './host/browser.ts';
import type { Fetch } from './network.ts';

const cookieName = 'test_login';
const loginPath = '/login';

/** The login of the kit: who is signed in in which browser. */
export class TestLogin implements Login {
  readonly #signedIn = new Map<string, Authentication>();
  readonly #timeline: Timeline;
  #browsers = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** A cookie that no browser has yet. */
  newCookie(): string {
    this.#browsers += 1;
    return `${cookieName}=${this.#browsers}`;
  }

  /** Signs a user in, at a moment that is later than every one before. */
  signIn(cookie: string, sub: string): void {
    this.#timeline.tick();
    this.#signedIn.set(cookie, { sub, authenticatedAt: new Date(this.#timeline.now()) });
  }

  authenticate(request: IncomingMessage): Authentication | null {
    const cookies = (request.headers.cookie ?? '').split('; ');
    const cookie = cookies.find((pair) => pair.startsWith(`${cookieName}=`));
    return cookie === undefined ? null : (this.#signedIn.get(cookie) ?? null);
  }

  loginUrl(returnTo: string): string {
    return `${loginPath}?${new URLSearchParams({ return_to: returnTo })}`;
  }
}

/**
 * A browser without a screen, in which a user is signed in. It keeps cookies and answers the consent page.
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
   * Goes to an authorization URL, signs in where it is asked to, approves what it is asked for, and follows until it
   * leaves the service.
   *
   * @returns where it was sent: the redirect URI with `code` and `state`, or with `error`
   * @throws Error with the page that it was stopped by
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * const browser = kit.signIn(kit.user);
   * const callback = await browser.approve(kit.authorizeUrl(kit.clients.web));
   * callback.searchParams.get('code');
   * ```
   */
  approve(url: string | URL): Promise<URL>;
  /** The same, but the user denies. */
  deny(url: string | URL): Promise<URL>;
}

/** Dependencies of a browser. */
export interface BrowserParts {
  readonly login: TestLogin;
  readonly sub: string;
  readonly authUrl: URL;
  readonly send: (request: Request) => Promise<Response>;
}

export function createBrowser({ login, sub, authUrl, send }: BrowserParts): TestBrowser {
  const signedIn = login.newCookie();
  login.signIn(signedIn, sub);
  /** The service, and the page of the login, which signs the user in at once. */
  const sendSignedIn: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === loginPath) {
      login.signIn(signedIn, sub);
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
