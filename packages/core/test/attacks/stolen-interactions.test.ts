import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';
import { approve, approveToEnd, callbackOf, openConsent } from './flow-steps.ts';

describe('stolen and stale interactions', () => {
  let provider: TestProvider;
  let client: TestClient;
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { authorizeStarts: 100_000 } });
  });
  afterAll(() => provider.stop());

  /** A client that nobody has consented to. */
  const fresh = (): Promise<TestClient> => provider.client();

  /** Whether the user is asked: nothing was remembered. */
  async function isStillAsked(to: TestClient, sub = ana.sub): Promise<boolean> {
    const { location } = await provider.browser(sub).get(provider.authorizeUrl(to));
    return location?.includes('/oauth/interaction/') === true;
  }

  describe('an interaction', () => {
    it('opens in no other browser: no login CSRF, no stolen consent page', async () => {
      client = await fresh();
      const attacker = provider.browser(ben.sub);
      const page = await openConsent(provider, attacker, client);
      for (const victim of [provider.browser(ana.sub), provider.browser(ben.sub), provider.browser(null)]) {
        const shown = await victim.get(page.url);
        expect([shown.status, shown.location]).toEqual([400, null]);
        expect(shown.text).not.toContain('name="csrf"');
        const answered = await approve(victim, page);
        expect([answered.status, answered.location]).toEqual([400, null]);
        const resumed = await victim.get(page.path.replace('interaction', 'authorize'));
        expect([resumed.status, resumed.location]).toEqual([400, null]);
      }
      expect(await isStillAsked(client, ben.sub)).toBe(true);
    });

    it('does not open by a cookie that is unsigned, bent, or of another interaction', async () => {
      client = await fresh();
      const owner = provider.browser();
      const page = await openConsent(provider, owner, client);
      const other = await openConsent(provider, owner, client);
      const cookie = (path: string, name: string): string =>
        new RegExp(`(?:^|; )${name}=([^;]*)`).exec(owner.cookieHeader(path))?.[1] ?? '';
      const id = cookie(page.path, 'svc_interaction');
      const signature = cookie(page.path, String.raw`svc_interaction\.sig`);
      expect(id).toBe(page.id);
      expect(signature).toMatch(/^[\w-]{27,}$/);
      const planted: Record<string, [string, string | null]> = {
        'without a signature': [id, null],
        'with an empty signature': [id, ''],
        'with a cut signature': [id, signature.slice(0, -1)],
        'with a bent signature': [id, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
        'with the signature of another': [id, cookie(other.path, String.raw`svc_interaction\.sig`)],
        'another one, well signed': [other.id, cookie(other.path, String.raw`svc_interaction\.sig`)],
        'with a name of the language': ['__proto__', signature],
      };
      for (const [name, [value, sig]] of Object.entries(planted)) {
        const thief = provider.browser();
        thief.setCookie('svc_interaction', value, page.path);
        if (sig !== null) thief.setCookie('svc_interaction.sig', sig, page.path);
        for (const answer of [await thief.get(page.url), await approve(thief, page)]) {
          expect.soft([name, answer.status, answer.location]).toEqual([name, 400, null]);
        }
      }
    });

    it('tossed into another browser, cookies and all, is asked of whoever sits there', async () => {
      // Cookies of a sibling domain can be planted (cookie tossing). An attacker approves, and lets the
      // victim come back.
      const loopback = await provider.client({ redirectUris: ['http://127.0.0.1:7000/callback'] });
      await provider.authorize(loopback, {}, provider.browser(ana.sub));
      const attacker = provider.browser(ben.sub);
      const page = await openConsent(provider, attacker, loopback);
      const resume = new URL((await approve(attacker, page)).location ?? '').pathname;
      const victim = provider.browser(ana.sub);
      for (const pair of attacker
        .cookieHeader(resume)
        .split('; ')
        .filter((text) => text.startsWith('svc_'))) {
        const split = pair.indexOf('=');
        victim.setCookie(pair.slice(0, split), pair.slice(split + 1), resume);
      }
      const answer = await victim.get(resume);
      expect(callbackOf(answer, loopback)).toBeNull();
      expect(answer.location).toContain('/oauth/interaction/');
      // The attacker's approval is spent.
      expect((await attacker.get(resume)).status).toBe(400);
    });

    it('is over for the user who left, between the approval and the way back', async () => {
      client = await fresh();
      for (const next of [ben.sub, null]) {
        const browser = provider.browser(ana.sub);
        const page = await openConsent(provider, browser, client, { prompt: 'consent' });
        const { location } = await approve(browser, page);
        if (next === null) provider.host.signOut(browser.name);
        else provider.host.signIn(browser.name, next, new Date(provider.clock.now()));
        const answer = await browser.get(location ?? '');
        expect(callbackOf(answer, client)).toBeNull();
        expect(answer.location).toContain('/oauth/interaction/');
      }
    });

    it('is not approved by the user who comes after the one who was asked', async () => {
      client = await fresh();
      const browser = provider.browser(ana.sub);
      const page = await openConsent(provider, browser, client);
      provider.host.signIn(browser.name, ben.sub, new Date(provider.clock.now()));
      expect((await approve(browser, page)).status).toBe(403);
      provider.host.signOut(browser.name);
      const { location } = await approve(browser, page);
      expect(location).toMatch(/\/login\?/);
      expect(await isStillAsked(client, ana.sub)).toBe(true);
      expect(await isStillAsked(client, ben.sub)).toBe(true);
    });

    it('is approved once', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const cookies = browser.cookieHeader(page.path.replace('interaction', 'authorize'));
      expect((await approveToEnd(browser, page, client)).has('code')).toBe(true);
      const again = await approve(browser, page);
      expect([again.status, again.location]).toEqual([400, null]);
      const resumed = await browser.get(page.path.replace('interaction', 'authorize'), { cookie: cookies });
      expect([resumed.status, resumed.location]).toEqual([400, null]);
    });

    it('is neither shown nor approved nor resumed after an hour', async () => {
      client = await fresh();
      const own = await TestProvider.start();
      const to = await own.client();
      const browser = own.browser();
      const page = await openConsent(own, browser, to);
      const approved = await openConsent(own, browser, to);
      const { location } = await approve(browser, approved);
      own.clock.advance(3_600_000);
      for (const answer of [
        await browser.get(page.url),
        await approve(browser, page),
        await browser.get(location ?? ''),
      ]) {
        expect([answer.status, answer.location]).toEqual([400, null]);
      }
      await own.stop();
    });

    it('skips nothing when the way back is taken without an answer', async () => {
      client = await fresh();
      for (const changes of [{}, { prompt: 'login' }, { prompt: 'consent' }, { max_age: '0' }]) {
        const browser = provider.browser();
        const page = await openedInteraction(browser, changes);
        const answer = await browser.get(page.replace('interaction', 'authorize'));
        expect(callbackOf(answer, client)).toBeNull();
        expect(answer.location).toContain('/oauth/interaction/');
      }
    });

    async function openedInteraction(
      browser: ReturnType<TestProvider['browser']>,
      changes: Record<string, string>,
    ) {
      const { location } = await browser.get(provider.authorizeUrl(client, changes));
      return new URL(location ?? '').pathname;
    }
  });
});
