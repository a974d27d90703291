import { expect, test } from 'vitest';
import { createAskingApps } from '../../src/sign-in/asking-apps.ts';
import { anaika, startServer } from '../support/server.ts';
import { fieldsOf, Visitor } from '../support/visitor.ts';

const redirectUri = 'https://shop.example/callback';
const name = 'Kafe <i>Lakay</i>';

/** Starts a server with an app, and returns the sign-in URL to which the app has sent a visitor. */
async function askedByApp(query: Readonly<Record<string, string>> = {}) {
  const started = await startServer();
  const { admin } = started.server.installation.ostiary;
  const { client } = await admin.clients.create({
    ...{ name, redirectUris: [redirectUri], allowedScopes: ['openid'] },
    requirePkce: false,
  });
  const visitor = new Visitor(started.origin, { 'Accept-Language': 'en' });
  const request = { client_id: client.clientId, redirect_uri: redirectUri, scope: 'openid' };
  const parameters = new URLSearchParams({ response_type: 'code', state: 'abc', ...request, ...query });
  const toPage = await visitor.get(`/oauth/authorize?${parameters}`);
  const toLogin = await visitor.get(toPage.location ?? '');
  const login = new URL(toLogin.location ?? '');
  return { ...started, visitor, login };
}

const pathOf = ({ pathname, search }: URL) => pathname + search;

/** Finds the form that returns to the app without a sign-in: its URL, and the name of its button. */
function backOf(html: string): { readonly action: string; readonly name: string } | null {
  const [, action] = /<form id="back" method="post" action="([^"]+)"><\/form>/.exec(html) ?? [];
  const button = /<button class="button" type="submit" form="back"><span>Back to (.*?)<\/span><\/button>/;
  const [, shown] = button.exec(html) ?? [];
  if (action === undefined || shown === undefined) return null;
  return { action: action.replaceAll('&amp;', '&'), name: shown };
}

const shownName = '<bdi>Kafe &lt;i&gt;Lakay&lt;/i&gt;</bdi>';

test('the sign-in page names the requesting app, and links back to it without a sign-in', async () => {
  const { visitor, login } = await askedByApp();
  const { html } = await visitor.get(pathOf(login));
  expect(html).toContain(`Use your account to continue to <strong>${shownName}</strong>.`);
  const form = backOf(html);
  expect(form?.name).toBe(shownName);
  const cancel = new URL(form?.action ?? '');
  // A GET of the form's URL shows a page that asks for confirmation.
  const asked = await visitor.get(pathOf(cancel));
  expect(asked.html).toContain(`method="post" action="${cancel.href.replaceAll('&', '&amp;')}"`);
  const cancelled = await visitor.post(pathOf(cancel), {});
  const back = new URL((await visitor.get(new URL(cancelled.location ?? '').pathname)).location ?? '');
  expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
  expect(back.searchParams.get('error')).toBe('access_denied');
  expect(back.searchParams.get('state')).toBe('abc');
});

test('it still does after a wrong password, and the sign-in continues to the app', async () => {
  const { visitor, login } = await askedByApp();
  const { html } = await visitor.get(pathOf(login));
  const wrong = await visitor.post('/login', { ...fieldsOf(html), handle: 'anaika', password: 'wrong' });
  expect(wrong.status).toBe(422);
  expect(backOf(wrong.html)?.name).toBe(shownName);
  const right = await visitor.post('/login', { ...fieldsOf(wrong.html), ...anaika });
  expect(right.location).toBe(login.searchParams.get('return_to'));
});

test('a signed-in user who must sign in again can go back, too', async () => {
  const { visitor, login } = await askedByApp({ prompt: 'login' });
  await visitor.signIn('anaika', anaika.password);
  const { html } = await visitor.get(pathOf(login));
  expect(html).toContain('<h1>Sign in again</h1>');
  expect(html).toContain(`or use another account, to continue to <strong>${shownName}</strong>.`);
  expect(backOf(html)?.name).toBe(shownName);
});

test('other sites can neither name an app on the page nor change the target of its link', async () => {
  const { visitor, login, origin } = await askedByApp();
  const app = login.searchParams.get('app') ?? '';
  const [content = '', proof = ''] = app.split('.');
  const evil = { name: 'Your bank', cancelUrl: 'https://evil.example' };
  const key: [Uint8Array] = [new Uint8Array(32)];
  const returnTo = login.searchParams.get('return_to') ?? '';
  const forgeries = [
    `${Buffer.from(JSON.stringify([evil.name, evil.cancelUrl])).toString('base64url')}.${proof}`,
    createAskingApps(key).sealed(returnTo, evil),
    ...[`${content}.`, content, `.${proof}`, 'Your bank', '"><script>alert(1)</script>'],
  ];
  for (const forged of forgeries) {
    login.searchParams.set('app', forged);
    const { status, html } = await visitor.get(pathOf(login));
    expect([status, backOf(html)]).toEqual([200, null]);
    expect(html).toContain('Use your account to continue.');
    expect(html).not.toMatch(/bank|evil/);
  }
  // A signature for one authorization request is not valid for another, or for a page of this server.
  login.searchParams.set('app', app);
  for (const elsewhere of [`${returnTo}x`, `${origin}/passport`, 'https://evil.example']) {
    login.searchParams.set('return_to', elsewhere);
    expect(backOf((await visitor.get(pathOf(login))).html)).toBeNull();
  }
});

test('a signature of one process is valid in a process with the keys in another order', () => {
  const [old, next] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const app = { name: 'Kafe', cancelUrl: 'https://id.example/oauth/interaction/a/cancel' };
  const sealed = createAskingApps([next, old]).sealed('https://id.example/', app);
  expect(createAskingApps([old, next]).opened('https://id.example/', sealed)).toEqual(app);
  expect(createAskingApps([old]).opened('https://id.example/', sealed)).toBeNull();
});
