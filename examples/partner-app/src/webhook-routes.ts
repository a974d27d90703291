import type Router from '@koa/router';
import { isLoopbackUrl, readForm, seeOther } from '@ostiary/web-kit';
import { type PartnerConfig, webhookModes } from './config.ts';
import { show, showLive } from './http.ts';
import { failureChoices, receivedPart, webhooksPage } from './pages/webhooks-page.ts';
import type { Transfers } from './transfers.ts';
import { createWebhookInbox } from './webhook-inbox.ts';
import { createWebhookReceiver } from './webhook-receiver.ts';

/** Adds the routes that receive webhooks and show them to the shop's staff. */
export function addWebhookRoutes(router: Router, config: PartnerConfig, transfers: Transfers): void {
  const { webhooks } = config;
  const inbox = createWebhookInbox();
  const receiver = webhooks && createWebhookReceiver(webhooks, inbox, transfers);
  for (const mode of webhookModes) {
    const secret = webhooks?.secrets[mode] ?? null;
    if (receiver !== null && secret !== null)
      router.post(`/webhooks/${mode}`, receiver.routeOf(mode, secret));
  }
  // The routes below are for the shop's staff. A real shop would authenticate them; this one serves them on
  // the staff's own machine only.
  if (!isLoopbackUrl(config.url)) return;

  const state = () => ({
    failures: receiver?.failures ?? 0,
    events: inbox.events(),
    refusals: inbox.refusals(),
  });

  router.get('/webhooks', (ctx) => showLive(ctx, webhooksPage(config, state())));

  // HTML fragment for `live.js`.
  router.get('/webhooks/received', (ctx) => show(ctx, receivedPart(state())));

  router.post('/webhooks/failures', async (ctx) => {
    const wanted = (await readForm(ctx.req)).get('count');
    const count = failureChoices.find((choice) => String(choice) === wanted);
    if (receiver !== null && count !== undefined) receiver.failures = count;
    seeOther(ctx, '/webhooks');
  });
}
