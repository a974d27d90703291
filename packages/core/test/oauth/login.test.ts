import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestBrowser } from '../support/browser.ts';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());
beforeAll(async () => {
  client = await provider.client();
});

const ago = (ms: number): Date => new Date(provider.clock.now() - ms);
const parameters = (location: string | null): URLSearchParams => new URL(location ?? '').searchParams;

/** Starts a request, and answers the address of the consent page (or of the login). */
async function begin(
  browser: TestBrowser,
  changes: Record<string, string> = {},
  of = client,
): Promise<string> {
  return (await browser.get(provider.authorizeUrl(of, changes))).location ?? '';
}

/** Shows the consent page, and answers its form token. */
async function show(browser: TestBrowser, interaction: string): Promise<{ text: string; csrf: string }> {
  const { status, text } = await browser.get(interaction);
  expect(status).toBe(200);
  return { text, csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' };
}

const userOf = async (location: string | null, of = client): Promise<unknown> => {
  const { access_token } = (await provider.exchange(of, parameters(location).get('code') ?? '')).json();
  return (await provider.userinfo(String(access_token))).json().sub;
};

describe('nobody signed in', () => {
  it('goes to the login of the host, and from there back into the request', async () => {
    const browser = provider.browser(null);
    const login = await provider.follow(browser, provider.authorizeUrl(client));
    expect(login.location).toMatch(`${provider.origin}/login?`);
    expect(parameters(login.location).get('reauthenticate')).toBe('false');
    const returnTo = parameters(login.location).get('return_to') ?? '';
    expect(returnTo).toMatch(new RegExp(`^${provider.origin}/oauth/interaction/[A-Za-z0-9_-]+$`));
    provider.host.signIn(browser.name, ana.sub, ago(0));
    expect(await userOf((await provider.follow(browser, returnTo)).location)).toBe(ana.sub);
  });

  it('goes there again when the host sends the browser back without a sign-in', async () => {
    const browser = provider.browser(null);
    const login = await provider.follow(browser, provider.authorizeUrl(client));
    const again = await provider.follow(browser, parameters(login.location).get('return_to') ?? '');
    expect(again.location).toBe(login.location);
  });

  it('is never kept signed in by cookies of Ostiary', async () => {
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    provider.host.signOut(browser.name);
    expect((await provider.follow(browser, provider.authorizeUrl(client))).location).toContain('/login?');
    const silent = await browser.get(provider.authorizeUrl(client, { prompt: 'none' }));
    expect(parameters(silent.location).get('error')).toBe('login_required');
    expect((await browser.get('/account/apps')).location).toContain('/login?');
  });

  it('gets no session cookie, now or later', async () => {
    const browser = provider.browser();
    const app = await provider.client();
    const interaction = await browser.get(provider.authorizeUrl(app));
    const { csrf } = await show(browser, interaction.location ?? '');
    const decision = await browser.post(interaction.location ?? '', { csrf, decision: 'approve' });
    const callback = await browser.get(decision.location ?? '');
    const names = [interaction, decision, callback].flatMap(({ headers }) =>
      headers.getSetCookie().map((line) => line.split('=')[0]),
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toMatch(/^svc_(interaction|resume)(\.sig)?$/);
  });
});

describe('a sign-out during an interaction', () => {
  it('before the page is shown, before it is answered, and after: each time the login comes first', async () => {
    const app = await provider.client();
    const browser = provider.browser();
    const interaction = await begin(browser, {}, app);
    const { csrf } = await show(browser, interaction);
    provider.host.signOut(browser.name);
    expect((await browser.get(interaction)).location).toContain('/login?');
    expect((await browser.post(interaction, { csrf, decision: 'approve' })).location).toContain('/login?');

    provider.host.signIn(browser.name, ana.sub, ago(5_000));
    const approved = await browser.post(interaction, { csrf, decision: 'approve' });
    expect(approved.location).toContain('/oauth/authorize/');
    provider.host.signOut(browser.name);
    const after = await provider.follow(browser, approved.location ?? '');
    expect(after.location).toContain('/login?');
    provider.host.signIn(browser.name, ana.sub, ago(0));
    const { location } = await provider.follow(browser, parameters(after.location).get('return_to') ?? '');
    expect(await userOf(location, app)).toBe(ana.sub);
  });
});

describe('a switch of users during an interaction', () => {
  it('asks the new user, and takes no answer that the old one was asked for', async () => {
    const app = await provider.client();
    const browser = provider.browser();
    const interaction = await begin(browser, {}, app);
    const before = await show(browser, interaction);
    expect(before.text).toContain(ana.name);
    provider.host.signIn(browser.name, ben.sub, ago(1_000));
    const refused = await browser.post(interaction, { csrf: before.csrf, decision: 'approve' });
    expect([refused.status, refused.location]).toEqual([403, null]);

    const now = await show(browser, interaction);
    expect(now.text).toContain(ben.name);
    expect(now.text).not.toContain(ana.name);
    const approved = await browser.post(interaction, { csrf: now.csrf, decision: 'approve' });
    expect(await userOf((await provider.follow(browser, approved.location ?? '')).location, app)).toBe(
      ben.sub,
    );
    // Nothing was remembered for the one who never answered.
    const silent = await provider.browser(ana.sub).get(provider.authorizeUrl(app, { prompt: 'none' }));
    expect(parameters(silent.location).get('error')).toBe('consent_required');
  });

  it('after the answer: the new user is asked, and no code goes out for either before', async () => {
    const app = await provider.client();
    const browser = provider.browser();
    const interaction = await begin(browser, {}, app);
    const { csrf } = await show(browser, interaction);
    const approved = await browser.post(interaction, { csrf, decision: 'approve' });
    provider.host.signIn(browser.name, ben.sub, ago(1_000));
    const next = await browser.get(approved.location ?? '');
    expect(next.location).toContain('/oauth/interaction/');
    expect(next.location).not.toBe(interaction);
    expect((await show(browser, next.location ?? '')).text).toContain(ben.name);
    expect(await userOf((await provider.follow(browser, next.location ?? '')).location, app)).toBe(ben.sub);
  });

  it('between two requests gives each request its own user', async () => {
    const app = await provider.client();
    const browser = provider.browser(ana.sub);
    expect(await userOf((await provider.follow(browser, provider.authorizeUrl(app))).location, app)).toBe(
      ana.sub,
    );
    provider.host.signIn(browser.name, ben.sub, ago(1_000));
    expect(await userOf((await provider.follow(browser, provider.authorizeUrl(app))).location, app)).toBe(
      ben.sub,
    );
    provider.host.signIn(browser.name, ana.sub, ago(1_000));
    expect(await userOf((await browser.get(provider.authorizeUrl(app))).location, app)).toBe(ana.sub);
  });
});

describe('prompt=none', () => {
  it('shows no page, whatever is missing', async () => {
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
});

it('"use another account" leads to the login with reauthenticate', async () => {
  const app = await provider.client();
  const browser = provider.browser();
  const interaction = await begin(browser, { login_hint: 'ana' }, app);
  const { text } = await show(browser, interaction);
  const href = /href="([^"]*\/login[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(parameters(href).get('reauthenticate')).toBe('true');
  expect(parameters(href).get('return_to')).toBe(interaction);
});
