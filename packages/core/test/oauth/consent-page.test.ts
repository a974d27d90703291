import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { type Scope, scopeNames, scopes } from '../../src/index.ts';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { pkce, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { bound } = pkce();
const titlesOf = (names: readonly Scope[], language: 'en' | 'fr' = 'en') =>
  names.map((name) => scopes[name].consent[language].title.replaceAll("'", '&#39;'));

/**
 * Requests authorization without user input. Returns the result that the client gets, or `interaction` if a
 * page is shown.
 */
const silently = (client: TestClient, changes: Record<string, string> = {}, browser = provider.browser()) =>
  provider.attempt(client, { ...bound, ...changes }, browser);

describe('the consent page', () => {
  it('names the app, the user, where the answer goes, and what each scope gives', async () => {
    const client = await provider.client({ name: 'Bòs <Peyi> & Co' });
    const { text, titles, marked } = await openConsent(provider, client, { scope: scopeNames.join(' ') });
    for (const part of ['Bòs &lt;Peyi&gt; &amp; Co', ana.name ?? '', 'app.example'])
      expect(text).toContain(part);
    expect([titles, marked]).toEqual([titlesOf(scopeNames), []]);
  });

  it('shows what was asked for and nothing else, in the language that was asked for, to an app without a host', async () => {
    const client = await provider.client({ redirectUris: ['com.example.app:/cb'], public: true });
    const asked = { ...bound, scope: 'kyc openid', ui_locales: 'fr' };
    const { titles, text } = await openConsent(provider, client, asked);
    expect(titles).toEqual(titlesOf(['kyc', 'openid'], 'fr'));
    expect(text).toContain('com.example.app:');
  });

  it('takes approve or deny and nothing else', async () => {
    const page = await openConsent(provider, await provider.client());
    for (const decision of ['', 'maybe', 'Approve', 'approve ', 'yes', 'true', '__proto__']) {
      const answer = await page.post({ decision });
      expect([decision, answer.outcome, answer.location]).toEqual([decision, '400 invalid_request', null]);
    }
    expect((await page.finish()).outcome).toBe('303 code');
  });

  it('lets the user approve all scopes or none, even if the form is changed', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client, { scope: 'openid kyc' });
    const { location } = await page.post({ decision: 'approve', scope: 'openid profile identity' });
    const { callback } = await page.browser.get(location ?? '');
    const answer = await provider.exchange(client, callback.get('code') ?? '');
    expect(answer.json().scope).toBe('openid kyc');
    expect(await silently(client, { scope: 'profile' })).toBe('interaction');
  });
});

describe('consent', () => {
  it('is remembered per user and client without end, for every subset and nothing beyond', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid profile kyc' });
    expect(await silently(client, { prompt: 'none' })).toBe('code');
    for (const scope of ['identity', 'openid identity'])
      expect(await silently(client, { scope })).toBe('interaction');
    expect(await silently(client, {}, provider.browser(ben.sub))).toBe('interaction');
    expect(await silently(await provider.client())).toBe('interaction');
    provider.clock.advance(400 * 24 * 3_600_000);
    await provider.ostiary.worker.runDue();
    for (const scope of ['openid', 'kyc', 'profile openid', 'kyc profile openid'])
      expect(await silently(client, { scope })).toBe('code');
  });

  it('that is larger shows all scopes with the new ones marked, and extends what is remembered', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid kyc' });
    const page = await openConsent(provider, client, { scope: 'openid profile identity' });
    expect(page.titles).toEqual(titlesOf(['openid', 'profile', 'identity']));
    expect(page.marked).toEqual(titlesOf(['profile', 'identity']));
    await page.finish();
    // The consent is the union: earlier scopes are still there.
    expect(await silently(client, { scope: 'openid profile kyc identity' })).toBe('code');
    expect(await silently(client, { scope: 'wallet:balance' })).toBe('interaction');
  });

  it('that is requested again with prompt=consent marks nothing, and refusing it revokes nothing', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid kyc' });
    const page = await openConsent(provider, client, { scope: 'openid', prompt: 'consent' });
    expect([page.titles, page.marked]).toEqual([titlesOf(['openid']), []]);
    const denied = await page.browser.get((await page.deny()).location ?? '');
    expect(denied.outcome).toBe('303 access_denied');
    expect(await silently(client, { scope: 'openid kyc' })).toBe('code');
  });

  it('that is denied is not remembered, neither way', async () => {
    const client = await provider.client();
    const deny = async (scope: string) => (await openConsent(provider, client, { scope })).deny();
    await deny('openid');
    expect(await silently(client)).toBe('interaction');
    await provider.code(client);
    await deny('openid kyc');
    expect(await silently(client)).toBe('code');
    expect(await silently(client, { scope: 'kyc' })).toBe('interaction');
  });

  it('follows a scope that comes back to the client, although its consent is older', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid kyc' });
    await provider.ostiary.admin.clients.update(client.id, { allowedScopes: ['openid'] });
    expect(await silently(client, { scope: 'openid kyc' })).toBe('invalid_scope');
    await provider.ostiary.admin.clients.update(client.id, { allowedScopes: ['openid', 'kyc'] });
    expect(await silently(client, { scope: 'openid kyc' })).toBe('code');
  });
});

