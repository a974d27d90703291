import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client);

/** Returns a URL without its query string. */
const pageOf = (url: string | null): string | undefined => url?.split('?')[0];

const hour = 3_600_000;

/**
 * Signs a user in at a time in the past, and starts an interaction in the same browser. Returns the URL of
 * the interaction.
 */
async function begin(changes: Record<string, string>, of = client, agoMs = hour) {
  const browser = provider.browser(null);
  provider.signIn(browser, ana.sub, agoMs);
  return { browser, interaction: (await browser.get(provider.authorizeUrl(of, changes))).location ?? '' };
}

/**
 * Checks that a response redirects to the host application's login, with the request to ask for credentials.
 */
function expectLogin({ outcome, callback }: Answer): void {
  expect([outcome, callback.get('reauthenticate')]).toEqual(['303 login', 'true']);
}

describe.each([
  ['prompt=login', { prompt: 'login' }],
  ['an exceeded max_age', { max_age: '60' }],
  ['max_age=0', { max_age: '0' }],
] as const)('%s', (_name, changes) => {
  it('continues only with a sign-in that is later than the one that was there, to the millisecond', async () => {
    const { browser, interaction } = await begin(changes);
    for (const agoMs of [hour + 1, hour]) {
      provider.signIn(browser, ana.sub, agoMs);
      const answer = await browser.get(interaction);
      expectLogin(answer);
      expect(pageOf(answer.callback.get('return_to'))).toBe(interaction);
    }
    provider.signIn(browser, ana.sub, hour - 1);
    expect(await provider.subOf(client, await provider.follow(browser, interaction))).toBe(ana.sub);
  });

  it('asks once where the host’s clock is behind, and the log says so', async () => {
    const behind = 10_000;
    provider.logged.length = 0;
    for (const agoMs of [hour, null]) {
      const browser = provider.browser(null);
      if (agoMs !== null) provider.signIn(browser, ana.sub, agoMs + behind);
      const interaction = (await browser.get(provider.authorizeUrl(client, changes))).location ?? '';
      expectLogin(await browser.get(interaction));
      provider.signIn(browser, ana.sub, behind);
      expect(await provider.subOf(client, await provider.follow(browser, interaction))).toBe(ana.sub);
    }
    const line = {
      level: 'warn',
      fields: { behindMs: behind },
      message: expect.stringMatching(/counts as new/),
    };
    expect(provider.logged).toMatchObject([line, line]);
  });

  it('takes no old sign-in of a user who was not there at the start', async () => {
    const browser = provider.browser(null);
    const interaction = (await browser.get(provider.authorizeUrl(client, changes))).location ?? '';
    provider.signIn(browser, ana.sub, hour);
    expectLogin(await browser.get(interaction));
    if ('max_age' in changes && changes.max_age !== '0') return;
    provider.signIn(browser, ana.sub, 60_000);
    expectLogin(await browser.get(interaction));
    provider.signIn(browser, ana.sub, 59_999);
    expect((await provider.follow(browser, interaction)).outcome).toBe('303 code');
  });

  it('is not passed by a sign-in that was there before, which the host’s clock puts after the request', async () => {
    if ('max_age' in changes && changes.max_age !== '0') return;
    const aheadMs = 30_000;
    const { browser, interaction } = await begin(changes, client, -aheadMs);
    expectLogin(await browser.get(interaction));
    // The user signs in again, by the same clock.
    provider.clock.advance(1_000);
    provider.signIn(browser, ana.sub, -aheadMs);
    expect(await provider.subOf(client, await provider.follow(browser, interaction))).toBe(ana.sub);
  });

  it('takes no answer to the consent page without it, and asks a user who comes in after the answer, too', async () => {
    const app = await provider.client();
    await provider.code(app, {}, provider.browser(ben.sub));
    const { browser, interaction } = await begin(changes, app);
    provider.clock.advance(1_000);
    provider.signIn(browser, ana.sub);
    const page = await showConsent(browser, interaction);
    // The sign-in already existed when the request was made.
    provider.signIn(browser, ana.sub, hour + 1_000);
    expectLogin(await page.approve());
    provider.signIn(browser, ana.sub);
    const { location } = await page.approve();
    provider.signIn(browser, ben.sub, hour);
    expectLogin(await provider.follow(browser, location ?? ''));
  });
});

it('max_age holds for a user who comes in while the consent page of another one is open', async () => {
  const app = await provider.client();
  await provider.code(app, {}, provider.browser(ben.sub));
  const { browser, address } = await openConsent(provider, app, { max_age: '60' });
  provider.signIn(browser, ben.sub, hour);
  expectLogin(await browser.get(address));
});

it('max_age counts until the request came in, not until the user has read the page', async () => {
  const page = await openConsent(provider, await provider.client(), { max_age: '60' });
  provider.clock.advance(120_000);
  expect((await page.finish()).outcome).toBe('303 code');
});
