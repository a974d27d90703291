/** A page as the server sent it, with its forms. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly forms: readonly Form[];
  /** Absolute URL of a redirect; `null` for a response without redirect. */
  readonly location: string | null;
}

export interface Form {
  readonly action: string;
  /** Values of the form's inputs by name; an input without a value has the empty text. */
  readonly fields: Readonly<Record<string, string>>;
  /** Names and values of the form's buttons. */
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

/** Function that is called with every request and response. */
export type Observer = (exchange: {
  readonly method: string;
  readonly url: string;
  readonly form: Readonly<Record<string, string>> | null;
  readonly status: number;
  readonly location: string | null;
}) => void;

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function attributesOf(tag: string): Readonly<Record<string, string>> {
  const decoded = (text: string): string =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
  const found = tag.matchAll(/\s([a-z-]+)(?:="([^"]*)")?/g);
  return Object.fromEntries(Array.from(found, ([, name = '', value = '']) => [name, decoded(value)]));
}

/** Parses the forms of an HTML page. Works only for well-formed pages such as those of Ostiary. */
function formsOf(html: string, url: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = '', body = '']): Form => {
    const tags = (name: string) =>
      Array.from(body.matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g')), ([, tag = '']) => {
        const { name: field = '', value = '' } = attributesOf(tag);
        return { name: field, value };
      });
    const inputs = tags('input').filter(({ name }) => name !== '');
    return {
      action: new URL(attributesOf(head).action ?? '', url).href,
      fields: Object.fromEntries(inputs.map(({ name, value }) => [name, value])),
      buttons: tags('button'),
    };
  });
}

/**
 * A browser without a window: keeps cookies, opens pages and sends forms. Does not follow redirects by
 * itself.
 */
export class Browser {
  // Cookies are bound to hosts and paths, but not to ports.
  readonly #cookies = new Map<string, { pair: string; host: string; path: string }>();
  readonly #observe: Observer;

  constructor(observe: Observer = () => undefined) {
    this.#observe = observe;
  }

  async open(url: string): Promise<Page> {
    return this.#request('GET', url);
  }

  /** Submits a form of a page with typed values and the pressed button, and sends the page's origin along. */
  async submit(
    page: Pick<Page, 'url'>,
    form: Pick<Form, 'action' | 'fields'>,
    input: Readonly<Record<string, string>>,
    from: Readonly<Record<string, string>> = { Origin: new URL(page.url).origin },
  ): Promise<Page> {
    return this.#request('POST', form.action, { ...form.fields, ...input }, from);
  }

  /** Follows redirects until a page is shown, or until `isEnd` accepts the next URL. */
  async follow(page: Page, isEnd: (location: string) => boolean = () => false): Promise<Page> {
    let current = page;
    for (let hops = 0; hops <= 10; hops += 1) {
      const { location } = current;
      if (location === null || isEnd(location)) return current;
      current = await this.open(location);
    }
    throw new Error('too many redirects');
  }

  async #request(
    method: 'GET' | 'POST',
    url: string,
    form: Readonly<Record<string, string>> | null = null,
    from: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    const { hostname, pathname } = new URL(url);
    const cookies = [...this.#cookies.values()]
      .filter(({ host, path }) => host === hostname && `${pathname}/`.startsWith(path.replace(/\/?$/, '/')))
      .sort((a, b) => b.path.length - a.path.length);
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
      headers: {
        Accept: 'text/html',
        'Accept-Language': 'en',
        Cookie: cookies.map(({ pair }) => pair).join('; '),
        ...from,
      },
      ...(form !== null && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line, hostname);
    const html = await response.text();
    const target = response.headers.get('location');
    const location = target === null ? null : new URL(target, url).href;
    const { status, headers } = response;
    this.#observe({ method, url, form, status, location });
    return { url, status, headers, html, forms: formsOf(html, url), location };
  }

  #keep(line: string, host: string): void {
    const [pair = ''] = line.split(';', 1);
    const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
    const key = `${host}\n${path}\n${pair.split('=', 1)[0]}`;
    const ended = /; *(max-age=0|expires=Thu, 01 Jan 1970)/i.test(line);
    if (ended) this.#cookies.delete(key);
    else this.#cookies.set(key, { pair, host, path });
  }
}
