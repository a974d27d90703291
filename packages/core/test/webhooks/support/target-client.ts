import {
  type AttemptAnswer,
  createWebhookClient,
  type WebhookClient,
  type WebhookClientOptions,
} from '../../../src/webhooks/http-client.ts';
import { afterwards } from '../../support/running.ts';
import { type RawAnswer, type RawServer, serve } from './target-server.ts';

/** Creates a webhook client that may connect to this machine; closed after the test. */
export function newClient(options: Partial<WebhookClientOptions> = {}): WebhookClient {
  const client = createWebhookClient({ policy: { allowPrivate: true }, timeoutMs: 10_000, ...options });
  afterwards(() => client.close());
  return client;
}

export const urlOf = (server: RawServer, path = '/'): string => `http://127.0.0.1:${server.port}${path}`;

/**
 * Sends one webhook request without extra headers to a URL, and returns the response. No other request to the
 * same target may be running.
 */
export async function send(client: WebhookClient, url: string): Promise<AttemptAnswer> {
  const answer = await client.post({ url, headers: {}, body: '{}', owner: '' });
  if (answer === null) throw new Error('the target had no place for the attempt');
  return answer;
}

/** Starts a server that responds in one way, with a webhook client and functions that make attempts. */
export async function pair(answer: RawAnswer, options: Partial<WebhookClientOptions> = {}) {
  const [server, client] = [await serve(answer), newClient(options)];
  const post = () => send(client, urlOf(server));
  return { server, client, post };
}