it('two tabs of one browser go side by side, in any order, each to its own end', async () => {
  const [one, two] = [await provider.client({ name: 'App one' }), await provider.client()];
  const browser = provider.browser();
  const first = await openConsent(provider, one, { state: 'one' }, browser);
  const second = await openConsent(provider, two, { state: 'two', scope: 'openid kyc' }, browser);
  const third = await openConsent(provider, two, { state: 'three' }, browser);
  expect((await showConsent(browser, first.address)).text).toContain('App one');
  const denied = await browser.get((await third.deny()).location ?? '');
  expect([denied.outcome, denied.callback.get('state')]).toEqual(['303 access_denied', 'three']);
  for (const [client, page, state, scope] of [
    [two, second, 'two', 'openid kyc'],
    [one, first, 'one', 'openid'],
  ] as const) {
    const { callback } = await page.finish();
    expect(callback.get('state')).toBe(state);
    expect((await provider.exchange(client, callback.get('code') ?? '')).json().scope).toBe(scope);
  }
});

describe('the place that the user returns to', () => {
  it.each([
    ['com.example.app://paypal.example/cb', 'com.example.app:'],
    ['com.example.app:paypal.example', 'com.example.app:'],
    ['com.example.app:///paypal.example/cb', 'com.example.app:'],
    ['http://127.0.0.1:4000/paypal.example', '127.0.0.1:4000'],
    ['https://app.example:8443/paypal.example', 'app.example:8443'],
  ])('of %s is %s on the page', async (redirectUri, shown) => {
    const client = await provider.client({ redirectUris: [redirectUri], public: true });
    const browser = provider.browser();
    const start = await browser.get(provider.authorizeUrl(client, pkce().bound));
    const { text } = await browser.get(start.location ?? '');
    expect(text).toContain(`<strong><bdi>${shown}</bdi></strong>`);
    expect(text).not.toContain('paypal');
  });
});

describe('a client that another program could pose as', () => {
  it.each<Partial<NewClient>>([
    { redirectUris: ['http://localhost:8080/cb'] },
    { redirectUris: ['http://127.0.0.1/cb'], public: true },
    { redirectUris: ['http://[::1]/cb'] },
    { redirectUris: ['com.example.app:/cb'], public: true },
    { redirectUris: ['http://localhost/cb', 'https://app.example/cb'] },
  ])('(%j) is asked every time, until an administrator vouches for it', async (settings) => {
    const client = await provider.client(settings);
    const browser = provider.browser();
    for (let time = 0; time < 2; time += 1) {
      expect(await silently(client, {}, browser)).toBe('interaction');
      expect(await silently(client, { prompt: 'none' }, browser)).toBe('consent_required');
      await provider.code(client, bound, browser);
    }
    // Scopes that were approved before are still remembered.
    const page = await openConsent(provider, client, { ...bound, scope: 'openid kyc' }, browser);
    expect(page.marked).toEqual(titlesOf(['kyc']));

    const vouched = await provider.client({ ...settings, firstParty: true });
    expect(await silently(vouched)).toBe('interaction');
    await provider.code(vouched, bound);
    for (const prompt of [undefined, 'none'] as const)
      expect(await silently(vouched, prompt && { prompt })).toBe('code');
    await provider.ostiary.admin.clients.update(vouched.id, { firstParty: false });
    expect(await silently(vouched)).toBe('interaction');
  });

  it('is not needed with https redirect URIs only', async () => {
    const client = await provider.client({ redirectUris: ['https://localhost/cb', 'https://127.0.0.1/cb'] });
    await provider.code(client);
    expect(await silently(client)).toBe('code');
  });
});
