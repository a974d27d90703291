import type { IncomingMessage } from 'node:http';
import type { Authentication, Login } from '@ostiary/core';
import type { Timeline } from './clock.ts';

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

  /** A cookie that nobody has yet. */
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

type Decision = 'approve' | 'deny';

/** What a browser is made of. */
export interface BrowserParts {
  readonly login: TestLogin;
  readonly sub: string;
  readonly authUrl: URL;
  readonly send: (request: Request) => Promise<Response>;
}

interface Step {
  readonly status: number;
  readonly text: string;
  readonly location: URL | null;
}

export function createBrowser({ login, sub, authUrl, send }: BrowserParts): TestBrowser {
  const signedIn = login.newCookie();
  login.signIn(signedIn, sub);
  /** Cookies by name and path. */
  const jar = new Map<string, { readonly pair: string; readonly path: string }>();

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    const key = `${pair.slice(0, pair.indexOf('='))} ${path}`;
    if (attributes.some((attribute) => /^expires=Thu, 01 Jan 1970/i.test(attribute))) jar.delete(key);
    else jar.set(key, { pair, path });
  }

  function cookies(path: string): string {
    const sent = [...jar.values()].filter(
      (cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')),
    );
    return [signedIn, ...sent.map(({ pair }) => pair)].join('; ');
  }

  async function go(url: URL, form?: Record<string, string>): Promise<Step> {
    const response = await send(
      new Request(url, {
        redirect: 'manual',
        headers: {
          accept: 'text/html,*/*;q=0.8',
          cookie: cookies(url.pathname),
          ...(form === undefined ? {} : { origin: authUrl.origin, 'sec-fetch-site': 'same-origin' }),
        },
        ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
      }),
    );
    for (const line of response.headers.getSetCookie()) keep(line);
    const location = response.headers.get('location');
    return {
      status: response.status,
      text: await response.text(),
      location: location === null ? null : new URL(location, url),
    };
  }

  async function walk(target: string | URL, decision: Decision): Promise<URL> {
    let url = new URL(target);
    for (let steps = 0; steps < 12; steps += 1) {
      if (url.origin !== authUrl.origin) return url;
      if (url.pathname === loginPath) {
        login.signIn(signedIn, sub);
        url = new URL(url.searchParams.get('return_to') ?? '', authUrl);
      }
      let { status, text, location } = await go(url);
      const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1];
      if (location === null && csrf !== undefined) {
        ({ status, text, location } = await go(url, { csrf, decision }));
      }
      if (location === null) {
        const shown = wordsOf(text);
        throw new Error(`${url.pathname} answered ${status}: ${shown.trim().slice(0, 300)}`);
      }
      url = location;
    }
    throw new Error('the authorization request goes in circles');
  }

  return {
    approve: (url) => walk(url, 'approve'),
    deny: (url) => walk(url, 'deny'),
  };
}

/** What a page says, for an error message: its body without tags. */
function wordsOf(page: string): string {
  const body = page.slice(page.lastIndexOf('</style>') + 1);
  return body.replaceAll(/<[^<>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}
