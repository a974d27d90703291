import { LRUCache } from 'lru-cache';
import { webhookSecretContext } from '../keys/webhook-secrets.ts';
import type { Core } from '../options/context.ts';
import { wholeMs } from '../time/clock.ts';
import { createDispatcher } from './dispatcher.ts';
import { createEndpoints } from './endpoints.ts';
import type { WebhookClient, WebhookClientOptions, WebhookRequest } from './http-client.ts';
import { withInboxes } from './inbox.ts';
import { kycChanged } from './kyc.ts';
import { listenersOf } from './listeners.ts';
import { createListening } from './listening.ts';
import { pastRequests } from './past-requests.ts';
import { eventPublishing } from './publish.ts';
import { createRedeliveries } from './redelivery.ts';
import { triggerEvent } from './sandbox.ts';
import { signatureCheck } from './signature-check.ts';
import { createTargetLimits } from './target-limits.ts';
import { checkTarget, defaultResolve, type TargetPolicy } from './targets.ts';

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Maximum number of decrypted webhook secrets in memory, of which every attempt needs one. */
const openSecrets = 1_000;

/**
 * Wraps the HTTP client so that its code is loaded with the first request: loading it takes a third as long
 * as everything else at start.
 */
function lateClient(options: WebhookClientOptions): WebhookClient {
  let loading: Promise<WebhookClient> | null = null;
  const load = async (): Promise<WebhookClient> =>
    (await import('./http-client.ts')).createWebhookClient(options);
  return {
    async post(request) {
      loading ??= load();
      return (await loading).post(request);
    },
    abort: () => void loading?.then((client) => client.abort()).catch(() => {}),
    async close() {
      await (await loading)?.close();
    },
  };
}

/**
 * Creates the parts of the service that concern webhooks, such as endpoints, publishing, redelivery and the
 * delivery worker. Delivers no webhook before `start` or `runDue` of the worker.
 *
 * @param replacedClient - HTTP client to use instead of the built-in one
 */
export function createWebhooks(core: Core, replacedClient?: WebhookClient) {
  const { options, storage, sealer, clock, random } = core;
  const { webhooks, events: catalogue, logger, prefix } = options;
  const policy: TargetPolicy = { allowPrivate: webhooks.allowPrivateTargets };
  const resolve = webhooks.resolve ?? defaultResolve(policy);
  const targets = createTargetLimits();
  const listeners = listenersOf(core);
  const http = replacedClient ?? lateClient({ policy, resolve, targets });
  const client = withInboxes(core, http, listeners);
  const secrets = new LRUCache<string, string>({ max: openSecrets });

  function secretOf(endpointId: string, sealed: string): string {
    const known = secrets.get(sealed);
    if (known !== undefined) return known;
    const secret = sealer.open(sealed, webhookSecretContext(endpointId));
    secrets.set(sealed, secret);
    return secret;
  }

  const dispatcher = createDispatcher({
    deliveries: storage.deliveries,
    client,
    clock,
    random,
    logger,
    telemetry: core.telemetry,
    counts: core.counts,
    prefix,
    standardHeaders: webhooks.standardHeaders,
    delaysMs: webhooks.retryDelaysSeconds.map(wholeMs),
    concurrency: webhooks.concurrency,
    secretOf: ({ endpointId, sealedSecret }) => secretOf(endpointId, sealedSecret),
  });

  /**
   * Stops delivering webhooks. Deliveries that wait because too many requests to their target are running are
   * handed back.
   */
  function stop(): Promise<void> {
    const stopping = dispatcher.stop();
    targets.turnAway();
    return stopping;
  }

  const isTarget = (url: string) => checkTarget(url, policy, resolve);
  return {
    catalogue,
    /** True if deliveries also have the headers of Standard Webhooks. */
    standardHeaders: webhooks.standardHeaders,
    endpoints: createEndpoints(core, isTarget, listeners),
    /** Checks a webhook URL and the addresses of its host. @throws TargetError if the URL is not allowed */
    checkTarget: isTarget,
    /** Posts a form with the HTTP client of webhooks, which makes the same checks of the target. */
    postForm: (request: Pick<WebhookRequest, 'url' | 'body' | 'owner'>) =>
      client.post({ ...request, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    ...createRedeliveries(core),
    listening: createListening(core, listeners),
    publishing: eventPublishing(core, catalogue),
    kycChanged: kycChanged(core, catalogue),
    trigger: triggerEvent(core, catalogue),
    checkSignature: signatureCheck(core, { catalogue, client, secretOf }),
    /** Rebuilds the HTTP request of a past delivery attempt. */
    requestOf: pastRequests(core, secretOf),
    /** Worker that delivers webhooks. */
    worker: { ...dispatcher, stop },
    /** Aborts the running webhook attempts. Later attempts are possible. */
    abort: () => client.abort(),
    /** Aborts the running webhook attempts and closes all connections. */
    close: () => client.close(),
  };
}
