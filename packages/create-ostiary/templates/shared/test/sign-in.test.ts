import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startKit } from './kit.ts';

const kit = await startKit();
after(() => kit.close());

/** Values that Ana types into the login form. */
const fields = { handle: 'ana', password: 'kafe ak pen' };
const bye = 'https://app.example/bye';
const allowedScopes = ['openid', 'profile', 'email'] as const;
const app = await kit.app({ allowedScopes, postLogoutRedirectUris: [bye] });

test('an app signs a user in, and calls the API with the token', async () => {
  const session = await app.signIn({ fields });
  assert.equal(session.userinfo.email, 'ana@example.com');
  const answer = await session.fetch('/api/me');
  assert.deepEqual(await answer.json(), { sub: 'user-ana', name: 'Ana Pierre' });
});

test('the API refuses requests without a token, or with one that lacks the scope', async () => {
  assert.equal((await kit.fetch(`${kit.authUrl}/api/me`)).status, 401);
  const session = await app.signIn({ fields, scopes: ['openid'] });
  assert.equal((await session.fetch('/api/me')).status, 403);
});

test('an app signs a user out', async () => {
  const { browser, tokens } = await app.signIn({ fields });
  assert.match((await browser.open('/')).text, /Signed in as user-ana/);
  const query = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: bye };
  assert.equal((await browser.walk(`/oauth/logout?${new URLSearchParams(query)}`)).href, bye);
  assert.match((await browser.open('/')).text, /Nobody is signed in/);
});
