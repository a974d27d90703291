import { expect, it, vi } from 'vitest';
import { ana, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const host = new Host();
const loginUrl = vi.spyOn(host.login, 'loginUrl');
const provider = await startProvider({}, host);
const client = await provider.client();

/** Sends a browser to the host application's login. Returns the browser with the URL of the cancel page. */
async function toLogin(browser = provider.browser(null), changes: Record<string, string> = {}) {
  const login = await provider.follow(browser, provider.authorizeUrl(client, changes));
  expect(login.outcome).toBe('303 login');
  const cancelUrl = loginUrl.mock.lastCall?.[1].cancelUrl ?? '';
  /** Posts to the cancel URL, and follows the redirects. */
  const cancel = async () => {
    const { location } = await browser.post(cancelUrl, {});
    return provider.follow(browser, location ?? '');
  };
  return { browser, cancelUrl, cancel, interaction: login.callback.get('return_to') ?? '' };
}

it('a user who cancels the sign-in returns to the app once, with access_denied', async () => {
  const { browser, cancelUrl, cancel, interaction } = await toLogin(undefined, { state: 'abc' });
  const { location, callback } = await cancel();
  expect(location?.startsWith(client.redirectUri)).toBe(true);
  expect(Object.fromEntries(callback)).toEqual({
    error: 'access_denied',
    error_description: 'The user did not sign in.',
    state: 'abc',
    iss: provider.site,
  });
  for (const over of [cancelUrl, interaction]) expect((await browser.get(over)).status).toBe(400);
  // For a minute, a second click gets the same response.
  expect((await browser.post(cancelUrl, {})).location).toBe(location);
  provider.clock.advance(60_000);
  expect((await browser.post(cancelUrl, {})).outcome).toBe('400 invalid_request');
});

it('so does a signed-in user who must sign in again, and stays signed in', async () => {
  const browser = provider.browser();
  const { cancel } = await toLogin(browser, { prompt: 'login' });
  expect((await cancel()).callback.get('error')).toBe('access_denied');
  expect(host.isSignedIn(browser.name)).toBe(true);
});

it('the link shows a page that asks, in the language of the request, and changes nothing', async () => {
  const { browser, cancelUrl, interaction } = await toLogin(undefined, { ui_locales: 'fr' });
  for (const _ of [1, 2, 3]) {
    const page = await browser.get(cancelUrl);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.text).toContain(
      `<form class="actions" method="post" action="${cancelUrl.replaceAll('&', '&amp;')}">`,
    );
    expect(page.text).toContain('Revenir sans vous connecter');
  }
  provider.signIn(browser, ana.sub);
  expect((await browser.get(interaction)).status).toBe(200);
});

it('only the browser that was sent to the login can cancel, with a form of this site', async () => {
  const { browser, cancelUrl, interaction } = await toLogin();
  const other = await toLogin();
  for (const stranger of [provider.browser(null), other.browser]) {
    expect((await stranger.get(cancelUrl)).status).toBe(400);
    expect((await stranger.post(cancelUrl, {})).status).toBe(400);
  }
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await browser.post(cancelUrl, {}, foreign)).status).toBe(403);
  const cookie = browser.cookieHeader(new URL(cancelUrl).pathname);
  expect((await fetch(cancelUrl, { method: 'HEAD', headers: { cookie } })).status).toBe(200);
  provider.signIn(browser, ana.sub);
  expect((await browser.get(interaction)).status).toBe(200);
});

it('there is no redirect to an app that was disabled meanwhile', async () => {
  const { browser, cancelUrl } = await toLogin();
  await provider.ostiary.admin.clients.disable(client.id);
  expect((await browser.get(cancelUrl)).outcome).toBe('401 invalid_client');
  expect((await browser.post(cancelUrl, {})).outcome).toBe('401 invalid_client');
});
