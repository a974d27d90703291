import { describe, expect, it, vi } from 'vitest';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client);

/** Returns a URL without its query string. */
const pageOf = (url: string | null): string | undefined => url?.split('?')[0];

it('a browser gets no session cookie, now or later, and is never kept signed in by Ostiary', async () => {
  const app = await provider.client();
  const browser = provider.browser();
  const started = await browser.get(provider.authorizeUrl(app));
  const approved = await (await showConsent(browser, started.location ?? '')).approve();
  const callback = await browser.get(approved.location ?? '');
  const cookies = [started, approved, callback].flatMap(({ headers }) => headers.getSetCookie());
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) expect(cookie).toMatch(/^svc_interaction(\.sig)?=/);
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
  expect([outcome, pageOf(callback.get('return_to'))]).toEqual(['303 login', page.address]);
  expect((await page.approve()).outcome).toBe('303 login');

  provider.signIn(browser, ana.sub, 5_000);
  const approved = await page.approve();
  expect(approved.location).toMatch(/\/oauth\/interaction\/[\w-]+\/resume$/);
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
    for (const answer of [await before.approve(), await before.deny()])
      expect([answer.status, pageOf(answer.location)]).toEqual([303, address]);

    const now = await showConsent(browser, address);
    expect(now.text).toContain(ben.name);
    expect(now.text).not.toContain(ana.name);
    expect(await provider.subOf(app, await now.finish())).toBe(ben.sub);
    // No decision was stored for the user who made none.
    expect(await provider.attempt(app, { prompt: 'none' })).toBe('consent_required');
  });

  it('shows the new user’s apps when the page of the old one removes an app, and removes nothing', async () => {
    const app = await provider.client();
    for (const { sub } of [ana, ben]) await provider.code(app, {}, provider.browser(sub));
    const browser = provider.browser();
    const csrf = (await provider.connectedApps(browser)).get(app.id) ?? '';
    provider.signIn(browser, ben.sub);
    const { location } = await browser.post(`/account/apps/${app.id}/revoke`, { csrf });
    expect(location).toBe(`${provider.site}/account/apps`);
    for (const { sub } of [ana, ben])
      expect((await provider.connectedApps(provider.browser(sub))).has(app.id)).toBe(true);
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

it('"use another account" leads to the login with reauthenticate', async () => {
  const { text, address } = await openConsent(provider, await provider.client(), { login_hint: 'ana' });
  const href = /href="([^"]*\/login[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const { searchParams } = new URL(href, provider.origin);
  expect(searchParams.get('reauthenticate')).toBe('true');
  expect(pageOf(searchParams.get('return_to'))).toBe(address);
});

it('the login gets the name of the requesting app, and none for the page of connected apps', async () => {
  const host = new Host();
  const loginUrl = vi.spyOn(host.login, 'loginUrl');
  const watched = await startProvider({}, host);
  const app = await watched.client({ name: 'Kafé <Lakay>' });
  const browser = watched.browser(null);
  const login = await watched.follow(browser, watched.authorizeUrl(app, { ui_locales: 'ht' }));
  const cancelUrl = String(login.callback.get('return_to')).replace('?', '/cancel?');
  await browser.get(`${watched.site}/account/apps`);
  expect(loginUrl.mock.calls.map(([, request]) => request)).toEqual([
    {
      reauthenticate: false,
      client: { clientId: app.id, name: 'Kafé <Lakay>' },
      cancelUrl,
      uiLocales: ['ht'],
    },
    { reauthenticate: false },
  ]);
});

describe.each([
  ['without more', {}],
  ['with prompt=login', { prompt: 'login' }],
  ['with max_age', { max_age: '3600' }],
] as const)('a sign-in that is more than a minute in the future, %s,', (_name, changes) => {
  it('is refused without ending the interaction: a page shows an error, and the log has the reason', async () => {
    const browser = provider.browser(null);
    const { location } = await browser.get(provider.authorizeUrl(client, changes));
    provider.signIn(browser, ana.sub, -60_001);
    provider.logged.length = 0;
    expect(await provider.attempt(client, changes, browser)).toBe('500 server_error');
    expect((await browser.get(location ?? '')).outcome).toBe('500 server_error');
    const message = expect.stringContaining('authenticatedAt is more than a minute in the future');
    const line = { level: 'error', fields: { err: { message } } };
    expect(provider.logged).toMatchObject([line, line]);
    provider.signIn(browser, ana.sub, -60_000);
    expect((await provider.follow(browser, location ?? '')).outcome).toBe('303 code');
  });
});
