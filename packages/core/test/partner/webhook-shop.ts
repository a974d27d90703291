import type { Json, TestKey } from '../support/provider.ts';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import {
  deliveries,
  register,
  secret,
  trigger,
  webhookProvider,
} from '../webhooks/support/webhook-provider.ts';

/** Where endpoints are. */
export const hooks = '/v1/partner/webhooks';

/** An address of this machine at which nobody listens. */
export const url = 'http://127.0.0.1:9/hook';

/** A registration that is good. */
export const body = { url, events: ['webhook.test'], secret };

/** A partner with a test key, and what it does with its endpoints. */
export async function shop(
  options: Parameters<typeof webhookProvider>[0] = {},
  mode: 'live' | 'test' = 'test',
) {
  const { provider, rail } = await webhookProvider(options);
  const key = await provider.key({ mode });
  const call = (target: string, payload?: unknown, by: TestKey | string | null = key) =>
    provider.partnerCall(by, target, payload);
  return {
    ...{ provider, rail, key, call },
    /** The rows of a list. */
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

/** An endpoint that answers with a status. */
export async function answering(status: number, text = ''): Promise<Sink> {
  const endpoint = await sink();
  endpoint.answer = (response) => void response.writeHead(status).end(text);
  return endpoint;
}
