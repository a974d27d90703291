import { type Answer, ask } from './ask.ts';

interface Cookie {
  readonly pair: string;
  readonly path: string;
}

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

const hidden = (page: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';

/** Browser and user in one: keeps cookies, follows redirects, signs in and approves wherever it is asked to. */
export class UserAgent {
  readonly #origin: string;
  readonly #redirectUri: string;
  readonly #username: string;
  readonly #cookies = new Map<string, Cookie>();

  constructor(origin: string, redirectUri: string, username: string) {
    this.#origin = origin;
    this.#redirectUri = redirectUri;
    this.#username = username;
  }

  async #send(url: string, form?: Record<string, string>): Promise<Answer> {
    const { pathname } = new URL(url);
    const sent = [...this.#cookies.values()].filter(
      ({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')),
    );
    const answer = await ask(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/html',
        cookie: sent.map(({ pair }) => pair).join('; '),
        ...(form === undefined ? {} : { origin: this.#origin, 'sec-fetch-site': 'same-origin' }),
      },
      form,
    });
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    return answer;
  }

  #keep(line: string): void {
    const isSecure = /; *secure/i.test(line);
    if (isSecure !== this.#origin.startsWith('https:'))
      throw new Error(`not the place for this cookie: ${line}`);
    const [pair = '', ...attributes] = line.split(/; */);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    const name = `${pair.split('=')[0]} ${path}`;
    if (attributes.some((attribute) => /^expires=Thu, 01 Jan 1970/i.test(attribute)))
      this.#cookies.delete(name);
    else this.#cookies.set(name, { pair, path });
  }

  /**
   * Opens an address, or posts a form to it, and does what a user does until the browser is back at the client or on
   * a page with nothing to do.
   */
  async visit(url: string, posted?: Record<string, string>): Promise<Visit> {
    let [address, form, logins, consents] = [url, posted, 0, 0];
    for (let step = 0; step < 20; step += 1) {
      const page = await this.#send(address, form);
      form = undefined;
      const { location } = page.headers;
      if (typeof location === 'string') {
        address = new URL(location, address).href;
        if (!address.startsWith(`${this.#redirectUri}?`)) continue;
        return { callback: new URL(address).searchParams, page, logins, consents };
      }
      if (page.text.includes('id="sign-in"')) {
        logins += 1;
        form = { username: this.#username, return_to: hidden(page.text, 'return_to') };
        address = `${this.#origin}/login`;
      } else if (page.text.includes('name="decision"')) {
        consents += 1;
        form = { csrf: hidden(page.text, 'csrf'), decision: 'approve' };
      } else {
        return { callback: null, page, logins, consents };
      }
    }
    throw new Error(`the browser goes in circles at ${address}`);
  }
}
