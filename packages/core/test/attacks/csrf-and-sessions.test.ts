import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';
import { appForms, approve, approveToEnd, openConsent } from './flow-steps.ts';

describe('forged forms and stolen sessions', () => {
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

  describe('the consent form', () => {
    it('is refused without its token, and with one that is bent, foreign or old', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const otherInteraction = await openConsent(provider, browser, client);
      const otherUser = await openConsent(provider, provider.browser(ben.sub), client);
      const [time = '', proof = ''] = page.csrf.split('.');
      const tokens = {
        missing: undefined,
        empty: '',
        'of another interaction': otherInteraction.csrf,
        'of another user': otherUser.csrf,
        'time only': time,
        'proof only': proof,
        'no proof': `${time}.`,
        'later time': `${(Number.parseInt(time, 36) + 1).toString(36)}.${proof}`,
        'time in another spelling': `0${time}.${proof}`,
        'cut proof': page.csrf.slice(0, -1),
        'longer proof': `${page.csrf}A`,
        'other case': `${time}.${proof.toUpperCase()}`,
        'inherited name': 'constructor.constructor',
        'not a time': `NaN.${proof}`,
        'infinite time': `infinity.${proof}`,
      };
      for (const [name, csrf] of Object.entries(tokens)) {
        const form = { decision: 'approve', ...(csrf === undefined ? {} : { csrf }) };
        const answer = await browser.post(page.url, form);
        expect.soft([name, answer.status, answer.location]).toEqual([name, 403, null]);
      }
      expect(await isStillAsked(client)).toBe(true);
      expect((await approveToEnd(browser, page, client)).has('code')).toBe(true);
    });

    it('is refused from another site, by whatever header the browser says so', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const { port } = new URL(provider.origin);
      const foreign = [
        { origin: 'https://evil.example' },
        { origin: 'null', 'sec-fetch-site': 'cross-site' },
        { origin: 'null', 'sec-fetch-site': 'same-site' },
        { origin: 'null', 'sec-fetch-site': 'none' },
        { origin: 'null', 'sec-fetch-site': '' },
        { origin: 'null', 'sec-fetch-site': 'Same-Origin' },
        { origin: 'null, null' },
        { origin: 'NULL' },
        { origin: '' },
        { origin: `https://127.0.0.1:${port}` },
        { origin: `http://127.0.0.1.evil.example:${port}` },
        { origin: `http://127.0.0.1:${port}.evil.example` },
        { origin: `${provider.origin}/` },
        { origin: provider.origin.toUpperCase() },
        { origin: 'http://127.0.0.1' },
        { origin: `http://localhost:${port}` },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'Cross-Site' },
        { 'sec-fetch-site': '' },
        { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      ];
      for (const headers of foreign) {
        const answer = await approve(browser, page, headers as Record<string, string>);
        expect.soft([headers, answer.status, answer.location]).toEqual([headers, 403, null]);
      }
      // A browser that hides its origin and is too old to say that it is the same one.
      const silent = await provider.request(page.path, {
        method: 'POST',
        body: new URLSearchParams({ csrf: page.csrf, decision: 'approve' }),
        headers: { origin: 'null', cookie: browser.cookieHeader(page.path) },
      });
      expect([silent.status, silent.location]).toEqual([403, null]);
      expect(await isStillAsked(client)).toBe(true);
    });

    it('passes with the origin null where the browser says that it is the same one, and the token is right', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const hidden = { origin: 'null', 'sec-fetch-site': 'same-origin' };
      for (const csrf of ['', `${page.csrf}x`]) {
        const answer = await browser.post(page.url, { csrf, decision: 'approve' }, hidden);
        expect([answer.status, answer.location]).toEqual([403, null]);
      }
      expect(await isStillAsked(client)).toBe(true);
      const { location } = await approve(browser, page, hidden);
      const callback = new URL((await browser.get(location ?? '')).location ?? '');
      expect(callback.searchParams.has('code')).toBe(true);
      expect(await isStillAsked(client)).toBe(false);
    });

    it('cannot be sent as a simple cross-site request of another type', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'text/json', '']) {
        expect((await approve(browser, page, { 'content-type': type })).status).toBe(415);
      }
      const byQuery = await browser.get(`${page.url}?csrf=${page.csrf}&decision=approve`);
      expect(byQuery.status).toBe(200);
      const mixed = await browser.post(`${page.url}?csrf=${page.csrf}&decision=approve`, {
        decision: 'approve',
      });
      expect(mixed.status).toBe(403);
      expect(await isStillAsked(client)).toBe(true);
    });

    it('is told in the log with the reason when it is refused, and never its token', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const other = await openConsent(provider, provider.browser(ben.sub), client);
      const before = provider.logged.length;
      const expected = provider.origin;
      await approve(browser, page, { origin: 'https://www.app.example' });
      await approve(browser, page, { origin: 'null', 'sec-fetch-site': 'cross-site' });
      await approve(browser, page, { 'sec-fetch-site': 'same-site' });
      await approve(browser, page, { origin: `https://\u00e9${'x'.repeat(5_000)}` });
      await browser.post(page.url, { decision: 'approve' });
      await browser.post(page.url, { decision: 'approve', csrf: other.csrf });
      const lines = provider.logged.slice(before);
      for (const { level, message } of lines)
        expect([level, message]).toEqual(['warn', 'a form was refused']);
      const form = 'consent';
      const foreign = { form, reason: 'its Origin is not that of authUrl', site: 'same-origin', expected };
      expect(lines.map(({ fields }) => fields)).toEqual([
        { ...foreign, origin: 'https://www.app.example' },
        {
          form,
          reason: 'its Origin is null, and Sec-Fetch-Site does not say same-origin',
          origin: 'null',
          site: 'cross-site',
          expected,
        },
        {
          form,
          reason: 'Sec-Fetch-Site names another site',
          origin: provider.origin,
          site: 'same-site',
          expected,
        },
        { ...foreign, origin: `https://\\u{e9}${'x'.repeat(191)}... (5009 characters)` },
        { form, reason: 'its token is missing' },
        {
          form,
          reason: 'its token was not made for this user and purpose, or with another sealing key',
        },
      ]);
      for (const { csrf } of [page, other]) expect(JSON.stringify(lines)).not.toContain(csrf.slice(0, 20));
    });

    it('takes no decision but approve and deny', async () => {
      client = await fresh();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      for (const decision of ['', 'Approve', 'approve ', 'yes', 'true', '__proto__']) {
        expect((await browser.post(page.url, { csrf: page.csrf, decision })).status).toBe(400);
      }
      expect(await isStillAsked(client)).toBe(true);
    });
  });

  it('a planted session of the engine means nothing, signed or not', async () => {
    client = await fresh();
    await provider.authorize(client, {}, provider.browser(ana.sub));
    for (const [name, value] of [
      ['svc_session', 'planted'],
      ['svc_session.sig', 'planted'],
      ['svc_resume', 'planted'],
      ['_session', 'planted'],
    ] as const) {
      const victim = provider.browser(null);
      victim.setCookie(name, value, '/');
      const { location, headers } = await victim.get(provider.authorizeUrl(client));
      expect(location).toContain('/oauth/interaction/');
      expect(headers.getSetCookie().join()).not.toMatch(/planted|svc_session/);
      expect((await victim.get(location ?? '')).location).toMatch(/\/login\?/);
    }
  });

  describe('the removal of a connected app', () => {
    const page = async (sub: string) => appForms((await provider.browser(sub).get('/account/apps')).text);

    it('is refused when it is forged', async () => {
      client = await fresh();
      const other = await fresh();
      for (const sub of [ana.sub, ben.sub]) {
        await provider.authorize(client, {}, provider.browser(sub));
        await provider.authorize(other, {}, provider.browser(sub));
      }
      const own = await page(ana.sub);
      const foreign = await page(ben.sub);
      const browser = provider.browser(ana.sub);
      const consent = await openConsent(provider, browser, client, { scope: 'openid kyc' });
      const path = `/account/apps/${client.id}/revoke`;
      const genuine = own.get(client.id) ?? '';
      const tokens = [undefined, '', own.get(other.id), foreign.get(client.id), consent.csrf, `${genuine}x`];
      for (const csrf of tokens) {
        expect((await browser.post(path, csrf === undefined ? {} : { csrf })).status).toBe(403);
      }
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null', 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        expect((await browser.post(path, { csrf: genuine }, headers as Record<string, string>)).status).toBe(
          403,
        );
      }
      expect((await browser.get(`${path}?csrf=${genuine}`)).status).toBe(405);
      expect((await page(ana.sub)).has(client.id)).toBe(true);
      expect((await page(ben.sub)).has(client.id)).toBe(true);
      const hidden = { origin: 'null', 'sec-fetch-site': 'same-origin' };
      expect((await browser.post(path, { csrf: genuine }, hidden)).status).toBe(303);
      expect((await page(ana.sub)).has(client.id)).toBe(false);
      expect((await page(ben.sub)).has(client.id)).toBe(true);
    });

    it('is refused with the token of a page that is a day old', async () => {
      const own = await TestProvider.start();
      const to = await own.client();
      await own.authorize(to);
      const csrf = appForms((await own.browser().get('/account/apps')).text).get(to.id) ?? '';
      own.clock.advance(24 * 3_600_000 + 1);
      expect((await own.browser().post(`/account/apps/${to.id}/revoke`, { csrf })).status).toBe(403);
      own.clock.advance(-48 * 3_600_000);
      expect((await own.browser().post(`/account/apps/${to.id}/revoke`, { csrf })).status).toBe(403);
      expect(own.logged.map(({ fields }) => fields)).toEqual([
        { form: 'revoke app', reason: 'its page is older than a day' },
        { form: 'revoke app', reason: 'its page is from a process whose clock is ahead' },
      ]);
      await own.stop();
    });
  });
});
