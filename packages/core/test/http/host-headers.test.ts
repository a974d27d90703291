import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { partnerProvider } from '../support/partner-api.ts';
import { serve } from '../support/running.ts';

/**
 * Headers that a host application's security middleware sets on every response: helmet's defaults, and its
 * optional ones.
 */
const ofHost = {
  'Content-Security-Policy': "default-src 'self';form-action 'self';upgrade-insecure-requests",
  'Content-Security-Policy-Report-Only': "default-src 'none'",
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-site',
  'Permissions-Policy': 'publickey-credentials-get=()',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Request-Id': 'of the host',
  'X-Shop': 'open',
};

/** Starts a provider behind a middleware that sets `headers` on every response. */
async function behind(headers: Readonly<Record<string, string>>, authUrl?: string) {
  const { provider } = await partnerProvider(authUrl === undefined ? {} : { authUrl });
  const origin = await serve((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    provider.ostiary.handler(request, response, () => response.end('of the host'));
  });
  const ask = (path: string, more: Readonly<Record<string, string>> = {}) =>
    fetch(origin + path, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: 'host=ana', ...more },
    });
  return { provider, ask };
}

describe('headers that the host has set before', () => {
  it.each(['/account/apps', '/oauth/interaction/none', '/oauth/authorize'])(
    'give way to those of the page %s, and others stay',
    async (path) => {
      const { provider, ask } = await behind(ofHost);
      provider.host.signIn('ana', ana.sub, new Date(provider.clock.now() - 5_000));
      const headers = Object.fromEntries((await ask(path)).headers);
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-[^']+'; /),
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'unsafe-none',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-shop': 'open',
      });
      expect(headers['content-security-policy']).not.toMatch(/form-action|upgrade-insecure/);
      for (const name of ['content-security-policy-report-only', 'cross-origin-embedder-policy'])
        expect(headers).not.toHaveProperty(name);
    },
  );

  it('stay on answers of userinfo, whose `Vary` is added to that of the host', async () => {
    const { provider, ask } = await behind({ 'X-Shop': 'open', Vary: 'Accept-Encoding' });
    const token = await provider.token(await provider.client());
    const { status, headers } = await ask('/v1/oauth/userinfo', { authorization: `Bearer ${token}` });
    expect([status, Object.fromEntries(headers)]).toMatchObject([
      200,
      { 'x-shop': 'open', vary: 'Accept-Encoding, Origin', 'cache-control': 'no-store' },
    ]);
  });

  it('are not on redirects, where an opener policy would cut off the window of the app', async () => {
    const { provider, ask } = await behind(ofHost);
    const { pathname, search } = new URL(provider.authorizeUrl(await provider.client()));
    const { status, headers } = await ask(pathname + search);
    const policies = [...headers].filter(([name]) => /policy|frame/.test(name));
    expect([status, policies]).toEqual([303, [['referrer-policy', 'no-referrer']]]);
  });

  it('stay on the answers of the host', async () => {
    const { headers } = await (await behind(ofHost)).ask('/shop');
    for (const [name, value] of Object.entries(ofHost)) expect(headers.get(name)).toBe(value);
  });

  it('keep the strictness of its transport security, which is that of the whole host', async () => {
    const name = 'Strict-Transport-Security';
    const strict = 'max-age=63072000; includeSubDomains; preload';
    const strictHost = await behind({ [name]: strict }, 'https://id.example');
    for (const path of ['/account/apps', '/v1/oauth/userinfo', '/v1/partner/whoami'])
      expect((await strictHost.ask(path)).headers.get(name)).toBe(strict);
    const silentHost = await behind({}, 'https://id.example');
    for (const path of ['/account/apps', '/v1/oauth/userinfo', '/v1/partner/whoami'])
      expect((await silentHost.ask(path)).headers.get(name)).toBe('max-age=63072000');
  });
});
