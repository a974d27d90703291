import type Router from '@koa/router';
import { OstiaryError } from '@ostiary/client-sdk';
import { OstiaryOAuth } from '@ostiary/client-sdk/oauth';
import { fillText, readForm, seeOther, unlessPrefetched } from '@ostiary/web-kit';
import { type PartnerConfig, patience, redirectUris } from './config.ts';
import { Refusal } from './http.ts';
import { scopeChoices } from './pages/home-page.ts';
import { wordsFor } from './pages/words.ts';
import type { Sessions } from './sessions.ts';

/**
 * Adds "Sign in with Ostiary" for each client of the shop, and the routes for the customer's token. An error of
 * a sign-in or a revocation becomes an error page.
 */
export function addSignInRoutes(router: Router, config: PartnerConfig, sessions: Sessions): void {
  const { provider, clients, url } = config;
  const uris = redirectUris(url);
  const oauthOf = (client: 'confidential' | 'public'): OstiaryOAuth =>
    new OstiaryOAuth({
      authUrl: provider.authUrl,
      baseUrl: provider.baseUrl,
      clientId: clients[client].clientId,
      clientSecret: clients[client].clientSecret ?? undefined,
      redirectUri: uris[client],
      ...patience,
    });
  const oauth = { confidential: oauthOf('confidential'), public: oauthOf('public') };

  router.post('/sign-in', async (ctx) => {
    const form = await readForm(ctx.req, ['scope']);
    const client = form.get('client') === 'public' ? 'public' : 'confidential';
    const scope = scopeChoices.map(({ name }) => name).filter((name) => form.getAll('scope').includes(name));
    if (scope.length === 0) {
      sessions.start(ctx, { notice: { kind: 'bad', text: wordsFor(ctx).chooseOne } });
      return seeOther(ctx, '/');
    }
    const { url: consentScreen, state, codeVerifier } = await oauth[client].authorizeUrl({ scope });
    const pending = { client, state, codeVerifier } as const;
    const session = sessions.of(ctx);
    if (session) session.pending = [...session.pending.slice(-4), pending];
    else sessions.start(ctx, { pending: [pending] });
    seeOther(ctx, consentScreen);
  });

  router.get(['/callback', '/callback/public'], unlessPrefetched, async (ctx) => {
    const callbackUrl = `${url}${ctx.url}`;
    const session = sessions.of(ctx);
    const { state } = ctx.query;
    const pending = session?.pending.find((candidate) => candidate.state === state);
    if (!session || !pending || uris[pending.client] !== `${url}${ctx.path}`) {
      throw new Refusal('wrong_state', 'This answer does not belong to a sign-in of this browser.');
    }
    // Remove the sign-in first, so that a callback counts only once, even an invalid one.
    session.pending = session.pending.filter((candidate) => candidate !== pending);
    const { client, codeVerifier } = pending;
    const tokens = await oauth[client].exchange({ callbackUrl, state: pending.state, codeVerifier });
    const { accessToken, scope, expiresIn } = tokens;
    const identity = await oauth[client].userinfo(accessToken);
    const expiresAt = new Date(Date.now() + expiresIn * 1_000);
    const signedIn = { client, accessToken, scope, expiresAt, identity, readAt: new Date() };
    // Other tabs may be in the middle of their sign-in.
    sessions.start(ctx, { signedIn, pending: session.pending });
    seeOther(ctx, '/');
  });

  router.post('/refresh', async (ctx) => {
    const session = sessions.of(ctx);
    if (session?.signedIn) {
      try {
        const identity = await oauth.confidential.userinfo(session.signedIn.accessToken);
        session.signedIn = { ...session.signedIn, identity, readAt: new Date() };
        session.notice = { kind: 'good', text: wordsFor(ctx).alive };
      } catch (error) {
        if (!(error instanceof OstiaryError)) throw error;
        const { code, message } = error;
        session.notice = {
          kind: 'bad',
          text: fillText(wordsFor(ctx).language, wordsFor(ctx).answered, { code, message }),
        };
      }
    }
    seeOther(ctx, '/');
  });

  router.post('/revoke', async (ctx) => {
    const session = sessions.of(ctx);
    if (session?.signedIn) {
      // Any holder of a token may revoke it, so the client does not matter.
      await oauth.confidential.revoke(session.signedIn.accessToken);
      session.notice = { kind: 'good', text: wordsFor(ctx).revoked };
    }
    seeOther(ctx, '/');
  });
}
