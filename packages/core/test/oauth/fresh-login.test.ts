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

describe.each([
  ['prompt=login', { prompt: 'login' }],
  ['an exceeded max_age', { max_age: '60' }],
  ['max_age=0', { max_age: '0' }],
] as const)('%s', (_name, changes) => {
  const signedInLongAgo = () => {
    const browser = provider.browser();
    provider.host.signIn(browser.name, ana.sub, ago(3_600_000));
    return browser;
  };

  it('continues only with a sign-in that is later than the start of the interaction, to the millisecond', async () => {
    await provider.code(client);
    const browser = signedInLongAgo();
    const interaction = await begin(browser, changes);
    const startedAt = provider.clock.now();
    for (const authenticatedAt of [startedAt - 3_600_000, startedAt - 1, startedAt]) {
      provider.host.signIn(browser.name, ana.sub, new Date(authenticatedAt));
      const { location } = await browser.get(interaction);
      expect(location).toContain('/login?');
      expect(parameters(location).get('reauthenticate')).toBe('true');
      expect(parameters(location).get('return_to')).toBe(interaction);
    }
    provider.clock.advance(10_000);
    provider.host.signIn(browser.name, ana.sub, new Date(startedAt + 1));
    expect(await userOf((await provider.follow(browser, interaction)).location)).toBe(ana.sub);
  });

  it('is not passed by a sign-in that was there before, which the host’s clock puts after the request', async () => {
    if ('max_age' in changes && changes.max_age !== '0') return;
    await provider.code(client);
    const browser = provider.browser();
    const aheadMs = 30_000;
    provider.host.signIn(browser.name, ana.sub, ago(-aheadMs));
    provider.clock.advance(1_000);
    const interaction = await begin(browser, changes);
    const { location } = await browser.get(interaction);
    expect(location).toContain('/login?');
    expect(parameters(location).get('reauthenticate')).toBe('true');
    // The user does sign in again, by the same clock.
    provider.clock.advance(1_000);
    provider.host.signIn(browser.name, ana.sub, ago(-aheadMs));
    expect(await userOf((await provider.follow(browser, interaction)).location)).toBe(ana.sub);
  });

  it('takes no answer to the consent page without it', async () => {
    const app = await provider.client();
    const browser = signedInLongAgo();
    const interaction = await begin(browser, changes, app);
    provider.clock.advance(1_000);
    provider.host.signIn(browser.name, ana.sub, ago(0));
    const { csrf } = await show(browser, interaction);
    provider.host.signIn(browser.name, ana.sub, ago(3_600_000));
    const answer = await browser.post(interaction, { csrf, decision: 'approve' });
    expect(parameters(answer.location).get('reauthenticate')).toBe('true');
  });

  it('asks a user who comes in after the answer for credentials, too', async () => {
    const app = await provider.client();
    await provider.code(app, {}, provider.browser(ben.sub));
    const browser = signedInLongAgo();
    const interaction = await begin(browser, changes, app);
    provider.clock.advance(1_000);
    provider.host.signIn(browser.name, ana.sub, ago(0));
    const { csrf } = await show(browser, interaction);
    const approved = await browser.post(interaction, { csrf, decision: 'approve' });
    provider.host.signIn(browser.name, ben.sub, ago(3_600_000));
    const { location } = await provider.follow(browser, approved.location ?? '');
    expect(location).toContain('/login?');
    expect(parameters(location).get('reauthenticate')).toBe('true');
  });
});

it('max_age holds for a user who comes in while the consent page of another one is open', async () => {
  const app = await provider.client();
  await provider.code(app, {}, provider.browser(ben.sub));
  const browser = provider.browser(ana.sub);
  const interaction = await begin(browser, { max_age: '60' }, app);
  await show(browser, interaction);
  provider.host.signIn(browser.name, ben.sub, ago(3_600_000));
  const { location } = await browser.get(interaction);
  expect(location).toContain('/login?');
  expect(parameters(location).get('reauthenticate')).toBe('true');
});

it('max_age counts until the request came in, not until the user has read the page', async () => {
  const app = await provider.client();
  const browser = provider.browser();
  const interaction = await begin(browser, { max_age: '60' }, app);
  const { csrf } = await show(browser, interaction);
  provider.clock.advance(120_000);
  const approved = await browser.post(interaction, { csrf, decision: 'approve' });
  expect((await provider.follow(browser, approved.location ?? '')).location).toContain('code=');
});

describe.each([
  ['without more', {}],
  ['with prompt=login', { prompt: 'login' }],
  ['with max_age', { max_age: '3600' }],
] as const)('a sign-in that is more than a minute in the future, %s,', (_name, changes) => {
  it('is none: a page says that something is wrong here, and the log what', async () => {
    await provider.code(client);
    const browser = provider.browser();
    provider.host.signIn(browser.name, ana.sub, ago(-60_001));
    const since = provider.logged.length;
    const { status, location } = await browser.get(provider.authorizeUrl(client, changes));
    expect([status, location]).toEqual([500, null]);
    const lines = provider.logged.slice(since);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        fields: expect.objectContaining({
          err: expect.objectContaining({
            message: expect.stringContaining('authenticatedAt is more than a minute in the future'),
          }),
        }),
      }),
    ]);
  });

  it('does not end an interaction either', async () => {
    const browser = provider.browser(null);
    const interaction = await begin(browser, changes);
    provider.host.signIn(browser.name, ana.sub, ago(-60_001));
    const { status, location } = await browser.get(interaction);
    expect([status, location]).toEqual([500, null]);
    provider.host.signIn(browser.name, ana.sub, ago(-60_000));
    expect((await provider.follow(browser, interaction)).location).toContain('code=');
  });
});
