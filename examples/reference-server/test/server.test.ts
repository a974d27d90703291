import { rename } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { anaika, environment, jean, start, startServer } from './support/server.ts';
import { fieldsOf, Visitor } from './support/visitor.ts';

describe('every page', () => {
  test('has the security headers', async () => {
    const { origin } = await startServer();
    for (const path of ['/', '/login', '/nothing', '/healthz', '/readyz']) {
      const { headers } = await new Visitor(origin).get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'; style-src 'sha256-[^']+'.*; frame-ancestors 'none'/);
      expect(policy.replace(/; script-src 'self'$/, '')).not.toMatch(/script|unsafe|form-action/);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'unsafe-none',
        'cache-control': 'no-store',
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(headers.get('strict-transport-security')).toBeNull();
    }
  });

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
    // Session cookies have no Max-Age.
    const lasting = cookies.filter((cookie) => cookie.includes('Max-Age'));
    expect(lasting).toEqual([expect.stringMatching(/^__Host-ostiary_known=.*; Secure; Max-Age=15552000$/)]);
  });

  test('ignores a cookie that was sent twice', async () => {
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

test('executes no transfers on SQLite with the role web, for the check of a restored copy', async () => {
  const env = await environment();
  const server = await start({ ...env, OSTIARY_ROLE: 'web' });
  const { accounts, ledger, ostiary } = server.installation;
  const executing = vi.spyOn(ledger.rail, 'execute');
  const { kid } = await accounts.create(anaika);
  await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  await ledger.fund('kafe', '10.00', 'HTG');
  const { key } = await ostiary.admin.apiKeys.issue({
    ...{ partner: 'kafe', mode: 'live', scopes: ['payments:write', 'payments:read'] },
  });
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const payments = `http://localhost:${server.port}/v1/partner/payments`;
  const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid } });
  const answer = await fetch(payments, { method: 'POST', headers, body });
  const { id } = (await answer.json()) as { id: string };
  // A worker would finish its transfers before the server is closed.
  await server.close();
  expect([answer.status, executing.mock.calls]).toEqual([201, []]);
  await start(env);
  const statusNow = async () => (await (await fetch(`${payments}/${id}`, { headers })).json()).status;
  await expect.poll(statusNow, { timeout: 20_000 }).toBe('completed');
}, 60_000);

const form = 'application/x-www-form-urlencoded';

test.each([
  ['an unknown path', 'GET', '/nothing', null, null, 404],
  ['another method', 'PUT', '/login', null, null, 405],
  ['a path of the prototype', 'GET', '/constructor', null, null, 404],
  ['a body that is no form', 'POST', '/login', 'application/json', '{}', 415],
  ['no content type', 'POST', '/login', null, '{}', 415],
  ['a form that is too large', 'POST', '/login', form, `handle=${'a'.repeat(20_000)}`, 413],
  ['a form with twice the same field', 'POST', '/login', form, 'handle=a&handle=b', 400],
  ['a form with a zero byte', 'POST', '/login', form, 'handle=%00', 400],
  ['a form with invalid UTF-8', 'POST', '/login', form, 'handle=%ff&password=%c3', 403],
  ['a form with nothing', 'POST', '/login', form, '', 403],
  ['HEAD', 'HEAD', '/login', null, null, 200],
])('a request that has %s is answered as it should be', async (_, method, path, type, body, status) => {
  const { origin } = await startServer();
  const response = await fetch(`${origin}${path}`, {
    method,
    ...(type !== null && { headers: { 'Content-Type': type } }),
    ...(body !== null && { body: new TextEncoder().encode(body) }),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('allow')).toBe(status === 405 ? 'GET, POST' : null);
  if (method === 'HEAD') expect(await response.text()).toBe('');
});

describe('/readyz and /healthz', () => {
  const ask = async (url: string) => {
    const response = await fetch(url);
    return [response.status, response.headers.get('retry-after'), await response.json()];
  };
  const ok = [200, null, { status: 'ok' }];
  const unavailable = [503, '2', { status: 'unavailable' }];

  test('report the state of each database; the process is healthy in any case', async () => {
    const { origin, server } = await startServer();
    const { origin: other, server: otherServer } = await startServer();
    expect(await ask(`${origin}/readyz`)).toEqual(ok);
    await server.installation.database.close();
    await otherServer.installation.ostiary.close();
    for (const each of [origin, other]) {
      expect(await ask(`${each}/readyz`)).toEqual(unavailable);
      expect(await ask(`${each}/healthz`)).toEqual(ok);
    }
  });

  test('report a missing database file, and requests fail meanwhile', async () => {
    const { server, origin, lines } = await startServer();
    const { databaseFile } = server.config;
    await rename(databaseFile, `${databaseFile}.old`);
    expect(await ask(`${origin}/readyz`)).toEqual(unavailable);
    expect(await ask(`${origin}/readyz`)).toEqual(unavailable);
    const logged = lines.filter((line) => line.includes('not ready'));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(`${databaseFile} was moved or deleted while this process had it open`);

    const reason = { code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('was moved or deleted') };
    const { accounts, admin } = server.installation;
    await expect(accounts.create({ ...jean, handle: 'late', phone: '+50937000003' })).rejects.toMatchObject(
      reason,
    );
    await expect(admin.partners.create({ slug: 'late', name: 'Late' })).rejects.toMatchObject(reason);

    await rename(`${databaseFile}.old`, databaseFile);
    expect(await ask(`${origin}/readyz`)).toEqual(ok);
    await server.close();
    const counted = lines.filter((line) => line.includes('"repeated":')).map((line) => JSON.parse(line));
    expect(counted).toMatchObject([{ msg: 'request', route: '/readyz', status: 503, repeated: 1 }]);
  });

  test('sends a load balancer away before the server refuses connections', async () => {
    const { origin, server } = await startServer({}, { OSTIARY_DRAIN_SECONDS: '1' });
    const closed = server.close();
    expect(await ask(`${origin}/readyz`)).toEqual([503, '2', { status: 'closing' }]);
    // Clients that have not noticed the stop yet are still served.
    expect((await fetch(`${origin}/login`)).status).toBe(200);
    await closed;
    await expect(fetch(`${origin}/readyz`)).rejects.toThrow();
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
