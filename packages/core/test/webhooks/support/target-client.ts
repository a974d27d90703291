import { afterEach } from 'vitest';
import {
  type AttemptAnswer,
  createWebhookClient,
  type WebhookClient,
  type WebhookClientOptions,
} from '../../../src/webhooks/client.ts';
import { type RawAnswer, type RawServer, startRawServer } from './target-server.ts';

const clients: WebhookClient[] = [];
const servers: RawServer[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((server) => server[Symbol.asyncDispose]()));
});

/** A client that may reach this machine; closed after the test. */
export function newClient(options: Partial<WebhookClientOptions> = {}): WebhookClient {
  const client = createWebhookClient({ policy: { allowPrivate: true }, timeoutMs: 5_000, ...options });
  clients.push(client);
  return client;
}

/** A server that is closed after the test. */
export async function serve(
  answer: RawAnswer,
  options?: Parameters<typeof startRawServer>[1],
): Promise<RawServer> {
  const server = await startRawServer(answer, options);
  servers.push(server);
  return server;
}

export const urlOf = (server: RawServer, path = '/'): string => `http://127.0.0.1:${server.port}${path}`;

/** Makes an attempt without headers. */
export function send(client: WebhookClient, url: string, signal?: AbortSignal): Promise<AttemptAnswer> {
  return client.post({ url, headers: {}, body: '{}', ...(signal && { signal }) });
}
