import { randomBytes } from 'node:crypto';
import { type WebhookMode, webhookModes, webhookUrls } from '@ostiary/partner-app';
import type { DemoApiKey, DemoWebhook } from './demo-file.ts';

interface Endpoint {
  readonly id: string;
  readonly url: string;
}

type Call = (method: string, path: string, body?: object) => Promise<unknown>;

/** The partner API, as the shop calls it to register its endpoints. */
function callsWith(apiOrigin: string, { key }: DemoApiKey): Call {
  return async (method, path, body) => {
    const response = await fetch(new URL(path, apiOrigin), {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${answer}`);
    return JSON.parse(answer);
  };
}

function isEndpoint(value: unknown): value is Endpoint {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    typeof value.id === 'string' &&
    'url' in value &&
    typeof value.url === 'string'
  );
}

async function endpointsOf(call: Call): Promise<readonly Endpoint[]> {
  const answer = await call('GET', '/v1/partner/webhooks');
  const data =
    typeof answer === 'object' && answer !== null && 'data' in answer && Array.isArray(answer.data)
      ? answer.data
      : [];
  return data.filter(isEndpoint);
}

async function seedWebhook(
  call: Call,
  mode: WebhookMode,
  url: string,
  known: DemoWebhook | undefined,
): Promise<DemoWebhook> {
  const endpoints = await endpointsOf(call);
  const kept = endpoints.find(({ id }) => id === known?.id);
  if (known !== undefined && kept !== undefined) {
    // Another PARTNER_PORT gives another address.
    if (kept.url !== url) await call('PATCH', `/v1/partner/webhooks/${kept.id}`, { url });
    return { mode, url, secret: known.secret, id: kept.id };
  }
  const secret = randomBytes(32).toString('base64url');
  // The secret of a file that was lost: nobody knows it any more.
  const lost = endpoints.find((endpoint) => endpoint.url === url);
  const endpoint =
    lost === undefined
      ? await call('POST', '/v1/partner/webhooks', { url, events: ['*'], secret })
      : await call('PATCH', `/v1/partner/webhooks/${lost.id}`, { secret });
  if (!isEndpoint(endpoint)) throw new Error('the partner API answered no webhook endpoint');
  return { mode, url, secret, id: endpoint.id };
}

/** Registers an endpoint of the shop for each mode, where it is missing. */
export async function seedWebhooks({
  apiOrigin,
  partnerUrl,
  apiKeys,
  known,
}: {
  readonly apiOrigin: string;
  readonly partnerUrl: string;
  readonly apiKeys: readonly DemoApiKey[];
  readonly known: readonly DemoWebhook[];
}): Promise<readonly DemoWebhook[]> {
  const urls = webhookUrls(partnerUrl);
  const webhooks: DemoWebhook[] = [];
  for (const mode of webhookModes) {
    const apiKey = apiKeys.find((key) => key.mode === mode);
    if (apiKey === undefined) throw new Error(`there is no ${mode} API key`);
    const call = callsWith(apiOrigin, apiKey);
    webhooks.push(
      await seedWebhook(
        call,
        mode,
        urls[mode],
        known.find((webhook) => webhook.mode === mode),
      ),
    );
  }
  return webhooks;
}
