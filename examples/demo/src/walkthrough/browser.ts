/** A page as it came, with its forms. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly html: string;
  readonly forms: readonly Form[];
  /** Where a redirect leads; absolute. */
  readonly location: string | null;
}

export interface Form {
  readonly action: string;
  readonly method: 'get' | 'post';
  /** Hidden fields and prefilled ones. */
  readonly fields: Readonly<Record<string, string>>;
  /** What its buttons send. */
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

/** Told of every request and answer. */
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

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}

function attributesOf(tag: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...tag.matchAll(/\s([a-z-]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [
      name,
      decodeEntities(value),
    ]),
  );
}

/** Reads the forms of a page that is known to be well formed: ours. */
function formsOf(html: string, url: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = '', body = '']): Form => {
    const { action = '', method = 'get' } = attributesOf(head);
    const tags = (name: string): Readonly<Record<string, string>>[] =>
      [...body.matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g'))].map(([, tag = '']) => attributesOf(tag));
    return {
      action: new URL(action, url).href,
      method: method === 'post' ? 'post' : 'get',
      fields: Object.fromEntries(
        tags('input')
          .filter(({ name }) => name !== undefined)
          .map(({ name = '', value = '' }) => [name, value]),
      ),
      buttons: tags('button').map(({ name = '', value = '' }) => ({ name, value })),
    };
  });
}

/** A cookie jar and a window: what is needed to walk through pages without a browser. Follows no redirect by itself. */
export class Browser {
  // Cookies know hosts and paths, and no ports.
  readonly #cookies = new Map<string, { name: string; value: string; host: string; path: string }>();
  readonly #observe: Observer;

  constructor(observe: Observer) {
    this.#observe = observe;
  }

  async open(url: string): Promise<Page> {
    return this.#request('GET', url, null, null);
  }

  /** Sends a form of a page, with what the user typed and the button that was pressed. */
  async submit(page: Page, form: Form, input: Readonly<Record<string, string>>): Promise<Page> {
    return this.#request('POST', form.action, { ...form.fields, ...input }, new URL(page.url).origin);
  }

  /** Opens a redirect's target, and so on, until a page comes or `stop` says that the target is the end. */
  async follow(page: Page, stop: (location: string) => boolean): Promise<Page> {
    let current = page;
    for (let hops = 0; current.location !== null && !stop(current.location); hops += 1) {
      if (hops > 10) throw new Error('too many redirects');
      current = await this.open(current.location);
    }
    return current;
  }

  async #request(
    method: 'GET' | 'POST',
    url: string,
    form: Readonly<Record<string, string>> | null,
    origin: string | null,
  ): Promise<Page> {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
      headers: {
        Accept: 'text/html',
        'Accept-Language': 'en',
        Cookie: this.#cookiesFor(new URL(url)),
        ...(origin !== null && { Origin: origin }),
      },
      ...(form !== null && { body: new URLSearchParams(form) }),
    });
    this.#keepCookies(response, new URL(url));
    const html = await response.text();
    const location = response.headers.get('location');
    const page: Page = {
      url,
      status: response.status,
      html,
      forms: formsOf(html, url),
      location: location === null ? null : new URL(location, url).href,
    };
    this.#observe({ method, url, form, status: page.status, location: page.location });
    return page;
  }

  #cookiesFor({ hostname, pathname }: URL): string {
    return [...this.#cookies.values()]
      .filter(
        ({ host, path }) =>
          host === hostname && (pathname === path || pathname.startsWith(path.replace(/\/?$/, '/'))),
      )
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keepCookies(response: Response, { hostname, pathname }: URL): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...rest] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const attributes = new Map(
        rest.map((part) => [part.split('=', 1)[0]?.toLowerCase() ?? '', part.slice(part.indexOf('=') + 1)]),
      );
      const path = attributes.get('path') ?? (pathname.slice(0, pathname.lastIndexOf('/')) || '/');
      const key = `${hostname}\n${path}\n${name}`;
      const maxAge = attributes.get('max-age');
      const expires = attributes.get('expires');
      const gone =
        maxAge === undefined
          ? expires !== undefined && Date.parse(expires) <= Date.now()
          : Number(maxAge) <= 0;
      if (gone) this.#cookies.delete(key);
      else this.#cookies.set(key, { name, value, host: hostname, path });
    }
  }
}
