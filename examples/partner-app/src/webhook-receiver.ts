import type { WebhookEvent } from '@ostiary/webhook-verifier';
import { type DedupeStore, memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { type KoaContext, webhook } from '@ostiary/webhook-verifier/koa';
import type { WebhookMode, WebhookSettings } from './config.ts';
import type { Transfers } from './transfers.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

/** Receives webhooks. */
export interface WebhookReceiver {
  /** A middleware for the address of a mode that has a secret; put it before any body parser. */
  routeOf(mode: WebhookMode, secret: string): (ctx: KoaContext) => Promise<void>;
  /** Deliveries that will be answered with 500, so that one can watch them come again. */
  failures: number;
}

/** Somebody asked for it on the page. */
class PlannedFailure extends Error {
  override readonly name = 'PlannedFailure';
}

/** What the shop does about an event. It happens once per event: the receiver leaves duplicates out. */
function handle(event: WebhookEvent, transfers: Transfers): void {
  switch (event.type) {
    case 'payment.completed':
    case 'payment.failed':
      // Transfers of the sandbox are not among the shop's payments.
      if (event.mode === 'live') transfers.remember(event.data);
      break;
    // Nothing depends on the others; they are shown. So is whatever a newer Ostiary sends.
    default:
  }
}

/** Tells the inbox of events that were handled before. */
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

/** See {@link WebhookReceiver}. The verifier checks every delivery, and finds duplicates, before anything here runs. */
export function createWebhookReceiver(
  { prefix }: WebhookSettings,
  inbox: WebhookInbox,
  transfers: Transfers,
): WebhookReceiver {
  // In memory, like everything this shop remembers. Where events must be handled once across restarts, it is `sqlDedupe`.
  const dedupe = noticing(memoryDedupe(), inbox);
  const receiver: WebhookReceiver = {
    failures: 0,
    routeOf: (mode, secret) =>
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
          // The sandbox has a secret of its own, which must not vouch for real money.
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
