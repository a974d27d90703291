/** A page that a visitor opened, with its links and redirects. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly location: string | null;
}

/** A headless browser that keeps cookies, and does not follow redirects by itself. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, headers: Readonly<Record<string, string>> = {}) {
    this.#origin = origin;
    this.#headers = headers;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send(path, { headers });
  }

  post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  /** Opens the sign-in page and submits it, like a person who tries again if the server is too busy. */
  async signIn(handle: string, password: string, query = ''): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const page = await this.get(`/login${query}`);
      const answer = await this.post('/login', { ...fieldsOf(page.html), handle, password });
      if (answer.status !== 503 || attempt === 5) return answer;
    }
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(new URL(path, this.#origin), {
      ...init,
      redirect: 'manual',
      headers: {
        ...this.#headers,
        Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...init.headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
    }
    return {
      status: response.status,
      headers: response.headers,
      html: await response.text(),
      location: response.headers.get('location'),
    };
  }
}

/** Returns the hidden and prefilled fields of a page's forms. */
export function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input\b[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(tag)?.[1];
    if (name !== undefined)
      fields[name] = (/\svalue="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&amp;', '&');
  }
  return fields;
}
