import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ErrorPageDetails, HostPages, OstiaryOptions } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { serve, startProvider } from '../support/running.ts';

const withPages = (pages: HostPages, options: Partial<OstiaryOptions> = {}) =>
  startProvider({ pages, ...options });

describe('a consent page by a function of the host', () => {
  const form: HostPages['consent'] = (details) =>
    `<!doctype html><title>Mine</title><pre>${JSON.stringify(details)}</pre>
<form method="post" action="${details.action}"><input name="csrf" value="${details.csrfToken}"></form>`;

  it('gets the data to show, has the URL of the built-in page, and its form works', async () => {
    const provider = await withPages({ consent: form });
    const client = await provider.client({ termsUrl: 'https://app.example/terms' });
    const asked = { scope: 'openid kyc', ui_locales: 'fr' };
    const page = await openConsent(provider, client, asked);
    const shown = await page.browser.get(page.address);
    expect(shown.status).toBe(200);
    const details = JSON.parse(/<pre>(.*)<\/pre>/.exec(shown.text)?.[1] ?? '');
    expect(details).toMatchObject({
      client: { clientId: client.id, name: 'Test app', termsUrl: 'https://app.example/terms' },
      sub: ana.sub,
      user: { name: ana.name, handle: ana.handle },
      ...{
        language: 'fr',
        action: expect.stringContaining(`${page.address}?`),
        redirectUri: client.redirectUri,
      },
      scopes: [
        { name: 'openid', isNew: true, texts: { en: { title: 'Know who you are' } } },
        { name: 'kyc', isNew: true },
      ],
    });
    expect(details.client).not.toHaveProperty('privacyUrl');
    expect((await page.finish()).outcome).toBe('303 code');
  });

  it('cannot be framed or cached even if its headers allow it, and may load what the host allows', async () => {
    const headers = {
      ...{ 'content-security-policy': "default-src 'self'", 'x-frame-options': 'ALLOWALL' },
      ...{
        'cache-control': 'public',
        'content-type': 'text/html; charset=utf-8',
        location: 'https://evil.example/',
      },
    };
    for (const isText of [true, false]) {
      const consent = () => (isText ? '<p>text' : new Response('<p>response', { headers, status: 201 }));
      const provider = await withPages({ consent });
      const browser = provider.browser();
      const { location } = await browser.get(provider.authorizeUrl(await provider.client()));
      const shown = await browser.get(location ?? '');
      expect([shown.status, shown.location]).toEqual([200, null]);
      expect(shown.headers.get('x-frame-options')).toBe('DENY');
      expect(shown.headers.get('cache-control')).toBe('no-store');
      expect(shown.headers.get('content-type')).toMatch(/^text\/html/);
      const policy = isText ? "frame-ancestors 'none'" : "default-src 'self'";
      expect(shown.headers.get('content-security-policy')).toBe(policy);
      expect(shown.headers.get('referrer-policy')).toBe('same-origin');
    }
  });

  it('may set cookies, and say what other sites learn of its address', async () => {
    const headers = new Headers({ 'referrer-policy': 'no-referrer' });
    for (const cookie of ['seen=1; Path=/', 'shape=round; Path=/; HttpOnly'])
      headers.append('set-cookie', cookie);
    const provider = await withPages({ consent: () => new Response('<p>mine', { headers }) });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(await provider.client()));
    const shown = await browser.get(location ?? '');
    expect(shown.headers.getSetCookie()).toEqual(['seen=1; Path=/', 'shape=round; Path=/; HttpOnly']);
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('may be a decoded response of the host’s fetch', async () => {
    const cms = await serve((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(gzipSync('<p>from elsewhere')),
    );
    const provider = await withPages({ consent: () => fetch(cms) });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(await provider.client()));
    const { text } = await browser.get(location ?? '');
    expect({ text, errors: provider.errors }).toEqual({ text: '<p>from elsewhere', errors: [] });
  });

  it('may be a response of fetch where a server has replaced the global class', async () => {
    const cms = await serve((_request, response) => response.end('<p>from elsewhere'));
    vi.stubGlobal('Response', class {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const provider = await withPages({ consent: () => fetch(cms) });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(await provider.client()));
    const { text } = await browser.get(location ?? '');
    expect({ text, errors: provider.errors }).toEqual({ text: '<p>from elsewhere', errors: [] });
  });

  it.each([
    ['throws', () => Promise.reject(new Error('a secret of the host')), 500],
    ['is silent', () => new Promise<string>(() => {}), 503],
    ['answers no page', () => ({ html: '' }) as never, 500],
  ])(
    'that %s is an error of the host, told in the log and not to the user',
    async (_what, consent, status) => {
      const provider = await withPages({ consent }, { hostTimeoutSeconds: 0.05 });
      const client = await provider.client();
      const browser = provider.browser();
      const { location } = await browser.get(provider.authorizeUrl(client));
      const shown = await browser.get(location ?? '');
      expect(shown.status).toBe(status);
      expect(shown.text).not.toContain('secret of the host');
      expect(provider.errors).toHaveLength(1);
    },
  );
});

describe('an error page by a function of the host', () => {
  const told: ErrorPageDetails[] = [];
  const error: HostPages['error'] = (details, request) => {
    told.push(details);
    return `<!doctype html><title>${details.title}</title><p>${request.headers['user-agent']}`;
  };

  it.each([
    [
      '/oauth/authorize?client_id=nobody&redirect_uri=https://x.example/',
      401,
      'unknown_client',
      'invalid_client',
    ],
    ['/oauth/interaction/none', 400, 'no_cookie', 'invalid_request'],
    ['/nothing', 404, 'not_found', 'not_found'],
  ])('is shown for %s, with the status of the error', async (path, status, kind, code) => {
    const provider = await withPages({ error });
    told.length = 0;
    const page = await provider
      .browser()
      .get(provider.site + path, { 'accept-language': 'fr', 'user-agent': 'x' });
    expect([page.status, page.headers.get('x-frame-options')]).toEqual([status, 'DENY']);
    const requestId = page.headers.get('x-request-id');
    expect(told).toEqual([
      {
        ...{ kind, status, code, requestId, language: 'fr' },
        ...{ description: expect.any(String), title: expect.any(String), advice: expect.any(String) },
      },
    ]);
    expect(page.text).toContain(`<title>${told[0]?.title}</title><p>x`);
  });

  it('gets the app at which a user can start again after an expired sign-in', async () => {
    const provider = await withPages({ error });
    const redirectUris = ['https://app.example/deep/callback'];
    const client = await provider.client({ name: 'Kafé <Lakay>', redirectUris });
    const browser = provider.browser(null);
    const login = await provider.follow(browser, provider.authorizeUrl(client));
    const returnTo = login.callback.get('return_to') ?? '';
    const app = { name: 'Kafé <Lakay>', url: 'https://app.example/' };
    told.length = 0;
    await provider.browser(null).get(returnTo);
    provider.clock.advance(11 * 60_000);
    await browser.get(returnTo);
    expect(told.map((details) => [details.kind, details.app])).toEqual([
      ['no_cookie', app],
      ['expired', app],
    ]);
    // Also try a URL without the app's name, and another error.
    told.length = 0;
    for (const address of [
      returnTo.split('?')[0] ?? '',
      `${provider.site}/nothing?${returnTo.split('?')[1]}`,
    ])
      await browser.get(address);
    expect(told.map((details) => ['app' in details, details.kind])).toEqual([
      [false, 'expired'],
      [false, 'not_found'],
    ]);
  });

  it('speaks the language that the app asked for, before that of the browser', async () => {
    const provider = await startProvider();
    for (const [query, language] of [
      ['ui_locales=fr', 'fr'],
      ['ui_locales=xx', 'en'],
      ['ui_locales=fr&ui_locales=en', 'en'],
    ]) {
      const page = await provider.browser().get(`${provider.site}/oauth/authorize?${query}`);
      expect(page.text).toContain(`<html lang="${language}">`);
    }
  });

  it('is only for browsers, not for requests of JSON or calls of the API', async () => {
    const provider = await withPages({ error });
    told.length = 0;
    const asked = await provider.request('/nothing', { headers: { accept: 'application/json' } });
    const api = await provider.request('/v1/oauth/userinfo', { headers: { accept: 'text/html' } });
    expect([asked.json().error, api.json().error, told]).toEqual(['not_found', 'invalid_token', []]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['is silent', () => new Promise<string>(() => {})],
    ['answers no page', () => 7 as never],
  ])('that %s is not shown: the built-in one is, and the log says so', async (_what, broken) => {
    const provider = await withPages({ error: broken }, { hostTimeoutSeconds: 0.05 });
    const page = await provider.browser().get(`${provider.site}/nothing`);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      404,
      expect.stringContaining('style-src'),
    ]);
    expect(page.text).toContain('There is no page here');
    expect(provider.errors.map(({ message }) => message)).toEqual([
      'pages.error failed; the built-in page was shown',
    ]);
  });
});

describe('what the built-in consent page can show more', () => {
  it('leads to the pages of the app that the administrator has given', async () => {
    const provider = await startProvider();
    const [terms, privacy] = ['https://app.example/terms?a=1&b=2', 'https://app.example/privacy'];
    const client = await provider.client({ termsUrl: terms, privacyUrl: privacy });
    const page = await openConsent(provider, client);
    const { text } = await page.browser.get(page.address);
    expect(text).toContain(
      '<a href="https://app.example/terms?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">',
    );
    expect(text).toContain(`<a href="${privacy}"`);
    await provider.ostiary.admin.clients.update(client.id, { termsUrl: null, privacyUrl: null });
    expect((await page.browser.get(page.address)).text).not.toContain('app.example/terms');
    for (const termsUrl of [
      'http://app.example/',
      'javascript:alert(1)',
      '/terms',
      'https://localhost/',
      'x',
      // Some parsers take the user information for the host.
      'https://bank.example@app.example/terms',
      'https://bank.example:443@app.example/terms',
      'https://@app.example/terms',
    ]) {
      await expect(provider.client({ termsUrl })).rejects.toThrow(/^termsUrl: /);
      await expect(provider.client({ privacyUrl: termsUrl })).rejects.toThrow(/^privacyUrl: /);
    }
    await expect(provider.client({ termsUrl: 'https://app.example/@acme?a=b@c' })).resolves.toBeDefined();
  });

  it('shows the handle next to the name, if the theme says so', async () => {
    for (const [theme, shown] of [
      [{}, `${ana.name}</bdi>`],
      [{ showHandle: true }, `${ana.name} (${ana.handle})</bdi>`],
    ] as const) {
      const provider = await startProvider({ theme });
      const page = await openConsent(provider, await provider.client());
      expect((await page.browser.get(page.address)).text).toContain(shown);
      expect((await page.browser.get('/account/apps')).text).toContain(shown);
    }
  });
});
