import type { WebhookEvent } from '@ostiary/webhook-verifier';
import { type DedupeStore, memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { type KoaContext, webhook } from '@ostiary/webhook-verifier/koa';
import type { WebhookMode, WebhookSettings } from './config.ts';
import type { Transfers } from './transfers.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

/** Error of a webhook handler that fails on purpose, as chosen on the page. */
class PlannedFailure extends Error {
  override readonly name = 'PlannedFailure';
}

/**
 * Handles a webhook event. The function runs once per event, because the receiver skips duplicates. Event
 * types other than payments have no effect and are only shown.
 */
function handle(event: WebhookEvent, transfers: Transfers): void {
  const isPayment = event.type === 'payment.completed' || event.type === 'payment.failed';
  // Sandbox transfers are not part of the shop's payments.
  if (isPayment && event.mode === 'live') transfers.remember(event.data);
}

/** Wraps a dedupe store so that it reports duplicates to the shop's inbox. */
function noticing(store: DedupeStore, inbox: WebhookInbox): DedupeStore {
  return {
    ...store,
    async claim(claim) {
      const outcome = await store.claim(claim);
      if (outcome === 'completed') inbox.repeated(claim.id);
      return outcome;
    },
  };
}

/**
 * Makes the receiver of webhooks. The verifier checks every delivery and skips duplicates before `handle`
 * runs.
 */
export function createWebhookReceiver(
  { prefix }: WebhookSettings,
  inbox: WebhookInbox,
  transfers: Transfers,
) {
  // In memory, like all data of this shop. Use `sqlDedupe` if events must be handled once even across
  // restarts.
  const dedupe = noticing(memoryDedupe(), inbox);
  const receiver = {
    /** Number of the next webhooks that get status 500, to show the retries. */
    failures: 0,
    /** Makes the middleware for the webhook URL of one mode. Put it before any body parser. */
    routeOf: (mode: WebhookMode, secret: string): ((ctx: KoaContext) => Promise<void>) =>
      webhook(
        {
          secret,
          prefix,
          dedupe,
          onRefused: ({ code }) => inbox.refused(mode, code),
          onError(error) {
            if (error instanceof PlannedFailure) return;
            console.error(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error');
          },
        },
        ({ event, attempt }) => {
          // Only live deliveries may concern real money, although the sandbox has its own secret.
          if (event.mode !== mode)
            throw new Error(`an event of mode ${event.mode} came to the address of ${mode}`);
          if (receiver.failures > 0) {
            receiver.failures -= 1;
            inbox.arrived(event, attempt, 'failed');
            throw new PlannedFailure();
          }
          handle(event, transfers);
          inbox.arrived(event, attempt, 'handled');
        },
      ),
  };
  return receiver;
}
