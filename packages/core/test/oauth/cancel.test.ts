import { expect, it, vi } from 'vitest';
import { ana, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const host = new Host();
const loginUrl = vi.spyOn(host.login, 'loginUrl');
const provider = await startProvider({}, host);
const client = await provider.client();

/** Sends a browser to the login, which is told how to cancel. */
async function toLogin(browser = provider.browser(null), changes: Record<string, string> = {}) {
  const login = await provider.follow(browser, provider.authorizeUrl(client, changes));
  expect(login.outcome).toBe('303 login');
  const cancelUrl = loginUrl.mock.lastCall?.[1].cancelUrl ?? '';
  return { browser, cancelUrl, interaction: login.callback.get('return_to') ?? '' };
}

it('somebody who does not want to sign in goes back to the app, which hears access_denied, once', async () => {
  const { browser, cancelUrl, interaction } = await toLogin(undefined, { state: 'abc' });
  const { location, callback } = await provider.follow(browser, cancelUrl);
  expect(location?.startsWith(client.redirectUri)).toBe(true);
  expect(Object.fromEntries(callback)).toEqual({
    error: 'access_denied',
    error_description: 'The user did not sign in.',
    state: 'abc',
    iss: provider.site,
  });
  for (const over of [cancelUrl, interaction]) expect((await browser.get(over)).status).toBe(400);
});

it('so does somebody who is signed in and was asked again, and stays signed in', async () => {
  const browser = provider.browser();
  const { cancelUrl } = await toLogin(browser, { prompt: 'login' });
  expect((await provider.follow(browser, cancelUrl)).callback.get('error')).toBe('access_denied');
  expect(host.isSignedIn(browser.name)).toBe(true);
});

it('only the browser that was sent to the login can cancel, and looking at the link cancels nothing', async () => {
  const { browser, cancelUrl, interaction } = await toLogin();
  expect((await provider.browser(null).get(cancelUrl)).status).toBe(400);
  const other = await toLogin();
  expect((await other.browser.get(cancelUrl)).status).toBe(400);
  const cookie = browser.cookieHeader(new URL(cancelUrl).pathname);
  expect((await fetch(cancelUrl, { method: 'HEAD', headers: { cookie } })).status).toBe(200);
  provider.signIn(browser, ana.sub);
  expect((await browser.get(interaction)).status).toBe(200);
});

it('an app that was disabled meanwhile is not gone back to', async () => {
  const { browser, cancelUrl } = await toLogin();
  await provider.ostiary.admin.clients.disable(client.id);
  expect((await browser.get(cancelUrl)).outcome).toBe('401 invalid_client');
});
