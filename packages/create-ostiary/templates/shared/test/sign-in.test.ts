import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { demoClient } from '../src/demo-client.ts';
import { startApp } from './app.ts';
import { type Page, TestBrowser } from './browser.ts';

const [redirectUri = ''] = demoClient.redirectUris;
const ana = { handle: 'ana', password: 'kafe ak pen' };

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** Signs Ana in for the demo client, as an app with a library for OpenID Connect does. */
async function accessToken(scope: string): Promise<string> {
  const discovery = await fetch(`${app.origin}/.well-known/openid-configuration`).then((answer) =>
    answer.json(),
  );
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: demoClient.clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });

  const browser = new TestBrowser();
  const login = await browser.open(`${discovery.authorization_endpoint}?${parameters}`);
  assert.match(login.url, /\/login\?/);
  const consent = await browser.submit(login, ana);
  assert.match(consent.html, /Demo app/);
  const callback = await browser.submit(consent, { decision: 'approve' });
  assert.ok(callback.url.startsWith(`${redirectUri}?`), callback.html);
  const { searchParams } = new URL(callback.url);
  assert.equal(searchParams.get('state'), state);

  const answer = await fetch(discovery.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      client_id: demoClient.clientId,
      code_verifier: verifier,
    }),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()).access_token;
}

/** Asks the protected endpoint. */
async function askMe(authorization?: string) {
  const answer = await fetch(`${app.origin}/api/me`, { headers: authorization ? { authorization } : {} });
  return {
    status: answer.status,
    challenge: answer.headers.get('www-authenticate'),
    text: await answer.text(),
  };
}

/** Opens the login page and sends its form. */
async function signIn(returnTo: string, typed: Readonly<Record<string, string>>): Promise<Page> {
  const browser = new TestBrowser();
  const login = await browser.open(`${app.origin}/login?${new URLSearchParams({ return_to: returnTo })}`);
  return browser.submit(login, typed);
}

test('an app signs a user in, and calls the API with the token', async () => {
  const token = await accessToken('openid profile email');
  const { status, text } = await askMe(`Bearer ${token}`);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), { sub: 'user-ana', name: 'Ana Pierre' });
});

test('the API refuses requests without a token, with a wrong one, and without the scope', async () => {
  assert.deepEqual(await askMe(), { status: 401, challenge: 'Bearer', text: '' });
  const wrong = await askMe('Bearer nonsense');
  assert.deepEqual(wrong, { status: 401, challenge: 'Bearer error="invalid_token"', text: '' });
  const narrow = await askMe(`Bearer ${await accessToken('openid')}`);
  assert.deepEqual(narrow, {
    status: 403,
    challenge: 'Bearer error="insufficient_scope", scope="profile"',
    text: '',
  });
});

test('the login refuses a wrong password, and a form of another site', async () => {
  const wrong = await signIn('/', { ...ana, password: 'wrong' });
  assert.deepEqual(
    [wrong.status, wrong.cookies.some((cookie) => cookie.startsWith('session='))],
    [401, false],
  );
  const foreign = await new TestBrowser().open(`${app.origin}/login`, { ...ana, secret: 'made up' });
  assert.equal(foreign.status, 403);
});

test('the login goes back to paths of this site only', async () => {
  const home = `${app.origin}/`;
  for (const target of [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    '',
  ])
    assert.equal((await signIn(target, ana)).url, home, target);
  assert.equal((await signIn('/account/apps', ana)).url, `${app.origin}/account/apps`);
});
