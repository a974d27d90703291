import { safeVerify } from '@ostiary/webhook-verifier';
import type { OstiaryOptions } from '../../src/index.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { Json, TestKey, TestProvider } from '../support/provider.ts';
import { type Sink, sink } from '../webhooks/support/sink.ts';

/** Secret of the endpoints that tests register. */
export const secret = 'whsec_0123456789abcdef';

/** Starts a provider that allows webhook endpoints on this machine. */
export const webhookProvider = (options: Partial<OstiaryOptions> = {}) =>
  partnerProvider({ ...options, webhooks: { allowPrivateTargets: true, ...options.webhooks } });

/** Registers an endpoint through the API, and returns its id. */
export async function register(
  provider: TestProvider,
  key: TestKey,
  url: string,
  settings: Json = {},
): Promise<string> {
  const answer = await provider.partnerCall(key, 'POST /v1/partner/webhooks', {
    url,
    events: ['*'],
    secret,
    ...settings,
  });
  if (answer.status !== 201) throw new Error(`not registered: ${answer.status} ${answer.text}`);
  return String(answer.json().id);
}

/** Triggers a sandbox event and returns it. */
export async function trigger(provider: TestProvider, key: TestKey, type = 'webhook.test'): Promise<Json> {
  const answer = await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type });
  if (answer.status !== 201) throw new Error(`not triggered: ${answer.status} ${answer.text}`);
  return answer.json();
}

/** Returns the deliveries to an endpoint, newest first. */
export async function deliveries(provider: TestProvider, key: TestKey, endpointId: string): Promise<Json[]> {
  const answer = await provider.partnerCall(
    key,
    `GET /v1/partner/webhooks/${endpointId}/deliveries?limit=100`,
  );
  return answer.json().data as Json[];
}

/** Path of the webhook endpoints in the partner API. */
export const hooks = '/v1/partner/webhooks';

/** URL on this machine at which no server listens. */
export const url = 'http://127.0.0.1:9/hook';

/** A valid request to register an endpoint. */
export const body = { url, events: ['webhook.test'], secret };

/**
 * Starts a provider with a partner and its API key, by default for test mode. Returns calls on the partner's
 * endpoints.
 */
export async function shop(options: Partial<OstiaryOptions> = {}, mode: 'live' | 'test' = 'test') {
  const { provider, rail, database } = await webhookProvider(options);
  const key = await provider.key({ mode });
  const call = (target: string, payload?: unknown, by: TestKey | string | null = key) =>
    provider.partnerCall(by, target, payload);
  return {
    ...{ provider, rail, database, key, call },
    /** Returns the rows of a list response. */
    list: async (path: string, by = key) => (await call(`GET ${path}`, undefined, by)).json().data as Json[],
    register: (to = url, settings: Json = {}, by = key) =>
      register(provider, by, to, { events: ['webhook.test'], ...settings }),
    trigger: (type = 'webhook.test', by = key) => trigger(provider, by, type),
    deliveries: (id: string, by = key) => deliveries(provider, by, id),
    statuses: async (id: string) => (await deliveries(provider, key, id)).map(({ status }) => status),
    work: () => provider.ostiary.worker.runDue(),
    now: () => new Date(provider.clock.now()).toISOString(),
  };
}

/** Starts a webhook endpoint that responds with a status. */
export async function answering(status: number, text = ''): Promise<Sink> {
  const endpoint = await sink();
  endpoint.answer = (response) => void response.writeHead(status).end(text);
  return endpoint;
}

/** Starts an endpoint that verifies signatures as a receiver does. */
export async function verifying(now: () => number) {
  const endpoint = await sink(now);
  endpoint.answer = async (response, { body, headers, at }) => {
    const { ok } = await safeVerify(body, headers, { secret, now: at });
    response.writeHead(ok ? 204 : 400).end();
  };
  return endpoint;
}
