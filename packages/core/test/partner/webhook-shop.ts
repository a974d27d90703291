import type { TestKey, TestProvider } from '../support/provider.ts';
import { secret, webhookProvider } from '../webhooks/support/webhook-provider.ts';

/** Where endpoints are. */
export const hooks = '/v1/partner/webhooks';

/** An address of this machine at which nobody listens. */
export const url = 'http://127.0.0.1:9/hook';

/** A registration that is good. */
export const body = { url, events: ['*'], secret };

/** A partner, and a way to call. */
export async function shop(
  options: Parameters<typeof webhookProvider>[0] = {},
  mode: 'live' | 'test' = 'live',
) {
  const { provider } = await webhookProvider(options);
  const key = await provider.key({ mode });
  const call = (target: string, payload?: unknown, by: TestKey | string | null = key) =>
    provider.partnerCall(by, target, payload);
  return { provider, key, call };
}

/** Ids of a partner's endpoints, in the order of the list. */
export async function idsOf(provider: TestProvider, key: TestKey): Promise<unknown[]> {
  const { data } = (await provider.partnerCall(key, `GET ${hooks}`)).json();
  return (data as { id: unknown }[]).map(({ id }) => id);
}
