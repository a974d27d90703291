import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Host } from '../support/directory.ts';
import { TestProvider } from '../support/provider.ts';

/** What security middleware of hosts sets before a request comes here: the defaults of helmet, and what can be turned on. */
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

/** A provider behind a middleware that sets `headers` on every answer. */
async function behind(
  headers: Readonly<Record<string, string>>,
  use: (provider: TestProvider, ask: (url: string) => Promise<Response>) => Promise<void>,
  authUrl?: string,
): Promise<void> {
  const host = new Host();
  const provider = await TestProvider.start(authUrl === undefined ? {} : { authUrl }, host);
  const set = (response: ServerResponse) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  };
  const server = createServer((request, response) => {
    set(response);
    provider.ostiary.handler(request, response, () => response.end('of the host'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await use(provider, (path) =>
      fetch(origin + path, { redirect: 'manual', headers: { accept: 'text/html', cookie: `host=ana` } }),
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await provider.stop();
  }
}

const without = (response: Response, names: readonly string[]): string[] =>
  names.filter((name) => response.headers.has(name));

describe('headers that the host has set before', () => {
  it('give way to those of the pages, and others stay', () =>
    behind(ofHost, async (provider, ask) => {
      provider.host.signIn('ana', 'user-ana', new Date(provider.clock.now() - 5_000));
      for (const path of ['/account/apps', '/oauth/interaction/none', '/oauth/authorize']) {
        const { headers } = await ask(path);
        const policy = headers.get('content-security-policy') ?? '';
        expect.soft(policy, path).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
        expect.soft(policy, path).not.toMatch(/form-action|upgrade-insecure/);
        expect.soft([path, headers.get('referrer-policy')]).toEqual([path, 'same-origin']);
        expect.soft([path, headers.get('x-frame-options')]).toEqual([path, 'DENY']);
        expect.soft([path, headers.get('cross-origin-opener-policy')]).toEqual([path, 'same-origin']);
        expect.soft([path, headers.get('cross-origin-resource-policy')]).toEqual([path, 'same-origin']);
        expect.soft(headers.has('content-security-policy-report-only'), path).toBe(false);
        expect.soft(headers.has('cross-origin-embedder-policy'), path).toBe(false);
        expect.soft(headers.get('permissions-policy')).toContain('camera=()');
        expect.soft(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
        expect.soft(headers.get('x-shop')).toBe('open');
      }
    }));

  it('are not on redirects, where an opener policy would cut off the window of the app', () =>
    behind(ofHost, async (provider, ask) => {
      const { pathname, search } = new URL(provider.authorizeUrl(await provider.client()));
      const answer = await ask(pathname + search);
      expect(answer.status).toBe(303);
      const policies = Object.keys(ofHost).filter((name) => /policy|frame/i.test(name));
      expect(without(answer, policies)).toEqual(['Referrer-Policy']);
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }));

  it('stay on the answers of the host', () =>
    behind(ofHost, async (_provider, ask) => {
      const { headers } = await ask('/shop');
      for (const [name, value] of Object.entries(ofHost)) expect(headers.get(name)).toBe(value);
    }));

  it('keep the strictness of its transport security, which is that of the whole host', async () => {
    const name = 'Strict-Transport-Security';
    const strict = 'max-age=63072000; includeSubDomains; preload';
    for (const path of ['/account/apps', '/v1/oauth/userinfo', '/v1/partner/whoami']) {
      await behind(
        { [name]: strict },
        async (_provider, ask) => expect((await ask(path)).headers.get(name)).toBe(strict),
        'https://id.example',
      );
    }
    await behind(
      {},
      async (_provider, ask) =>
        expect((await ask('/account/apps')).headers.get(name)).toBe('max-age=63072000'),
      'https://id.example',
    );
  });
});
