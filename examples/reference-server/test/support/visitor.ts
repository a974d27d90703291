/** A page and where it leads. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly location: string | null;
}

/** A browser without a window: keeps cookies, follows nothing by itself. */
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

  /** Opens the sign-in page and sends it, as a person would, who tries again when the server cannot answer now. */
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

/** The hidden and prefilled fields of the forms of a page. */
export function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input\b[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(tag)?.[1];
    if (name !== undefined)
      fields[name] = (/\svalue="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&amp;', '&');
  }
  return fields;
}
