import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Router from '@koa/router';
import { OstiaryError } from '@ostiary/client-sdk';
import { contentPolicy, FormError, readForm } from '@ostiary/web-kit';
import Koa, { type Context } from 'koa';
import type { PartnerConfig } from './config.ts';
import { createLiveFeed } from './live-feed.ts';
import { paymentsPart } from './pages/cashback.ts';
import { errorPage } from './pages/error-page.ts';
import { homePage, scopeChoices } from './pages/home-page.ts';
import { identityPage } from './pages/identity-page.ts';
import { styleHash } from './pages/layout.ts';
import { spaPage } from './pages/spa-page.ts';
import { addPartnerRoutes, paymentsOf } from './partner-routes.ts';
import { Refusal } from './refusal.ts';
import { createPartnerSessions, newSession, type PartnerSession } from './sessions.ts';
import { belongsTo, createSignIn } from './sign-in.ts';
import { createTransfers } from './transfers.ts';
import { addWebhookRoutes } from './webhook-routes.ts';

const cookieName = 'kafe_lakay_session';

const policy = (...more: readonly string[]): string =>
  contentPolicy(styleHash, "img-src 'self' https: data:", ...more);

/** The shop: begins a sign-in, takes the answer, shows what it learned. `close` ends what pages are listening to. */
export function createPartnerApp(config: PartnerConfig): { readonly app: Koa; close(): void } {
  const { provider, clients, url } = config;
  const signIn = createSignIn(config);
  const sessions = createPartnerSessions();
  const feed = createLiveFeed();
  const transfers = createTransfers(feed.changed);
  const router = new Router();

  const idOf = (ctx: Context): string | undefined => ctx.cookies.get(cookieName);
  const sessionOf = (ctx: Context): PartnerSession | null => sessions.get(idOf(ctx));

  function setCookie(ctx: Context, id: string | null): void {
    const secure = url.startsWith('https:') ? '; Secure' : '';
    const end = id === null ? '; Max-Age=0' : '';
    ctx.append('Set-Cookie', `${cookieName}=${id ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure}${end}`);
  }

  /** An id that was there before the sign-in may have been planted; the browser gets a fresh one. */
  function restart(ctx: Context, session: PartnerSession): void {
    const old = idOf(ctx);
    if (old !== undefined) sessions.end(old);
    setCookie(ctx, sessions.start(session));
  }

  function show(ctx: Context, html: string, status = 200): void {
    ctx.status = status;
    ctx.type = 'html';
    ctx.body = html;
  }

  /** A page with the script that follows the shop's feed. */
  function showLive(ctx: Context, html: string): void {
    ctx.set('Content-Security-Policy', policy("script-src 'self'", "connect-src 'self'"));
    show(ctx, html);
  }

  function goHome(ctx: Context): void {
    ctx.status = 303;
    ctx.set('Location', `${url}/`);
  }

  router.get('/', (ctx) => {
    const session = sessionOf(ctx);
    const notice = session?.notice ?? null;
    if (session) session.notice = null;
    if (!session?.signedIn) return show(ctx, homePage(config, notice));
    showLive(ctx, identityPage(config, session.signedIn, paymentsOf(session, transfers), notice));
  });

  router.post('/sign-in', async (ctx) => {
    const form = await readForm(ctx.req, ['scope']);
    const client = form.get('client') === 'public' ? clients.public : clients.confidential;
    const scopes = scopeChoices.map(({ name }) => name).filter((name) => form.getAll('scope').includes(name));
    if (scopes.length === 0) {
      restart(ctx, newSession({ notice: { kind: 'bad', text: 'Choose at least one scope.' } }));
      return goHome(ctx);
    }
    const { url: consentScreen, pending } = await signIn.begin(client, scopes);
    const session = sessionOf(ctx);
    if (session) session.pending = [...session.pending.slice(-4), pending];
    else restart(ctx, newSession({ pending: [pending] }));
    ctx.status = 303;
    ctx.set('Location', consentScreen);
  });

  router.get(['/callback', '/callback/public'], async (ctx) => {
    const query = new URLSearchParams(ctx.querystring);
    const session = sessionOf(ctx);
    const state = query.get('state') ?? '';
    const pending = session?.pending.find((candidate) => belongsTo(candidate, state));
    if (!session || !pending || new URL(pending.client.redirectUri).pathname !== ctx.path) {
      throw new Refusal('wrong_state', 'This answer does not belong to a sign-in of this browser.');
    }
    // Taken out first: an answer counts once, whatever it is.
    session.pending = session.pending.filter((candidate) => candidate !== pending);
    const tokens = await signIn.finish(pending, `${url}${ctx.path}?${query}`);
    const identity = await signIn.identity(tokens);
    const { clientId } = pending.client;
    restart(ctx, newSession({ signedIn: { clientId, tokens, identity, readAt: new Date() } }));
    goHome(ctx);
  });

  router.post('/refresh', async (ctx) => {
    const session = sessionOf(ctx);
    if (session?.signedIn) {
      try {
        const identity = await signIn.identity(session.signedIn.tokens);
        session.signedIn = { ...session.signedIn, identity, readAt: new Date() };
        session.notice = { kind: 'good', text: 'Read again: the token is alive.' };
      } catch (error) {
        if (!(error instanceof OstiaryError)) throw error;
        session.notice = { kind: 'bad', text: `The provider answered ${error.code}: ${error.message}` };
      }
    }
    goHome(ctx);
  });

  router.post('/revoke', async (ctx) => {
    const session = sessionOf(ctx);
    if (session?.signedIn) {
      await signIn.revoke(session.signedIn.tokens);
      session.notice = {
        kind: 'good',
        text: 'Revoked. Read the identity again to see that the token is dead.',
      };
    }
    goHome(ctx);
  });

  router.post('/sign-out', (ctx) => {
    const id = idOf(ctx);
    if (id !== undefined) sessions.end(id);
    setCookie(ctx, null);
    goHome(ctx);
  });

  addPartnerRoutes(router, config, { sessionOf, show, goHome, transfers });

  // Asked at every change: who signed out meanwhile sees nothing more.
  router.get('/cashback/stream', (ctx) =>
    feed.follow(ctx, () => paymentsPart(paymentsOf(sessionOf(ctx), transfers))),
  );

  addWebhookRoutes(router, config, { feed, transfers, showLive });

  router.get('/spa', (ctx) => {
    ctx.set('Content-Security-Policy', policy("script-src 'self'", `connect-src ${provider.baseUrl}`));
    show(ctx, spaPage(config));
  });

  for (const name of ['spa.js', 'live.js']) {
    const script = readFileSync(join(import.meta.dirname, 'public', name));
    router.get(`/${name}`, (ctx) => {
      ctx.type = 'text/javascript';
      ctx.body = script;
    });
  }

  const app = new Koa();
  app.use(async (ctx, next) => {
    ctx.set({
      'Content-Security-Policy': policy(),
      'X-Content-Type-Options': 'nosniff',
      // The callback's address holds a code: no other site may learn it.
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    });
    // Browsers name the page that sends a form; another one's forms are not for us.
    const { origin } = ctx.req.headers;
    if (ctx.method === 'POST' && origin !== undefined && origin !== url) {
      return show(ctx, errorPage(config, 'wrong_origin', 'This form was sent by another site.'), 403);
    }
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) show(ctx, errorPage(config, 'not_found', ''), 404);
    } catch (error) {
      if (error instanceof FormError)
        return show(ctx, errorPage(config, 'invalid_request', error.message), error.status);
      if (error instanceof OstiaryError || error instanceof Refusal)
        return show(ctx, errorPage(config, error.code, error.message), 400);
      console.error(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error');
      show(ctx, errorPage(config, 'server_error', ''), 500);
    }
  });
  app.use(router.routes());
  app.on('error', (error: unknown) => {
    // A page that was closed ends its stream in the middle; that is how it ends.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    console.error(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error');
  });
  return { app, close: feed.close };
}
