import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { type Scope, scopeNames, scopes } from '../../src/index.ts';
import { answerConsent, openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, pkce, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

const { challenge } = pkce();
const withPkce = { code_challenge: challenge, code_challenge_method: 'S256' };
const titlesOf = (names: readonly Scope[], language: 'en' | 'fr' = 'en') =>
  names.map((name) => scopes[name].consent[language].title.replaceAll("'", '&#39;'));

/** `asked`, or what the client gets without a page. */
async function silently(
  client: TestClient,
  changes: Record<string, string> = {},
  browser = provider.browser(),
): Promise<string> {
  const { location } = await browser.get(provider.authorizeUrl(client, { ...withPkce, ...changes }));
  if (location?.includes('/oauth/interaction/')) return 'asked';
  const { searchParams } = new URL(location ?? '');
  return searchParams.get('error') ?? (searchParams.has('code') ? 'code' : 'nothing');
}

describe('the consent page', () => {
  it('names the app, the user, where the answer goes, and says in plain words what each scope gives', async () => {
    const client = await provider.client({ name: 'Bòs <Peyi> & Co' });
    const page = await openConsent(provider, client, { scope: scopeNames.join(' ') });
    for (const part of ['Bòs &lt;Peyi&gt; &amp; Co', ana.name ?? '', 'app.example'])
      expect(page.text).toContain(part);
    expect(page.titles).toEqual(titlesOf(scopeNames));
    for (const name of scopeNames) expect(page.text).toContain(scopes[name].consent.en.detail.slice(0, 20));
    expect(page.marked).toEqual([]);
  });

  it('shows what was asked for and nothing else, in the language that was asked for', async () => {
    const page = await openConsent(provider, await provider.client(), {
      scope: 'kyc openid',
      ui_locales: 'fr',
    });
    expect(page.titles.map((title) => title.replaceAll('&#39;', "'"))).toEqual([
      scopes.kyc.consent.fr.title,
      scopes.openid.consent.fr.title,
    ]);
  });

  it('names the scheme of an app where it has no host', async () => {
    const client = await provider.client({ redirectUris: ['com.example.app:/cb'], public: true });
    expect((await openConsent(provider, client, withPkce)).text).toContain('com.example.app:');
  });

  it.each(['', 'maybe', 'Approve'])('takes approve or deny and nothing else: %j', async (decision) => {
    const browser = provider.browser();
    const page = await openConsent(provider, await provider.client(), {}, browser);
    const answer = await browser.post(page.address, { csrf: page.csrf, decision });
    expect([answer.status, answer.location]).toEqual([400, null]);
    expect((await answerConsent(provider, browser, page)).location).toContain('code=');
  });

  it('lets the user approve all or nothing, whatever a form says', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    const page = await openConsent(provider, client, { scope: 'openid kyc' }, browser);
    const answer = await browser.post(page.address, {
      csrf: page.csrf,
      decision: 'approve',
      scope: 'openid profile identity',
    });
    const { location } = await provider.follow(browser, answer.location ?? '');
    const { scope } = (
      await provider.exchange(client, new URL(location ?? '').searchParams.get('code') ?? '')
    ).json();
    expect(scope).toBe('openid kyc');
    expect(await silently(client, { scope: 'profile' })).toBe('asked');
  });
});

