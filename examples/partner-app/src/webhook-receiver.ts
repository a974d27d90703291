import type { WebhookEvent } from '@ostiary/webhook-verifier';
import { type DedupeStore, memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { type KoaContext, webhook } from '@ostiary/webhook-verifier/koa';
import type { WebhookMode, WebhookSettings } from './config.ts';
import type { Transfers } from './transfers.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

/** Somebody asked for it on the page. */
class PlannedFailure extends Error {
  override readonly name = 'PlannedFailure';
}

/**
 * Handles an event, once per event, because the receiver skips duplicates. Other types have no effect and are
 * only shown, as are types of a newer Ostiary.
 */
function handle(event: WebhookEvent, transfers: Transfers): void {
  const isPayment = event.type === 'payment.completed' || event.type === 'payment.failed';
  // Transfers of the sandbox are not among the shop's payments.
  if (isPayment && event.mode === 'live') transfers.remember(event.data);
}

/** Reports events to the inbox that were handled before. */
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

/** Receives webhooks. The verifier checks every delivery, and finds duplicates, before anything here runs. */
export function createWebhookReceiver(
  { prefix }: WebhookSettings,
  inbox: WebhookInbox,
  transfers: Transfers,
) {
  // In memory, like everything this shop remembers. Where events must be handled once across restarts, it is `sqlDedupe`.
  const dedupe = noticing(memoryDedupe(), inbox);
  const receiver = {
    /** Deliveries that will be answered with 500, so that one can watch them come again. */
    failures: 0,
    /** A middleware for the address of a mode that has a secret; put it before any body parser. */
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
          // The sandbox has its own secret, which must not vouch for real money.
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
