import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { redirectUris } from '../src/config.ts';
import { type PartnerConfig, startPartnerApp } from '../src/index.ts';

/** A request that the provider got. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answers with JSON. */
export const json = (status: number, body: unknown) => () => ({ status, body: JSON.stringify(body) });

export const apiKey = {
  key: `svc_live_${'A1b2C3d4'.repeat(6)}`,
  signingSecret: 'svc_sign_secret-of-the-shop',
};

export const token = {
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

/** Answers of a provider, by path. */
export type Script = Readonly<Record<string, () => { readonly status: number; readonly body: string }>>;

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

/** A provider that says what a test wants it to say; the real one is used by the tests of the demo. */
export async function scriptedProvider(script: Script) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const { method = '' } = request;
    received.push({
      method,
      path,
      authorization: request.headers.authorization,
      headers: request.headers,
      body: await bodyOf(request),
    });
    const answer = script[path]?.() ?? { status: 404, body: '{}' };
    response
      .writeHead(answer.status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1' })
      .end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** Starts the shop against a provider. */
export async function startShop(
  providerOrigin: string,
  partnerApi: PartnerConfig['partnerApi'] = null,
  webhooks: PartnerConfig['webhooks'] = null,
  publicUrl: string | null = null,
): Promise<PartnerConfig> {
  const port = await freePort();
  const url = publicUrl ?? `http://localhost:${port}`;
  const uris = redirectUris(url);
  const config: PartnerConfig = {
    url,
    host: '127.0.0.1',
    port,
    provider: { name: 'Ostiary', authUrl: providerOrigin, baseUrl: providerOrigin },
    clients: {
      confidential: { clientId: 'shop', clientSecret: 'a-secret', redirectUri: uris.confidential },
      public: { clientId: 'shop-public', clientSecret: null, redirectUri: uris.public },
      spa: { clientId: 'shop-public', clientSecret: null, redirectUri: uris.spa },
    },
    partnerApi,
    webhooks,
  };
  const shop = await startPartnerApp(config);
  onTestFinished(() => shop.close());
  return config;
}
