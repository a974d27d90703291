import { expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ languages: ['en', 'fr', 'ht', 'es', 'pt'] });
const redirectUris = ['https://other.example/cb', 'https://app.example/deep/cb?x=1'];
const app = await provider.client({ name: 'Kafé <Lakay>', redirectUris });
const request = { redirect_uri: 'https://app.example/deep/cb?x=1' };
const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };

/** Returns the URL and the text of the link on an error page. */
function wayBack(text: string): (string | undefined)[] {
  const [, url, words] = /<a class="button" href="([^"]*)">(.*?)<\/a>/s.exec(text) ?? [];
  return [url, words?.replaceAll(/<\/?bdi>/g, '')];
}

/**
 * Sends a browser to the host application's login, where it stays for eleven minutes. Returns the URLs with
 * which the browser then continues or cancels.
 */
async function waitAtLogin(of = app, changes: Record<string, string> = request, on = provider) {
  const browser = on.browser(null);
  const { callback } = await on.follow(browser, on.authorizeUrl(of, changes));
  const returnTo = callback.get('return_to') ?? '';
  on.clock.advance(11 * 60_000);
  on.signIn(browser, ana.sub);
  return { browser, returnTo, cancelUrl: returnTo.replace(/(\?|$)/, '/cancel$1') };
}

it.each([
  ['en', 'Back to'],
  ['fr', 'Revenir'],
  ['ht', 'Tounen'],
  ['es', 'Volver'],
  ['pt', 'Voltar'],
])('in %s the page of a sign-in that took too long leads back to the app', async (language, words) => {
  const { browser, returnTo, cancelUrl } = await waitAtLogin();
  for (const address of [returnTo, cancelUrl]) {
    const { status, text } = await browser.get(address, { 'accept-language': language });
    expect([status, ...wayBack(text)]).toEqual([400, 'https://app.example/', expect.stringContaining(words)]);
    expect(wayBack(text)[1]).toContain('Kafé &lt;Lakay&gt;');
  }
  const posted = await browser.post(cancelUrl, {});
  expect([posted.status, wayBack(posted.text)[0]]).toEqual([400, 'https://app.example/']);
});

it('so does a consent page that is submitted after an hour', async () => {
  const browser = provider.browser();
  const { location } = await browser.get(provider.authorizeUrl(app, request));
  const { text } = await browser.get(location ?? '');
  const action = /action="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  provider.clock.advance(61 * 60_000);
  const answer = await browser.post(action, { decision: 'approve' });
  expect([answer.status, wayBack(answer.text)[0]]).toEqual([400, 'https://app.example/']);
});

it('an app on the device of the user gets a link to its loopback address, and none to its own scheme', async () => {
  const redirectUri = 'http://127.0.0.1/cb';
  const device = {
    redirectUris: [redirectUri, 'com.example.app:/cb'],
    public: true,
    loopbackPorts: 'any',
  } as const;
  const native = await provider.client(device);
  for (const [redirect_uri, url] of [
    ['http://127.0.0.1:4711/cb', 'http://127.0.0.1:4711/'],
    ['com.example.app:/cb', undefined],
  ] as const) {
    const { browser, returnTo } = await waitAtLogin(native, { redirect_uri, ...pkce });
    const { status, text } = await browser.get(returnTo);
    expect([redirect_uri, status, wayBack(text)[0]]).toEqual([redirect_uri, 400, url]);
  }
});

it.each([
  ['an origin that is not of the client', { origin: 'https://evil.example' }],
  ['http where https is registered', { origin: 'http://app.example' }],
  ['another port', { origin: 'https://app.example:444' }],
  ['user information', { origin: 'https://app.example@evil.example' }],
  ['a path', { origin: 'https://app.example/elsewhere' }],
  ['a script', { origin: 'javascript:alert(1)' }],
  ['null', { origin: 'null' }],
  ['a client that there is not', { client_id: 'nobody' }],
  ['a name of every object', { client_id: 'constructor' }],
])('a URL that somebody else wrote leads nowhere: %s', async (_what, changes) => {
  const { browser, returnTo } = await waitAtLogin();
  const url = new URL(returnTo);
  for (const [name, value] of Object.entries(changes)) url.searchParams.set(name, value);
  const twice = new URL(returnTo);
  twice.searchParams.append('origin', 'https://evil.example');
  for (const { href } of [url, twice]) {
    const { status, text } = await browser.get(href);
    expect([status, ...wayBack(text)]).toEqual([400, undefined, undefined]);
    expect(text).toContain('This page is no longer valid');
  }
});

it('a disabled client gets no link', async () => {
  const gone = await provider.client({ redirectUris });
  const { browser, returnTo } = await waitAtLogin(gone);
  expect(wayBack((await browser.get(returnTo)).text)[0]).toBe('https://app.example/');
  await provider.ostiary.admin.clients.disable(gone.id);
  expect(wayBack((await browser.get(returnTo)).text)[0]).toBeUndefined();
});

const pages = {
  en: ['This page is no longer valid', 'Your browser did not send our cookie'],
  fr: ['Cette page n’est plus valable', 'Votre navigateur n’a pas envoyé notre cookie'],
  ht: ['Paj sa a pa valab ankò', 'Navigatè ou pa voye cookie nou an'],
  es: ['Esta página ya no es válida', 'Su navegador no envió nuestra cookie'],
  pt: ['Esta página não é mais válida', 'O seu navegador não enviou o nosso cookie'],
};
const titleOf = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)?.[1];

it.each(Object.entries(pages))(
  'in %s a page without cookies names them, and a page that was open for too long does not',
  async (language, [tooOld, noCookie]) => {
    const accept = { 'accept-language': language };
    const browser = provider.browser(null);
    const { location: page } = await browser.get(provider.authorizeUrl(app, request));
    const toLogin = await browser.get(page ?? '');
    const returnTo = toLogin.callback.get('return_to') ?? '';
    const cancelUrl = returnTo.replace('?', '/cancel?');
    // The browser does not send the cookie, a minute later.
    provider.clock.advance(60_000);
    for (const address of [page ?? '', `${page}/resume`, returnTo, cancelUrl]) {
      const blocked = await browser.get(address, {
        ...accept,
        cookie: 'other=1; svc_interaction_of_another=1',
      });
      expect([address, blocked.outcome, titleOf(blocked.text)]).toEqual([
        address,
        '400 invalid_request',
        noCookie,
      ]);
      const link = address.includes('?') ? 'https://app.example/' : undefined;
      expect(wayBack(blocked.text)[0]).toBe(link);
    }
    expect(titleOf((await browser.post(cancelUrl, {}, { ...accept, cookie: '' })).text)).toBe(noCookie);
    // The browser has deleted the cookie at the end of the interaction, or kept it because its clock is
    // behind.
    provider.clock.advance(10 * 60_000);
    for (const cookies of [{ cookie: '' }, {}]) {
      const old = await browser.get(returnTo, { ...accept, ...cookies });
      expect([titleOf(old.text), wayBack(old.text)[0]]).toEqual([tooOld, 'https://app.example/']);
    }
  },
);

it('a forged time in the URL has no effect', async () => {
  const stranger = provider.browser(null);
  for (const began of ['', 'x', '1e999', '-1', '99999999999999', '1&began=2']) {
    const { status, text } = await stranger.get(`/oauth/interaction/nothing?began=${began}`);
    expect([began, status, Object.values(pages.en).includes(titleOf(text) ?? '')]).toEqual([
      began,
      400,
      true,
    ]);
  }
});
