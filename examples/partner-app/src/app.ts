import Router from '@koa/router';
import { OstiaryError } from '@ostiary/client-sdk';
import { FormError, scriptRoute, seeOther, unlessPrefetched } from '@ostiary/web-kit';
import Koa, { type Middleware } from 'koa';
import type { PartnerConfig } from './config.ts';
import { contentPolicy, Refusal, show, showLive } from './http.ts';
import { errorPage } from './pages/error-page.ts';
import { homePage } from './pages/home-page.ts';
import { identityPage } from './pages/identity-page.ts';
import { spaPage } from './pages/spa-page.ts';
import { wordsFor } from './pages/words.ts';
import { addPartnerRoutes, paymentsOf } from './partner-routes.ts';
import { createSessions } from './sessions.ts';
import { addSignInRoutes } from './sign-in.ts';
import { createTransfers } from './transfers.ts';
import { addWebhookRoutes } from './webhook-routes.ts';

/**
 * Makes the shop's application: it starts sign-ins, handles callbacks, and shows what the shop learned about
 * the user.
 */
export function createPartnerApp(config: PartnerConfig): Koa {
  const sessions = createSessions(config.url);
  const transfers = createTransfers();
  const router = new Router();

  // Remove the notice, so that it is shown only once.
  router.get('/', unlessPrefetched, (ctx) => {
    const session = sessions.of(ctx);
    const notice = session?.notice ?? null;
    if (session) session.notice = null;
    if (!session?.signedIn) return show(ctx, homePage(wordsFor(ctx), config, notice));
    showLive(
      ctx,
      identityPage(wordsFor(ctx), config, session.signedIn, paymentsOf(session, transfers), notice),
    );
  });

  router.post('/sign-out', (ctx) => {
    sessions.end(ctx);
    seeOther(ctx, '/');
  });

  addSignInRoutes(router, config, sessions);
  addPartnerRoutes(router, config, sessions, transfers);
  addWebhookRoutes(router, config, transfers);

  router.get('/spa', (ctx) => {
    const policy = contentPolicy("script-src 'self'", `connect-src ${config.provider.baseUrl}`);
    ctx.set('Content-Security-Policy', policy);
    show(ctx, spaPage(config));
  });

  for (const name of ['spa.js', 'live.js']) {
    router.get(`/${name}`, scriptRoute(new URL(`public/${name}`, import.meta.url)));
  }

  const app = new Koa();
  app.use(guard(config));
  app.use(router.routes());
  return app;
}

/**
 * Makes the middleware for all routes of the shop: it sets headers, refuses forms of other sites, and handles
 * errors.
 */
function guard(config: PartnerConfig): Middleware {
  return async (ctx, next) => {
    ctx.set({
      'Content-Security-Policy': contentPolicy(),
      'X-Content-Type-Options': 'nosniff',
      // The callback's URL contains a code, so other sites must not see it.
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    });
    // Refuse forms of other origins, which browsers name in this header.
    const { origin } = ctx.req.headers;
    if (ctx.method === 'POST' && origin !== undefined && origin !== config.url) {
      return show(
        ctx,
        errorPage(wordsFor(ctx), config, 'wrong_origin', 'This form was sent by another site.'),
        403,
      );
    }
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined)
        show(ctx, errorPage(wordsFor(ctx), config, 'not_found', ''), 404);
    } catch (error) {
      if (error instanceof FormError)
        return show(ctx, errorPage(wordsFor(ctx), config, 'invalid_request', error.message), error.status);
      if (error instanceof OstiaryError || error instanceof Refusal)
        return show(ctx, errorPage(wordsFor(ctx), config, error.code, error.message), 400);
      console.error(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error');
      show(ctx, errorPage(wordsFor(ctx), config, 'server_error', ''), 500);
    }
  };
}
