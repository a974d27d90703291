/** An HTTP response with its body. */
export type Answer = Awaited<ReturnType<typeof answerOf>>;

/** Reads a response with its body. */
export async function answerOf(response: Response, url = response.url) {
  const { status, headers } = response;
  const text = await response.text();
  const to = headers.get('location');
  /** Absolute URL of the response's redirect, or `null`. */
  const location = to === null ? null : new URL(to, url).href;
  /** Parameters in the URL of the redirect; empty without a redirect. */
  const callback = new URL(location ?? 'about:blank').searchParams;
  const json = () => JSON.parse(text) as Record<string, unknown>;
  /**
   * Short outcome of a response: status and error code, such as `400 invalid_grant`, whether in JSON, on a
   * page or in a redirect. Without an error it is `200 ok`, and for redirects `303 code`, `303 login`, `303
   * interaction` or `303 elsewhere`.
   */
  const outcome = `${status} ${saidBy()}`;
  return { status, headers, text, location, callback, json, outcome };

  function saidBy(): unknown {
    if (location !== null) {
      if (callback.has('code')) return 'code';
      const { pathname } = new URL(location);
      const page = /\/(login|interaction)\b(?!.*\/resume$)/.exec(pathname)?.[1];
      return callback.get('error') ?? page ?? 'elsewhere';
    }
    if (headers.get('content-type')?.startsWith('text/html'))
      return /<code dir="auto">(\w+):/.exec(text)?.[1] ?? 'ok';
    const { error, code } = headers.get('content-type')?.startsWith('application/json') && text ? json() : {};
    return error ?? (status >= 400 ? code : undefined) ?? 'ok';
  }
}

type Texts = Readonly<Record<string, string>>;

let browsers = 0;

/**
 * A browser without a window: keeps cookies by path, follows no redirects by itself, and sends the usual
 * headers of browsers.
 */
export class TestBrowser {
  readonly origin: string;
  /**
   * Origin at which the server listens. The origin differs from the browser's origin behind a proxy that
   * terminates TLS.
   */
  #server: string;
  /** Name by which the test host's login recognizes this browser. */
  readonly name: string;
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();

  constructor(origin: string, server = origin) {
    this.origin = origin;
    this.#server = server;
    browsers += 1;
    this.name = `browser-${browsers}`;
    this.setCookie('host', this.name, '/');
  }

  /** Sends later requests for the same origin to another server process, as a load balancer does. */
  connectTo(server: string): void {
    this.#server = server;
  }

  setCookie(name: string, value: string, path: string): void {
    this.#cookies.set(`${name} ${path}`, { value: `${name}=${value}`, path });
  }

  cookieHeader(path: string): string {
    const sent = [...this.#cookies.values()].filter(
      (cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')),
    );
    // Longer paths come first (RFC 6265, section 5.4).
    sent.sort((left, right) => right.path.length - left.path.length);
    return sent.map((cookie) => cookie.value).join('; ');
  }

  head(url: string): Promise<Answer> {
    return this.#send(url, {}, { method: 'HEAD' });
  }

  get(url: string, headers: Texts = {}): Promise<Answer> {
    return this.#send(url, headers);
  }

  /** Sends a form, with files as `FormData`. */
  post(url: string, form: Texts | FormData, headers: Texts = {}): Promise<Answer> {
    const ofPage = { origin: this.origin, 'sec-fetch-site': 'same-origin', ...headers };
    return this.#send(url, ofPage, {
      method: 'POST',
      body: form instanceof FormData ? form : new URLSearchParams(form),
    });
  }

  async #send(target: string, given: Texts, init: RequestInit = {}): Promise<Answer> {
    const url = new URL(target, this.origin);
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const server = url.origin === this.origin ? this.#server : url.origin;
    const proxied = server === url.origin ? {} : { 'x-forwarded-host': url.host };
    const headers = { accept, cookie: this.cookieHeader(url.pathname), ...proxied, ...given };
    const path = url.pathname + url.search;
    const response = await fetch(server + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return answerOf(response, url.href);
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const split = pair.indexOf('=');
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    const name = pair.slice(0, split);
    if (attributes.some((attribute) => /^expires=Thu, 01 Jan 1970/i.test(attribute)))
      this.#cookies.delete(`${name} ${path}`);
    else this.#cookies.set(`${name} ${path}`, { value: pair, path });
  }
}
