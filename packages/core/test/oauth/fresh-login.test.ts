import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client);
const hour = 3_600_000;

/** A browser whose user signed in long ago, and the address of an interaction that began in it. */
async function begin(changes: Record<string, string>, of = client, agoMs = hour) {
  const browser = provider.browser(null);
  provider.signIn(browser, ana.sub, agoMs);
  return { browser, interaction: (await browser.get(provider.authorizeUrl(of, changes))).location ?? '' };
}

/** That an answer leads to the login, which is told to ask for credentials. */
function expectLogin({ outcome, callback }: Answer): void {
  expect([outcome, callback.get('reauthenticate')]).toEqual(['303 login', 'true']);
}

describe.each([
  ['prompt=login', { prompt: 'login' }],
  ['an exceeded max_age', { max_age: '60' }],
  ['max_age=0', { max_age: '0' }],
] as const)('%s', (_name, changes) => {
  it('continues only with a sign-in that is later than the start of the interaction, to the millisecond', async () => {
    const { browser, interaction } = await begin(changes);
    for (const agoMs of [hour, 1, 0]) {
      provider.signIn(browser, ana.sub, agoMs);
      const answer = await browser.get(interaction);
      expectLogin(answer);
      expect(answer.callback.get('return_to')).toBe(interaction);
    }
    provider.clock.advance(10_000);
    provider.signIn(browser, ana.sub, 9_999);
    expect(await provider.subOf(client, await provider.follow(browser, interaction))).toBe(ana.sub);
  });

  it('is not passed by a sign-in that was there before, which the host’s clock puts after the request', async () => {
    if ('max_age' in changes && changes.max_age !== '0') return;
    const aheadMs = 30_000;
    const { browser, interaction } = await begin(changes, client, -aheadMs);
    expectLogin(await browser.get(interaction));
    // The user does sign in again, by the same clock.
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
    provider.signIn(browser, ana.sub, hour);
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

describe.each([
  ['without more', {}],
  ['with prompt=login', { prompt: 'login' }],
  ['with max_age', { max_age: '3600' }],
] as const)('a sign-in that is more than a minute in the future, %s,', (_name, changes) => {
  it('is none, and ends no interaction: a page says that something is wrong here, and the log what', async () => {
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
