import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { bodyOf, close, listen } from '../../../lab/support/http.ts';
import { type PartnerConfig, startPartnerApp } from '../src/index.ts';

/** A request that the provider received. */
interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Makes a response with a JSON body. */
export const json = (status: number, body: unknown) => () => ({ status, body: JSON.stringify(body) });

export const apiKey = {
  key: `svc_live_${'A1b2C3d4'.repeat(6)}`,
  signingSecret: 'svc_sign_secret-of-the-shop',
};

export const identity = {
  sub: 'usr_1',
  kid: 'K1',
  role: 'member',
  country: 'HT',
  createdAt: '2026-01-02T00:00:00.000Z',
  name: '<b>Ana</b>',
};

const token = {
  access_token: 'svc_at_1',
  token_type: 'Bearer',
  expires_in: 3600,
  scope: 'openid profile',
};

export const transfer = {
  id: 'tr_1',
  status: 'pending',
  mode: 'live',
  amount: '25.00',
  currency: 'HTG',
  recipient: { kid: 'K1' },
  description: 'Cashback',
  reference: null,
  metadata: null,
  failure: null,
  createdAt: '2026-01-02T03:04:05.000Z',
  updatedAt: '2026-01-02T03:04:05.000Z',
  completedAt: null,
};

/** Scripted responses of the provider, by path. */
export type Script = Readonly<Record<string, () => { readonly status: number; readonly body: string }>>;

/** Scripted responses of a provider that accepts everything. */
const kind: Script = {
  '/v1/oauth/token': json(200, token),
  '/v1/oauth/userinfo': json(200, identity),
  '/v1/oauth/revoke': json(200, { ok: true }),
  '/v1/partner/payments': json(201, transfer),
  '/v1/partner/payments/tr_1': json(200, { ...transfer, status: 'completed' }),
  '/v1/partner/verify': json(200, {
    valid: true,
    user: { kid: 'K1', role: '<i>member</i>', country: 'HT', kycStatus: 'approved', kycTier: 2 },
    issuedAt: '2026-01-02T03:04:05.000Z',
    expiresAt: '2026-01-02T03:09:05.000Z',
  }),
};

/** Starts a provider with scripted responses. The tests of the demo use a real one. */
async function scriptedProvider(script: Script) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    received.push({ path, headers, body: JSON.parse(String(await bodyOf(request)) || '{}') });
    const { status, body } = script[path]?.() ?? { status: 404, body: '{}' };
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1' }).end(body);
  });
  onTestFinished(() => close(server));
  return { origin: await listen(server), received };
}

/** Opens a shop for a customer, against a provider whose responses the script changes. */
export async function openShop(
  script: Script = {},
  { url = null, ...options }: Partial<Omit<PartnerConfig, 'url'>> & { readonly url?: string | null } = {},
) {
  const { origin, received } = await scriptedProvider({ ...kind, ...script });
  const port = await freePort();
  const site = url ?? `http://localhost:${port}`;
  const config: PartnerConfig = {
    url: site,
    host: '127.0.0.1',
    port,
    provider: { name: 'Ostiary', authUrl: origin, baseUrl: origin },
    clients: {
      confidential: { clientId: 'shop', clientSecret: 'a-secret' },
      public: { clientId: 'shop-public', clientSecret: null },
    },
    partnerApi: null,
    webhooks: null,
    ...options,
  };
  const shop = await startPartnerApp(config);
  onTestFinished(() => shop.close());
  return { config, received, iss: origin, customer: new Customer(config) };
}

/** A customer's browser that keeps one cookie. */
export class Customer {
  cookie = '';
  readonly #config: PartnerConfig;

  constructor(config: PartnerConfig) {
    this.#config = config;
  }

  async request(path: string, init: RequestInit = {}) {
    const headers = { Cookie: this.cookie, ...init.headers };
    const response = await fetch(`${this.#config.url}${path}`, { ...init, redirect: 'manual', headers });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0] ?? '';
    const { status } = response;
    return { status, html: await response.text(), location: response.headers.get('location') ?? '', set };
  }

  send(path: string, fields: Readonly<Record<string, string>> = {}, headers: Record<string, string> = {}) {
    return this.request(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** Returns the home page of the shop. */
  async page(): Promise<string> {
    return (await this.request('/')).html;
  }

  /** Starts a sign-in, and returns the authorization request to which the shop redirects the browser. */
  async begin(client = 'confidential', scopes: readonly string[] = ['openid', 'profile']) {
    const body = new URLSearchParams({ client });
    for (const scope of scopes) body.append('scope', scope);
    const url = new URL((await this.request('/sign-in', { method: 'POST', body })).location);
    return { url, state: url.searchParams.get('state') ?? '' };
  }

  callback(parameters: Readonly<Record<string, string>>, path = '/callback') {
    return this.request(`${path}?${new URLSearchParams(parameters)}`);
  }

  /** Signs the customer in; `iss` is the issuer in the callback. */
  async signIn(iss: string) {
    const { state } = await this.begin();
    return this.callback({ code: 'the-code', state, iss });
  }

  /** Submits the cashback form as the page shows it, with the given changes. */
  async pay(changes: Readonly<Record<string, string>> = {}) {
    return this.send('/cashback', { amount: '25.00', idempotency_key: keyOf(await this.page()), ...changes });
  }
}

/** Returns the idempotency key in the cashback form. */
export const keyOf = (html: string): string => /name="idempotency_key" value="([^"]+)"/.exec(html)?.[1] ?? '';
