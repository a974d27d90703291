import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import { describe, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.ts';
import { ana } from '../support/directory.ts';
import { partnerProvider } from '../support/partner-api.ts';
import { type TestProvider, tokenRequest } from '../support/provider.ts';
import { serve, startProvider } from '../support/running.ts';

/**
 * Starts a provider with the routes of both consoles, the partner API, introspection, pushed requests and
 * sign-out.
 */
const everything = (authUrl: string) =>
  partnerProvider({
    authUrl,
    console: sandboxConsole(),
    operators: { authenticate: () => ({ name: 'olga' }), pages: operatorsConsole() },
    login: { authenticate: () => null, loginUrl: () => '/login', signOut: () => undefined },
    introspection: true,
    pushedRequests: {},
  });

describe('a path of the addresses that begins like a route', () => {
  const prefixes = [
    '/oauth',
    '/oauth/authorize',
    '/account',
    '/v1',
    '/v1/oauth',
    '/v1/partner',
    '/.well-known',
    '/.well-known/openid-configuration',
    '/sandbox',
    '/operators',
  ];

  /** Starts a proxy in front of a provider and returns its origin. */
  const proxy = ({ ostiary }: TestProvider, prefix: string, takesOff: boolean) =>
    serve((request, response) => {
      const { url = '' } = request;
      if (takesOff && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
      ostiary.handler(request, response, () => response.writeHead(404).end('the host'));
    });

  const ways = prefixes.flatMap((prefix) => [
    { prefix, way: 'takes it off', takesOff: true },
    { prefix, way: 'leaves it', takesOff: false },
  ]);

  it.each(ways)('$prefix, behind a proxy that $way: a user signs in', async ({ prefix, takesOff }) => {
    const provider = await startProvider({ authUrl: `https://id.example${prefix}` });
    const origin = await proxy(provider, prefix, takesOff);
    const browser = new TestBrowser('https://id.example', origin);
    provider.signIn(browser, ana.sub, 5_000);
    // Sign in with the consent page.
    const client = await provider.client();
    const code = await provider.code(client, { prompt: 'consent' }, browser);
    const exchanged = await fetch(`${origin}${prefix}/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(tokenRequest(client, code)),
    });
    expect(exchanged.status).toBe(200);
    const { access_token: token } = (await exchanged.json()) as { readonly access_token: string };
    const headers = { authorization: `Bearer ${token}` };
    const userinfo = await fetch(`${origin}${prefix}/v1/oauth/userinfo`, { headers });
    expect(await userinfo.json()).toMatchObject({ sub: ana.sub });
    expect([...(await provider.connectedApps(browser)).keys()]).toEqual([client.id]);
  });

  it.each(ways)('$prefix, behind a proxy that $way: every route is found', async ({ prefix, takesOff }) => {
    const { provider } = await everything(`https://id.example${prefix}`);
    const origin = await proxy(provider, prefix, takesOff);
    for (const route of provider.ostiary.routes) {
      const path = prefix + route.replace(/\{[^}]*\}/g, '').replace(/:\w+/g, 'an-id');
      const answer = await fetch(origin + path, { method: 'PUT' });
      expect([path, await answer.text()]).not.toEqual([path, 'the host']);
    }
    // All paths below /operators are routes of the operators' pages.
    if (prefix === '/operators') return;
    const nowhere = `${origin}${prefix}/v1/partner/nowhere`;
    expect(await (await fetch(nowhere)).text()).toBe('the host');
  });

  it('is never mistaken: no path of a route ends in the path of another route', async () => {
    const { provider } = await everything('https://id.example/tenant');
    const { routes } = provider.ostiary;
    const ends = routes.flatMap((route) => {
      const parts = route.split('/').slice(1);
      return parts.slice(1).map((_part, at) => ({ route, end: `/${parts.slice(at + 1).join('/')}` }));
    });
    expect(ends.filter(({ end }) => routes.includes(end))).toEqual([]);
  });

  it('has errors of the partner API in its form, whether the proxy takes it off or not', async () => {
    const { provider } = await partnerProvider({ authUrl: 'https://id.example/v1' });
    for (const path of ['/v1/partner/nowhere', '/v1/v1/partner/nowhere'])
      expect((await provider.request(path)).json()).toHaveProperty('code');
  });
});
