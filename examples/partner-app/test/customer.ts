import type { PartnerConfig } from '../src/index.ts';

/** A customer with a cookie jar for one cookie. */
export class Customer {
  cookie = '';
  readonly #config: PartnerConfig;

  constructor(config: PartnerConfig) {
    this.#config = config;
  }

  async request(path: string, init: RequestInit = {}) {
    const response = await fetch(`${this.#config.url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { Cookie: this.cookie, ...init.headers },
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0] ?? '';
    return {
      status: response.status,
      html: await response.text(),
      location: response.headers.get('location') ?? '',
      set,
    };
  }

  /** Begins a sign-in and answers the authorization request that the browser is sent with. */
  async begin(client = 'confidential', scopes: readonly string[] = ['openid', 'profile']): Promise<URL> {
    const body = new URLSearchParams({ client });
    for (const scope of scopes) body.append('scope', scope);
    return new URL((await this.request('/sign-in', { method: 'POST', body })).location);
  }

  callback(parameters: Readonly<Record<string, string>>, path = '/callback') {
    return this.request(`${path}?${new URLSearchParams(parameters)}`);
  }

  /** Signs in with whatever the provider says. */
  async signIn(iss: string): Promise<void> {
    const url = await this.begin();
    await this.callback({ code: 'the-code', state: url.searchParams.get('state') ?? '', iss });
  }
}
