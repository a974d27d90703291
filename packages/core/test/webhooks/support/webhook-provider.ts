import type { OstiaryOptions } from '../../../src/index.ts';
import { partnerProvider, type TestRail } from '../../support/partner-api.ts';
import type { Json, TestKey, TestProvider } from '../../support/provider.ts';

/** A secret that endpoints of tests are registered with. */
export const secret = 'whsec_0123456789abcdef';

/** A provider whose endpoints may be on this machine. */
export async function webhookProvider(
  options: Partial<OstiaryOptions> = {},
): Promise<{ readonly provider: TestProvider; readonly rail: TestRail }> {
  return partnerProvider({ ...options, webhooks: { allowPrivateTargets: true, ...options.webhooks } });
}

/** Registers an endpoint through the API and answers its id. */
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

/** Triggers a sandbox event and answers it. */
export async function trigger(provider: TestProvider, key: TestKey, type = 'webhook.test'): Promise<Json> {
  const answer = await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type });
  if (answer.status !== 201) throw new Error(`not triggered: ${answer.status} ${answer.text}`);
  return answer.json();
}

/** The deliveries to an endpoint, newest first. */
export async function deliveries(provider: TestProvider, key: TestKey, endpointId: string): Promise<Json[]> {
  const answer = await provider.partnerCall(
    key,
    `GET /v1/partner/webhooks/${endpointId}/deliveries?limit=100`,
  );
  return answer.json().data as Json[];
}
