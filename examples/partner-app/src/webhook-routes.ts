import type Router from '@koa/router';
import { readForm } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { type PartnerConfig, webhookModes } from './config.ts';
import type { LiveFeed } from './live-feed.ts';
import { failureChoices, receivedPart, webhooksPage } from './pages/webhooks-page.ts';
import type { Transfers } from './transfers.ts';
import { createWebhookInbox } from './webhook-inbox.ts';
import { createWebhookReceiver } from './webhook-receiver.ts';

/** What these routes need of the app around them. */
export interface WebhookSurroundings {
  readonly feed: LiveFeed;
  readonly transfers: Transfers;
  /** Shows a page that follows the feed. */
  readonly showLive: (ctx: Context, html: string) => void;
}

const loopbackHost = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Receives webhooks, and shows what came to whoever runs the shop. */
export function addWebhookRoutes(
  router: Router,
  config: PartnerConfig,
  { feed, transfers, showLive }: WebhookSurroundings,
): void {
  const { webhooks } = config;
  const inbox = createWebhookInbox(feed.changed);
  const receiver = webhooks && createWebhookReceiver(webhooks, inbox, transfers);
  for (const mode of webhookModes) {
    const secret = webhooks?.secrets[mode] ?? null;
    if (receiver !== null && secret !== null)
      router.post(`/webhooks/${mode}`, receiver.routeOf(mode, secret));
  }
  // What follows is for the shop's people. A real shop would ask who they are; this one shows it on their own machine only.
  if (!loopbackHost.test(new URL(config.url).hostname)) return;

  const state = () => ({
    failures: receiver?.failures ?? 0,
    events: inbox.events(),
    refusals: inbox.refusals(),
  });

  router.get('/webhooks', (ctx) => showLive(ctx, webhooksPage(config, state())));

  router.get('/webhooks/stream', (ctx) => feed.follow(ctx, () => receivedPart(state())));

  router.post('/webhooks/failures', async (ctx) => {
    const wanted = (await readForm(ctx.req)).get('count');
    const count = failureChoices.find((choice) => String(choice) === wanted);
    if (receiver !== null && count !== undefined) {
      receiver.failures = count;
      feed.changed();
    }
    ctx.status = 303;
    ctx.set('Location', `${config.url}/webhooks`);
  });
}
