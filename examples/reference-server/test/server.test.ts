import { describe, expect, test } from 'vitest';
import { anaika, startServer } from './support/server.ts';
import { fieldsOf, Visitor } from './support/visitor.ts';

describe('every page', () => {
  test.each([['/'], ['/login'], ['/nothing'], ['/healthz'], ['/readyz']])(
    '%s carries the security headers',
    async (path) => {
      const { origin } = await startServer();
      const { headers } = await new Visitor(origin).get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'; style-src 'sha256-[^']+'/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script|unsafe|form-action/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('strict-transport-security')).toBeNull();
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test('sets cookies that only this host over TLS can set or read', async () => {
    const { origin } = await startServer({}, { OSTIARY_AUTH_URL: 'https://id.example.com' });
    const visitor = new Visitor(origin);
    const page = await visitor.get('/login');
    expect(page.headers.get('strict-transport-security')).toMatch(/max-age=\d{8}/);
    const answer = await visitor.post('/login', { ...fieldsOf(page.html), ...anaika });
    expect(answer.location).toBe('https://id.example.com/');
    const cookies = [...page.headers.getSetCookie(), ...answer.headers.getSetCookie()];
    expect(cookies).toHaveLength(4);
    for (const cookie of cookies) {
      expect(cookie).toMatch(
        /^__Host-ostiary_(?:(?:session|form)=[\w-]{43}|known=[\w.-]{77}); Path=\/; HttpOnly; SameSite=Lax; Secure/,
      );
    }
    // What ends with the browser has no age.
    const lasting = cookies.filter((cookie) => cookie.includes('Max-Age'));
    expect(lasting).toEqual([expect.stringMatching(/^__Host-ostiary_known=.*; Secure; Max-Age=15552000$/)]);
  });

  test('reads no cookie that came twice', async () => {
    const { origin } = await startServer();
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    const session = visitor.cookies.get('ostiary_session');
    const { html } = await new Visitor(origin).get('/', {
      Cookie: `ostiary_session=${session}; ostiary_session=${'A'.repeat(43)}`,
    });
    expect(html).toContain('href="/login"');
  });
});

describe('requests that are not as they should be', () => {
  test.each([
    ['an unknown path', 'GET', '/nothing', {}, 404],
    ['another method', 'PUT', '/login', {}, 405],
    ['a path of the prototype', 'GET', '/constructor', {}, 404],
    ['a body that is no form', 'POST', '/login', { 'Content-Type': 'application/json' }, 415],
    ['no content type', 'POST', '/login', {}, 415],
  ])('%s', async (_, method, path, headers, status) => {
    const { origin } = await startServer();
    const response = await fetch(`${origin}${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: new Uint8Array([123, 125]) }),
    });
    expect(response.status).toBe(status);
    if (status === 405) expect(response.headers.get('allow')).toBe('GET, POST');
  });

  test.each([
    ['too large', `handle=${'a'.repeat(20_000)}`, 413],
    ['twice the same field', 'handle=a&handle=b', 400],
    ['a zero byte', 'handle=%00', 400],
    ['invalid UTF-8', 'handle=%ff&password=%c3', 403],
    ['nothing', '', 403],
  ])('a form with %s', async (_, body, status) => {
    const { origin } = await startServer();
    const response = await fetch(`${origin}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    });
    expect(response.status).toBe(status);
  });

  test('HEAD answers without a body', async () => {
    const { origin } = await startServer();
    const response = await fetch(`${origin}/login`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('/readyz', () => {
  test('answers while the databases answer', async () => {
    const { origin, server } = await startServer();
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: 'ok' });
    await server.installation.database.close();
    const failing = await fetch(`${origin}/readyz`);
    expect(failing.status).toBe(503);
    expect(failing.headers.get('retry-after')).toBe('2');
    expect(await failing.json()).toEqual({ status: 'unavailable' });
  });

  test('notices that the storage of Ostiary is gone', async () => {
    const { origin, server } = await startServer();
    await server.installation.ostiary.close();
    expect((await fetch(`${origin}/readyz`)).status).toBe(503);
  });

  test('sends a load balancer away before the server refuses connections', async () => {
    const { origin, server } = await startServer({}, { OSTIARY_DRAIN_SECONDS: '1' });
    const closed = server.close();
    const draining = await fetch(`${origin}/readyz`);
    expect([draining.status, await draining.json()]).toEqual([503, { status: 'closing' }]);
    // Whoever has not noticed yet is still served.
    expect((await fetch(`${origin}/login`)).status).toBe(200);
    await closed;
    await expect(fetch(`${origin}/readyz`)).rejects.toThrow();
  });
});

describe('/healthz', () => {
  test('answers whatever the databases do: restarting the process would repair none', async () => {
    const { origin, server } = await startServer();
    await server.installation.ostiary.close();
    await server.installation.database.close();
    const response = await fetch(`${origin}/healthz`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });
});

describe('the log', () => {
  test('has one line per request, with the route and without its query, ids or secrets', async () => {
    const { origin, lines } = await startServer();
    const visitor = new Visitor(origin, { 'User-Agent': 'agent-of-a-person' });
    await visitor.signIn('anaika', anaika.password, '?return_to=/account/apps&login_hint=somebody');
    await visitor.get('/oauth/interaction/an-id-that-is-nobodys');
    await visitor.get('/v1/oauth/userinfo/svc_at_mistyped?access_token=in-the-query');
    const text = lines.join('');
    const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    expect(requests.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['GET', '/login', 200],
      ['POST', '/login', 303],
      ['GET', '/oauth/interaction/:id', expect.any(Number)],
      ['GET', '(no route)', 404],
    ]);
    expect(Object.keys(requests[0]).sort()).toEqual([
      ...['durationMs', 'level', 'method', 'msg', 'requestId', 'route', 'status', 'time'],
    ]);
    for (const secret of [
      anaika.password,
      ...visitor.cookies.values(),
      'somebody',
      'an-id-that-is-nobodys',
      'svc_at_mistyped',
      'in-the-query',
      'agent-of-a-person',
      '127.0.0.1:',
    ]) {
      expect(text).not.toContain(secret);
    }
  });
});

test('the authorization endpoint sends to the sign-in page and the session is its answer', async () => {
  const { origin, server } = await startServer();
  const { client } = await server.installation.ostiary.admin.clients.create({
    name: 'Shop',
    redirectUris: ['https://shop.example/callback'],
    allowedScopes: ['openid'],
    public: true,
  });
  const visitor = new Visitor(origin);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: 'https://shop.example/callback',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  let answer = await visitor.get(`/oauth/authorize?${query}`);
  while (answer.location !== null && !answer.location.includes('/login'))
    answer = await visitor.get(answer.location);
  const login = new URL(answer.location ?? '', origin);
  const returnTo = login.searchParams.get('return_to') ?? '';
  expect(new URL(returnTo, origin).pathname).toMatch(/^\/oauth\//);
  expect((await visitor.signIn('anaika', anaika.password, login.search)).location).toBe(
    new URL(returnTo, origin).href,
  );
  const consent = await visitor.get(returnTo);
  expect(consent.status).toBe(200);
  expect(consent.html).toContain('Shop');
  // Blocked while the page is open: the next step asks for a sign-in.
  await server.installation.accounts.block('anaika');
  expect((await visitor.get(returnTo)).location).toContain('/login');
});
