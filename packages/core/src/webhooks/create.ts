import { LRUCache } from 'lru-cache';
import { webhookSecretContext } from '../keys/webhook-secrets.ts';
import type { Core } from '../options/context.ts';
import type { WebhookClient, WebhookClientOptions, WebhookRequest } from './client.ts';
import { createDispatcher } from './dispatcher.ts';
import { createEndpoints } from './endpoints.ts';
import { kycChanged } from './kyc.ts';
import { pastRequests } from './past-requests.ts';
import { eventPublishing } from './publish.ts';
import { createRedeliveries } from './redelivery.ts';
import { triggerEvent } from './sandbox.ts';
import { signatureCheck } from './signature-check.ts';
import { createTargetLimits } from './target-limits.ts';
import { checkTarget, defaultResolve, type TargetPolicy } from './targets.ts';

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Secrets that are kept open at once; every attempt needs one. */
const openSecrets = 1_000;

/** Loads the client with the first delivery: loading takes a third as long as everything else at the start. */
function lateClient(options: WebhookClientOptions): WebhookClient {
  let loading: Promise<WebhookClient> | null = null;
  const load = async (): Promise<WebhookClient> => (await import('./client.ts')).createWebhookClient(options);
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
 * Builds the topic from the options. Nothing is sent before its worker starts.
 *
 * @param ownClient - instead of the one that dials sockets
 */
export function createWebhooks(core: Core, ownClient?: WebhookClient) {
  const { options, storage, sealer, clock, random } = core;
  const { webhooks, events: catalogue, logger, prefix } = options;
  const policy: TargetPolicy = { allowPrivate: webhooks.allowPrivateTargets };
  const resolve = webhooks.resolve ?? defaultResolve(policy);
  const targets = createTargetLimits();
  const client = ownClient ?? lateClient({ policy, resolve, targets });
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
    prefix,
    delaysMs: webhooks.retryDelaysSeconds.map((seconds) => seconds * 1000),
    concurrency: webhooks.concurrency,
    secretOf: ({ endpointId, sealedSecret }) => secretOf(endpointId, sealedSecret),
  });

  /** Stops to deliver. Attempts that wait for a place at their target are handed back. */
  function stop(): Promise<void> {
    const stopping = dispatcher.stop();
    targets.turnAway();
    return stopping;
  }

  const isTarget = (url: string) => checkTarget(url, policy, resolve);
  return {
    catalogue,
    endpoints: createEndpoints(core, isTarget),
    /** @throws TargetError for a URL that must not be called */
    checkTarget: isTarget,
    /** Sends a form through the guarded client. */
    postForm: (request: Pick<WebhookRequest, 'url' | 'body' | 'owner'>) =>
      client.post({ ...request, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    ...createRedeliveries(core),
    publishing: eventPublishing(core, catalogue),
    kycChanged: kycChanged(core, catalogue),
    trigger: triggerEvent(core, catalogue),
    checkSignature: signatureCheck(core, { catalogue, client, secretOf }),
    /** Request of a past attempt. */
    requestOf: pastRequests(core, secretOf),
    /** Delivers. */
    worker: { ...dispatcher, stop },
    /** Ends attempts under way; later ones are made. */
    abort: () => client.abort(),
    /** Ends attempts under way and closes connections. */
    close: () => client.close(),
  };
}
