import { describe, expect, it } from 'vitest';
import type { TestBrowser } from '../support/browser.ts';
import { startProvider } from '../support/running.ts';
import { parseAnswer, RawConnection, rawGet, sendRaw } from './raw.ts';

const evil = 'evil.example';

const hosts = [
  '',
  evil,
  `${evil}:444`,
  `${evil}/oauth`,
  `id.example.com@${evil}`,
  '"><script>alert(1)</script>',
];
const everything = [
  `Host: ${evil}`,
  `X-Forwarded-Host: ${evil}`,
  'X-Forwarded-Proto: http',
  `Forwarded: host=${evil}`,
];

/**
 * Ways in which a request claims another host name, scheme, path, method or client address: text before the
 * path in the request line, and headers.
 */
const forgeries: readonly (readonly [base: string, headers: readonly string[]])[] = [
  ...hosts.map((host) => ['', [`Host: ${host}`]] as const),
  ['', [`X-Forwarded-Host: ${evil}`]],
  ['', ['X-Forwarded-Proto: http']],
  ['', ['X-Forwarded-Proto: https']],
  ['', ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-Port: 1', 'X-Forwarded-Prefix: /evil']],
  ['', [`Forwarded: for=203.0.113.9;host=${evil};proto=http`]],
  ['', ['X-Original-URL: /evil', 'X-Rewrite-URL: /evil']],
  ['', ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE']],
  [`http://${evil}`, []],
  [`http://${evil}`, [`Host: ${evil}`]],
  [`http://user:password@${evil}:81`, []],
  [`https://${evil}`, []],
  [`https://${evil}`, everything],
];

/**
 * Removes the time, ids and random values from a response, because they differ between two responses to the
 * same request.
 */
const comparable = (text: string): string =>
  text.replaceAll(
    /^(Date|X-Request-Id): .*$|[0-9a-f]{8}-[0-9a-f-]{27}|name="csrf" value="[^"]+"|expires=\w{3}, [\w :]+ GMT|\.sig=[\w-]{27}|[\w-]{43}(?![\w-])/gm,
    '…',
  );

describe.each<{ authUrl?: string; baseUrl?: string; issuer?: string }>([
  {},
  { authUrl: 'https://id.example.com/auth', baseUrl: 'https://api.example.com' },
  { authUrl: 'https://id.example.com', issuer: 'https://issuer.example.com' },
])('a request that names another host, with %j', async (options) => {
  const provider = await startProvider(options);
  const client = await provider.client();
  const signedIn = provider.browser();
  const signedOut = provider.browser(null);

  // Returns the path and query of an authorization request. The parameter `redirected_to_auth_url` says that the
  // request was redirected to `authUrl` already, so that requests for other host names are handled, too.
  const authorize = (changes: Record<string, string> = {}): string =>
    provider.authorizeUrl(client, { redirected_to_auth_url: '1', ...changes }).slice(provider.origin.length);
  const apps = '/account/apps?redirected_to_auth_url=1';

  /** Starts an interaction in a browser. Returns the path of its page, and the Cookie header for it. */
  async function interaction(browser: TestBrowser): Promise<{ path: string; cookie: string }> {
    const { location } = await browser.get(authorize());
    const page = new URL(location ?? '').pathname;
    return { path: page.slice(page.indexOf('/oauth/')), cookie: browser.cookieHeader(page) };
  }

  async function expectNoInfluence(target: string, headers: readonly string[] = []): Promise<void> {
    const honest = await ask(rawGet(target, headers));
    expect(honest).toMatch(/^HTTP\/1\.1 [2-4]/);
    for (const [base, more] of forgeries) {
      const forged = await ask(rawGet(base + target, [...headers, ...more]));
      expect.soft(comparable(forged), base + more).toBe(comparable(honest));
      expect.soft(forged, base + more).not.toContain(evil);
    }
  }

  async function ask(request: string): Promise<string> {
    const connection = await RawConnection.open(provider.origin);
    connection.write(request);
    return connection.all();
  }

  it('changes neither the redirect to the interaction nor its cookies', async () => {
    await expectNoInfluence(authorize(), [`Cookie: ${signedIn.cookieHeader('/')}`]);
    const answer = parseAnswer(await ask(rawGet(authorize(), [`Host: ${evil}`])));
    const secure = options.authUrl !== undefined;
    expect(answer.values('set-cookie')).toHaveLength(2);
    for (const cookie of answer.values('set-cookie')) {
      const attributes = cookie.toLowerCase().split('; ');
      expect(attributes).toEqual(expect.arrayContaining(['samesite=lax', 'httponly']));
      expect([/domain=/i.test(cookie), attributes.includes('secure')]).toEqual([false, secure]);
    }
    expect(answer.values('strict-transport-security')).toHaveLength(secure ? 1 : 0);
  });

  const asked = (browser: TestBrowser) => [`Cookie: ${browser.cookieHeader('/')}`];
  const page = ['Accept: text/html'];
  it.each<readonly [string, string | TestBrowser, readonly string[]]>([
    ['discovery', '/.well-known/openid-configuration', []],
    ['authorization server metadata', '/.well-known/oauth-authorization-server', []],
    ['the key set', '/.well-known/jwks.json', []],
    ['the way to the host’s login', signedOut, []],
    ['the consent page', signedIn, []],
    ['what the client is told', authorize({ prompt: 'none' }), asked(signedOut)],
    ['the page of connected apps', apps, asked(signedIn)],
    ['the page of connected apps, signed out', apps, asked(signedOut)],
    ['an error page of a redirect URI', authorize({ redirect_uri: 'https://e.invalid/' }), page],
    ['an error page', '/nowhere', page],
    ['an error answer of userinfo', '/v1/oauth/userinfo', []],
    ['an error answer of the token endpoint', '/v1/oauth/token', []],
  ])('changes nothing in %s', async (_what, target, headers) => {
    if (typeof target === 'string') return expectNoInfluence(target, headers);
    const { path, cookie } = await interaction(target);
    await expectNoInfluence(path, [`Cookie: ${cookie}`]);
  });

  it('does not change where the consent form goes', async () => {
    const { path, cookie } = await interaction(signedIn);
    const text = await ask(rawGet(path, [`Cookie: ${cookie}`, `Host: ${evil}`]));
    expect(text).toContain(
      `<form class="actions pair" id="decision" method="post" action="${provider.site}/oauth/`,
    );
  });
});

describe('a request whose host is unknown', async () => {
  const provider = await startProvider();
  const discovery = '/.well-known/openid-configuration';

  it('is refused, or gets a response with the configured URLs', async () => {
    const bases = [`//${evil}`, 'http:', 'http://', 'http://[::1', 'http://a:99999', 'javascript:', '?'];
    const spelled = ['/.well-known/../.well-known/openid-configuration', '/.WELL-KNOWN/openid-configuration'];
    const targets = [...bases, `\\\\${evil}`].map((base) => base + discovery);
    const suffixed = [`${discovery}/`, `${discovery};x`, '/.well-known/%6fpenid-configuration'];
    const requests = [
      `GET ${discovery} HTTP/1.1\r\nConnection: close\r\n\r\n`,
      `GET ${discovery} HTTP/1.0\r\n\r\n`,
      rawGet(discovery, ['Host: one.example', 'Host: two.example']),
      rawGet(discovery, ['Host: one.example, two.example']),
      rawGet(discovery, [`Host:${' '.repeat(100)}${evil}`]),
    ];
    for (const target of [...targets, ...spelled, ...suffixed, '*', evil]) requests.push(rawGet(target));
    for (const request of requests) {
      const { status, body } = await sendRaw(provider.origin, request);
      expect.soft([200, 400, 404], request).toContain(status);
      expect.soft(body, request).not.toContain(evil);
      if (status === 200) expect.soft(body, request).toContain(`"issuer":"${provider.origin}"`);
    }
  });

  it('cannot crash an authorization with a target that two parsers read differently', async () => {
    const client = await provider.client();
    const query = provider.authorizeUrl(client).split('?')[1];
    const marks = [..."_^|;`'é"].map((mark) => `http://a${mark}b`);
    const encoded = ['http://a%41', 'http://%31', 'http://xn--a', 'http://[::1]', 'http://a{b}'];
    const without = ['http:///', 'http:', 'ws://a', 'x:'];
    for (const base of [...marks, ...encoded, ...without]) {
      const { status } = await sendRaw(provider.origin, rawGet(`${base}/oauth/authorize?${query}`));
      expect.soft([303, 400, 404], base).toContain(status);
    }
  });
});
