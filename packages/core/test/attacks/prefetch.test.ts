import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import type { Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { patient } from '../../../../lab/support/patient.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { loggingOut } from '../support/logging-out.ts';
import { partnerProvider } from '../support/partner-api.ts';
import { afterwards, serve } from '../support/running.ts';

/** Headers with which browsers and client-side routers mark prefetches. */
const ahead = [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { 'sec-purpose': 'prefetch;anonymous-client-ip' },
  { purpose: 'prefetch' },
  { purpose: 'preview' },
  { 'x-purpose': 'preview' },
  { 'x-moz': 'prefetch' },
  { 'next-router-prefetch': '1' },
];

/**
 * Starts a provider with the routes of sign-out, introspection, pushed requests, the partner API and both consoles,
 * and with a signed-in operator and partner.
 */
async function everything() {
  const database = fragileStorage();
  const { provider } = await partnerProvider({
    storage: database.storage,
    console: sandboxConsole(),
    operators: { authenticate: () => ({ name: 'olga' }), pages: operatorsConsole() },
    login: { authenticate: () => null, loginUrl: () => '/login', signOut: () => undefined },
    introspection: true,
    pushedRequests: {},
  });
  const { key } = await provider.key({ mode: 'test', scopes: ['webhooks'] });
  const partner = provider.browser(null);
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec((await partner.get('/sandbox')).text) ?? [];
  expect((await partner.post('/sandbox/sign-in', { csrf, key })).location).toMatch(/\/sandbox$/);
  const writes = () =>
    database.calls.filter(
      (call) =>
        !/^rateLimits\.|^survey$|^hourlyCounts\.add$|^webhooks\.conditions$|\.(?:find|list|latest|count|get|head|chain|read|sorted|failing|everywhere)/.test(
          call,
        ),
    );
  return { provider, database, writes, partner };
}

describe('a GET with an effect', () => {
  it('is one of these, and has no effect in a prefetch', async () => {
    const { provider, database, writes, partner } = await everything();
    const paths = [...new Set(provider.ostiary.routes)].map((path) => path.replace(/\{[^}]*\}/g, ''));
    expect(paths.length).toBeGreaterThan(60);
    for (const headers of ahead) {
      const empty: string[] = [];
      for (const path of paths) {
        database.forget();
        const { status, headers: answered } = await partner.get(path.replace(/:\w+/g, 'x'), headers);
        if (status === 204) empty.push(path);
        if (status === 204) expect(answered.get('cache-control')).toBe('no-store');
        expect.soft([path, writes(), answered.getSetCookie()]).toEqual([path, [], []]);
      }
      expect((await partner.get('/sandbox', headers)).text).toContain('/sandbox/sign-out"');
      expect(empty.toSorted()).toEqual([
        '/oauth/authorize',
        '/oauth/interaction/:id',
        '/oauth/interaction/:id/resume',
        '/oauth/logout',
      ]);
    }
  });

  it('starts, answers and ends no sign-in there', async () => {
    const { provider } = await partnerProvider();
    const client = await provider.client();
    const browser = provider.browser();
    for (const headers of ahead) {
      const answer = await browser.get(provider.authorizeUrl(client), headers);
      expect([answer.status, answer.location, answer.headers.getSetCookie()]).toEqual([204, null, []]);
    }
    const { location: page } = await browser.get(provider.authorizeUrl(client));
    for (const headers of ahead) {
      expect((await browser.get(page ?? '', headers)).status).toBe(204);
      await browser.get(`${page}/cancel`, headers);
    }
    expect((await browser.get(page ?? '')).status).toBe(200);
  });

  it('does not sign out during a prefetch, nor in an image, a frame or a script of a page', async () => {
    const { provider, signedOut, hint, logout } = await loggingOut();
    const browser = provider.browser();
    const url = `${provider.site}/oauth/logout?id_token_hint=${hint}`;
    for (const headers of ahead) expect((await browser.get(url, headers)).status).toBe(204);
    for (const dest of ['image', 'iframe', 'empty', 'script', 'object']) {
      const asked = await browser.get(url, { 'sec-fetch-dest': dest });
      expect([asked.status, asked.text.includes('value="stay"')]).toEqual([200, true]);
    }
    expect(signedOut).toEqual([]);
    await browser.get(url, { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' });
    await logout({ id_token_hint: hint });
    expect(signedOut).toHaveLength(2);
  });
});

describe('links that Chromium prefetches', () => {
  it('neither cancel a sign-in nor sign out', async () => {
    const { provider, client, hint, signedOut } = await loggingOut();
    const chromium = await launchBrowser();
    afterwards(() => chromium.close());
    const context = await chromium.newContext();
    const tab = await context.newPage();
    const name = provider.browser().name;
    await context.addCookies([{ name: 'host', value: name, url: provider.origin }]);
    await tab.goto(provider.authorizeUrl(client, { prompt: 'consent' }));
    const page = tab.url();
    expect(page).toContain('/oauth/interaction/');

    const links = [`${page}/cancel`, page, `${provider.site}/oauth/logout?id_token_hint=${hint}`];
    const head = links.map((link) => `<link rel="prefetch" href="${link.replaceAll('&', '&amp;')}">`);
    const origin = await serve((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${head.join('')}<p>links</p>`);
    });
    const asked: string[] = [];
    const note = async (request: Request) => {
      // Ignore requests that Chromium sends while it closes, because their headers are not available.
      const { 'sec-purpose': purpose } = await request
        .allHeaders()
        .catch(() => ({ 'sec-purpose': undefined }));
      if (purpose === 'prefetch') asked.push(new URL(request.url()).pathname);
    };
    context.on('response', (response) => note(response.request()));
    // Record failed requests, too: the response of the cancel page is blocked for other origins
    // (Cross-Origin-Resource-Policy).
    context.on('requestfailed', note);
    const other = await context.newPage();
    await other.goto(origin);
    await expect
      .poll(() => asked.toSorted(), patient)
      .toEqual(links.map((link) => new URL(link).pathname).toSorted());
    expect(signedOut).toEqual([]);
    const back = tab.waitForRequest((request) => request.url().startsWith(client.redirectUri));
    await tab.locator('button[value="approve"]').click({ noWaitAfter: true });
    expect(new URL((await back).url()).searchParams.get('code')).toMatch(/^[\w-]{43}/);
  });
});
