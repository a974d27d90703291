import { describe, expect, it } from 'vitest';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();

it('a browser gets no session cookie, now or later, and is never kept signed in by Ostiary', async () => {
  const app = await provider.client();
  const browser = provider.browser();
  const started = await browser.get(provider.authorizeUrl(app));
  const approved = await (await showConsent(browser, started.location ?? '')).approve();
  const callback = await browser.get(approved.location ?? '');
  const cookies = [started, approved, callback].flatMap(({ headers }) => headers.getSetCookie());
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) expect(cookie).toMatch(/^svc_(interaction|resume)(\.sig)?=/);
  provider.signOut(browser);
  expect((await provider.follow(browser, provider.authorizeUrl(app))).outcome).toBe('303 login');
  expect((await browser.get('/account/apps')).outcome).toBe('303 login');
});

it('a sign-out before the page is shown, before it is answered, and after: each time the login comes first', async () => {
  const app = await provider.client();
  const page = await openConsent(provider, app);
  const { browser } = page;
  provider.signOut(browser);
  const { outcome, callback } = await browser.get(page.address);
  expect([outcome, callback.get('return_to')]).toEqual(['303 login', page.address]);
  expect((await page.approve()).outcome).toBe('303 login');

  provider.signIn(browser, ana.sub, 5_000);
  const approved = await page.approve();
  expect(approved.location).toContain('/oauth/authorize/');
  provider.signOut(browser);
  const after = await provider.follow(browser, approved.location ?? '');
  expect(after.outcome).toBe('303 login');
  provider.signIn(browser, ana.sub);
  const back = await provider.follow(browser, after.callback.get('return_to') ?? '');
  expect(await provider.subOf(app, back)).toBe(ana.sub);
});

describe('a switch of users during an interaction', () => {
  it('asks the new user, and takes no answer that the old one was asked for', async () => {
    const app = await provider.client();
    const before = await openConsent(provider, app);
    const { browser, address } = before;
    expect(before.text).toContain(ana.name);
    provider.signIn(browser, ben.sub, 1_000);
    const refused = await before.approve();
    expect([refused.status, refused.location]).toEqual([403, null]);

    const now = await showConsent(browser, address);
    expect(now.text).toContain(ben.name);
    expect(now.text).not.toContain(ana.name);
    expect(await provider.subOf(app, await now.finish())).toBe(ben.sub);
    // Nothing was remembered for the one who never answered.
    expect(await provider.attempt(app, { prompt: 'none' })).toBe('consent_required');
  });

  it('after the answer: the new user is asked, and no code goes out for either before', async () => {
    const app = await provider.client();
    const page = await openConsent(provider, app);
    const { browser, address } = page;
    const approved = await page.approve();
    provider.signIn(browser, ben.sub, 1_000);
    const next = await browser.get(approved.location ?? '');
    expect(next.outcome).toBe('303 interaction');
    expect(next.location).not.toBe(address);
    const shown = await showConsent(browser, next.location ?? '');
    expect(shown.text).toContain(ben.name);
    expect(await provider.subOf(app, await shown.finish())).toBe(ben.sub);
  });
});

it('prompt=none shows no page, whatever is missing', async () => {
  const app = await provider.client();
  const loopback = await provider.client({ redirectUris: ['http://localhost/cb'] });
  for (const [of, browser] of [
    [app, provider.browser(null)],
    [app, provider.browser()],
    [client, provider.browser(ben.sub)],
    [loopback, provider.browser()],
  ] as const) {
    for (const scope of ['openid', 'openid kyc', 'nonsense']) {
      const answer = await browser.get(provider.authorizeUrl(of, { prompt: 'none', scope }));
      expect([answer.status, answer.text]).toEqual([303, '']);
      expect(answer.location?.startsWith(of.redirectUri)).toBe(true);
    }
  }
});

it('"use another account" leads to the login with reauthenticate', async () => {
  const { text, address } = await openConsent(provider, await provider.client(), { login_hint: 'ana' });
  const href = /href="([^"]*\/login[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const { searchParams } = new URL(href, provider.origin);
  expect(searchParams.get('reauthenticate')).toBe('true');
  expect(searchParams.get('return_to')).toBe(address);
});