describe('consent', () => {
  it('is remembered per user and client', async () => {
    const [client, other] = [await provider.client(), await provider.client()];
    expect(await silently(client)).toBe('asked');
    await provider.code(client);
    expect(await silently(client)).toBe('code');
    expect(await silently(client, { prompt: 'none' })).toBe('code');
    expect(await silently(client, {}, provider.browser(ben.sub))).toBe('asked');
    expect(await silently(other)).toBe('asked');
  });

  it('is remembered without end', async () => {
    const client = await provider.client();
    await provider.code(client);
    provider.clock.advance(400 * 24 * 3_600_000);
    await provider.ostiary.worker.runDue();
    expect(await silently(client)).toBe('code');
  });

  it('covers every subset without a page, and nothing beyond', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid profile kyc' });
    for (const scope of ['openid', 'kyc', 'profile openid', 'kyc profile openid'])
      expect(await silently(client, { scope })).toBe('code');
    for (const scope of ['identity', 'openid identity'])
      expect(await silently(client, { scope })).toBe('asked');
  });

  it('that is larger shows all scopes with the new ones marked, and extends what is remembered', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid kyc' });
    const browser = provider.browser();
    const page = await openConsent(provider, client, { scope: 'openid profile identity' }, browser);
    expect(page.titles).toEqual(titlesOf(['openid', 'profile', 'identity']));
    expect(page.marked).toEqual(titlesOf(['profile', 'identity']));
    await answerConsent(provider, browser, page);
    // The union: what was given before is still there.
    expect(await silently(client, { scope: 'openid profile kyc identity' })).toBe('code');
    expect(await silently(client, { scope: 'wallet:balance' })).toBe('asked');
  });

  it('that is asked again with prompt=consent marks nothing, and refusing it takes nothing away', async () => {
    const client = await provider.client();
    await provider.code(client, { scope: 'openid kyc' });
    const browser = provider.browser();
    const page = await openConsent(provider, client, { scope: 'openid', prompt: 'consent' }, browser);
    expect([page.titles, page.marked]).toEqual([titlesOf(['openid']), []]);
    expect((await answerConsent(provider, browser, page, 'deny')).location).toContain('error=access_denied');
    expect(await silently(client, { scope: 'openid kyc' })).toBe('code');
    expect(
      (
        await answerConsent(
          provider,
          browser,
          await openConsent(provider, client, { prompt: 'consent' }, browser),
        )
      ).location,
    ).toContain('code=');
  });

  it('that is denied is not remembered, neither way', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    const { location } = await answerConsent(
      provider,
      browser,
      await openConsent(provider, client, {}, browser),
      'deny',
    );
    expect(new URL(location ?? '').searchParams.get('error')).toBe('access_denied');
    expect(await silently(client)).toBe('asked');
    await provider.code(client);
    await provider.follow(browser, provider.authorizeUrl(client, { scope: 'openid kyc' }), 'deny');
    expect(await silently(client)).toBe('code');
    expect(await silently(client, { scope: 'kyc' })).toBe('asked');
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

describe('a client that another program could pose as', () => {
  const claimable: readonly (readonly [string, Partial<NewClient>])[] = [
    ['http://localhost:8080/cb', { redirectUris: ['http://localhost:8080/cb'] }],
    ['http://127.0.0.1/cb', { redirectUris: ['http://127.0.0.1/cb'], public: true }],
    ['http://[::1]/cb', { redirectUris: ['http://[::1]/cb'] }],
    ['com.example.app:/cb', { redirectUris: ['com.example.app:/cb'], public: true }],
    ['https, beside a loopback one', { redirectUris: ['https://app.example/cb', 'http://localhost/cb'] }],
  ];

  it.each(claimable)('(%s) is asked every time', async (_name, settings) => {
    const client = await provider.client(settings);
    const browser = provider.browser();
    for (let time = 0; time < 2; time += 1) {
      expect(await silently(client, {}, browser)).toBe('asked');
      expect(await silently(client, { prompt: 'none' }, browser)).toBe('consent_required');
      expect((await provider.follow(browser, provider.authorizeUrl(client, withPkce))).location).toContain(
        'code=',
      );
    }
    // What was approved before is known all the same.
    const page = await openConsent(provider, client, { ...withPkce, scope: 'openid kyc' }, browser);
    expect(page.marked).toEqual(titlesOf(['kyc']));
  });

  it.each(claimable)(
    '(%s) is remembered when the administrator vouches for it, from then on',
    async (_name, settings) => {
      const client = await provider.client({ ...settings, firstParty: true });
      expect(await silently(client)).toBe('asked');
      await provider.follow(provider.browser(), provider.authorizeUrl(client, withPkce));
      expect(await silently(client)).toBe('code');
      expect(await silently(client, { prompt: 'none' })).toBe('code');
      await provider.ostiary.admin.clients.update(client.id, { firstParty: false });
      expect(await silently(client)).toBe('asked');
    },
  );

  it('is none with https alone', async () => {
    const client = await provider.client({ redirectUris: ['https://localhost/cb', 'https://127.0.0.1/cb'] });
    await provider.code(client);
    expect(await silently(client)).toBe('code');
  });
});
