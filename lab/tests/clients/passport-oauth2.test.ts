import type { IncomingMessage } from 'node:http';
import OAuth2Strategy from 'passport-oauth2';
import { expect, it } from 'vitest';
import { startProvider } from '../../../packages/core/test/support/running.ts';

/** Result of one request to a Passport strategy, as Passport would see the result. */
type Outcome = { readonly redirect: string } | { readonly user: unknown } | { readonly failure: unknown };

/** Runs a Passport strategy as Passport does, with a given session. */
function authenticate(strategy: OAuth2Strategy, url: string, session: object): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const augmented = Object.create(strategy, {
      redirect: { value: (redirect: string) => resolve({ redirect }) },
      success: { value: (user: unknown) => resolve({ user }) },
      fail: { value: (failure: unknown) => resolve({ failure }) },
      error: { value: reject },
    });
    const query = Object.fromEntries(new URL(url, 'http://app.example').searchParams);
    augmented.authenticate({ url, query, session, headers: {} } as unknown as IncomingMessage, {});
  });
}

const provider = await startProvider();

it.each([false, true])('signs a user in (pkce: %s)', async (pkce) => {
  const redirectUri = 'http://127.0.0.1:9/callback';
  const client = await provider.client({ redirectUris: [redirectUri] });
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${provider.origin}/oauth/authorize`,
      tokenURL: `${provider.origin}/v1/oauth/token`,
      clientID: client.id,
      clientSecret: client.secret ?? '',
      callbackURL: redirectUri,
      scope: ['openid', 'profile'],
      state: true,
      pkce,
    },
    (accessToken: string, _refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) =>
      done(null, { accessToken }),
  );
  const session = {};
  const start = await authenticate(strategy, '/login', session);
  const { location } = await provider.follow(provider.browser(), 'redirect' in start ? start.redirect : '');
  const callback = new URL(location ?? '');
  const outcome = await authenticate(strategy, callback.pathname + callback.search, session);
  const user = 'user' in outcome ? (outcome.user as { accessToken: string }) : { accessToken: '' };
  expect((await provider.userinfo(user.accessToken)).json()).toMatchObject({ handle: 'ana' });
});
