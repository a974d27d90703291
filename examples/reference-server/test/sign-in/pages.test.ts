import { describe, expect, test } from 'vitest';
import { countHashes } from '../support/hashes.ts';
import { anaika, jean, startServer } from '../support/server.ts';
import { fieldsOf, Visitor } from '../support/visitor.ts';

/** Settings that trust the test's proxy, which sets the client's IP address. */
const behindProxy = { OSTIARY_TRUSTED_PROXIES: '127.0.0.1, ::1' };

describe('signing in', () => {
  test('accepts handle and password, and shows the signed-in user', async () => {
    const { origin } = await startServer();
    const visitor = new Visitor(origin);
    expect((await visitor.get('/')).html).toContain('href="/login"');
    expect(await visitor.signIn('@Anaika ', anaika.password)).toMatchObject({
      status: 303,
      location: `${origin}/`,
    });
    const home = await visitor.get('/');
    expect(home.html).toContain('Anaïka Pierre');
    expect(home.html).toContain('href="/account/apps"');
  });

  test('returns to the page it came from, and only on our own origin', async () => {
    const { origin } = await startServer();
    for (const [returnTo, expected] of [
      ['/account/apps', `${origin}/account/apps`],
      ['//evil.example', `${origin}/`],
    ] as const) {
      const visitor = new Visitor(origin);
      const query = `?return_to=${encodeURIComponent(returnTo)}`;
      expect((await visitor.signIn('anaika', anaika.password, query)).location).toBe(expected);
      // A signed-in user is redirected at once, with the same checks.
      expect(await visitor.get(`/login${query}`)).toMatchObject({ status: 303, location: expected });
      // The return URL in the form is checked, too, not only that of the page.
      const fields = fieldsOf((await visitor.get('/login?reauthenticate=1')).html);
      const answer = await visitor.post('/login', { ...fields, ...anaika, return_to: returnTo });
      expect(answer.location).toBe(expected);
    }
  });

  test('gives the browser a new session id, so that a planted one is useless', async () => {
    const { origin } = await startServer();
    const attacker = new Visitor(origin);
    await attacker.signIn('jean', jean.password);
    const planted = attacker.cookies.get('ostiary_session') ?? '';
    const victim = new Visitor(origin);
    victim.cookies.set('ostiary_session', planted);
    await victim.signIn('anaika', anaika.password, '?reauthenticate=1');
    expect(victim.cookies.get('ostiary_session')).not.toBe(planted);
    expect((await victim.get('/')).html).toContain('Anaïka');
    expect((await attacker.get('/')).html).toContain('href="/login"');
  });

  test('twice with one form leads on, if the button was pressed again while the next page was loading', async () => {
    let now = Date.parse('2026-05-01T12:00:00.000Z');
    const { origin } = await startServer({ now: () => now });
    const visitor = new Visitor(origin);
    const page = await visitor.get('/login?return_to=%2Faccount%2Fapps');
    const form = { ...fieldsOf(page.html), ...anaika };
    const location = `${origin}/account/apps`;
    expect(await visitor.post('/login', form)).toMatchObject({ status: 303, location });
    const session = visitor.cookies.get('ostiary_session');
    expect(await visitor.post('/login', form)).toMatchObject({ status: 303, location });
    expect(visitor.cookies.get('ostiary_session')).toBe(session);
    now += 60_000;
    expect((await visitor.post('/login', form)).status).toBe(403);
    now -= 60_000;
    // Not for another user, another site, or nobody.
    expect((await visitor.post('/login', { ...form, ...jean })).status).toBe(403);
    expect((await visitor.post('/login', form, { Origin: 'https://evil.example' })).status).toBe(403);
    visitor.cookies.delete('ostiary_session');
    expect((await visitor.post('/login', form)).status).toBe(403);
  });

  test('again needs the password, and updates the time of the sign-in', async () => {
    let now = Date.parse('2026-05-01T12:00:00.000Z');
    const { origin, server } = await startServer({ now: () => now });
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    now += 1_234;
    const page = await visitor.get('/login?reauthenticate=1');
    expect(page.status).toBe(200);
    expect(fieldsOf(page.html)).toMatchObject({ handle: 'anaika', reauthenticate: '1' });
    await visitor.signIn('anaika', anaika.password, '?reauthenticate=1');
    const session = await server.installation.sessions.find(visitor.cookies.get('ostiary_session'));
    expect(session?.authenticatedAt.toISOString()).toBe('2026-05-01T12:00:01.234Z');
  });

  test('fills in the handle that the app hints at, without trusting it', async () => {
    const { origin } = await startServer();
    const page = await new Visitor(origin).get(
      `/login?login_hint=${encodeURIComponent('"><script>alert(1)</script>')}`,
    );
    expect(page.html).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(page.html.match(/<script[^>]*>/g)).toEqual(['<script src="/login.js" defer>']);
  });

  test.each([
    ['fr', '', 'Se connecter'],
    ['', 'fr-HT, en;q=0.5', 'Se connecter'],
    ['en', 'fr', 'Sign in'],
    ['ht fr', 'en', 'Konekte'],
    ['de', 'es-DO, en;q=0.5', 'Iniciar sesión'],
    ['', 'pt-BR', 'Entrar'],
    ['', 'de', 'Sign in'],
    ['', 'fr;q=0, en', 'Sign in'],
  ])('speaks the language of ui_locales %j and Accept-Language %j', async (uiLocales, accepted, text) => {
    const { origin } = await startServer();
    const visitor = new Visitor(origin, { 'Accept-Language': accepted });
    const page = await visitor.get(`/login?ui_locales=${encodeURIComponent(uiLocales)}`);
    expect(page.html).toContain(`<h1>${text}</h1>`);
    const again = await visitor.post('/login', { ...fieldsOf(page.html), handle: 'x', password: 'wrong' });
    expect(again.html).toContain(`<h1>${text}</h1>`);
  });
});

test('the first language is for browsers that accept none of them', async () => {
  const { origin } = await startServer({}, { OSTIARY_LANGUAGES: 'ht,fr' });
  const page = await new Visitor(origin, { 'Accept-Language': 'en' }).get('/login');
  expect(page.html).toContain('<html lang="ht">');
});

test('the script of the page is its own file, and no page may run another', async () => {
  const { origin } = await startServer();
  const { headers } = await new Visitor(origin).get('/login');
  expect(headers.get('content-security-policy')).toMatch(/; script-src 'self'$/);
  expect((await fetch(`${origin}/login.js`)).headers.get('content-type')).toContain('text/javascript');
  const home = await new Visitor(origin).get('/');
  expect(home.headers.get('content-security-policy')).not.toContain('script-src');
});

const windowMs = 60_000;

describe('throttling', () => {
  test('returns 429 with Retry-After, even for the right password', async () => {
    const perHandleAndNetwork = { failures: 2, windowMs };
    const { origin } = await startServer({ signInLimits: { perHandleAndNetwork } });
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', 'wrong password');
    await visitor.signIn('anaika', 'wrong password');
    const hashes = countHashes();
    const refused = await visitor.signIn('anaika', anaika.password);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(refused.html).toContain('Too many attempts');
    expect(hashes()).toBe(0);
    expect((await visitor.signIn('jean', jean.password)).status).toBe(303);
  });

  test('counts the address that a trusted proxy sends, and ignores that of other clients', async () => {
    const limits = { perNetwork: { failures: 1, windowMs } };
    const trusting = await startServer({ signInLimits: limits }, behindProxy);
    const from = (origin: string, address: string): Visitor =>
      new Visitor(origin, { 'X-Forwarded-For': address });
    expect((await from(trusting.origin, '192.0.2.1').signIn('a', 'x')).status).toBe(422);
    expect((await from(trusting.origin, '6.6.6.6, 192.0.2.1').signIn('b', 'x')).status).toBe(429);
    expect((await from(trusting.origin, '192.0.2.1:4711').signIn('b', 'x')).status).toBe(429);
    expect((await from(trusting.origin, '192.0.2.2').signIn('c', 'x')).status).toBe(422);
    const plain = await startServer({ signInLimits: limits });
    expect((await from(plain.origin, '192.0.2.1').signIn('a', 'x')).status).toBe(422);
    expect((await from(plain.origin, '192.0.2.2').signIn('b', 'x')).status).toBe(429);
  });
});

describe('forms of other sites', () => {
  test('cannot sign a browser in', async () => {
    const { origin } = await startServer();
    const victim = new Visitor(origin);
    const genuine = fieldsOf((await victim.get('/login')).html);
    const attacker = new Visitor(origin);
    const foreign = fieldsOf((await attacker.get('/login')).html);
    const credentials = { handle: 'jean', password: jean.password };
    for (const [fields, headers] of [
      [{}, {}],
      [{ ...genuine, csrf: '' }, {}],
      [{ ...genuine, csrf: 'A'.repeat(43) }, {}],
      // Token from the attacker's own browser.
      [foreign, {}],
      [genuine, { Origin: 'https://evil.example' }],
      [genuine, { Origin: 'null' }],
      [genuine, { Origin: 'http://localhost:1' }],
      [genuine, { 'Sec-Fetch-Site': 'same-site' }],
    ] as const) {
      const answer = await victim.post('/login', { ...fields, ...credentials }, headers);
      expect(answer.status).toBe(403);
      expect(victim.cookies.has('ostiary_session')).toBe(false);
    }
    // The victim's own form still works, with the headers that browsers add.
    const own = await victim.post(
      '/login',
      { ...genuine, ...anaika },
      { Origin: origin, 'Sec-Fetch-Site': 'same-origin' },
    );
    expect(own.status).toBe(303);
  });

  test('cannot sign a browser out', async () => {
    const { origin } = await startServer({}, { OSTIARY_OPERATORS: 'on' });
    const victim = new Visitor(origin);
    await victim.signIn('anaika', anaika.password);
    const { csrf = '' } = fieldsOf((await victim.get('/')).html);
    const attacker = new Visitor(origin);
    await attacker.signIn('jean', jean.password);
    const { csrf: foreign = '' } = fieldsOf((await attacker.get('/')).html);
    const { csrf: ofSignIn = '' } = fieldsOf((await victim.get('/login?reauthenticate=1')).html);
    for (const [fields, headers] of [
      [{}, {}],
      [{ csrf: foreign }, {}],
      [{ csrf: ofSignIn }, {}],
      [{ csrf }, { Origin: 'https://evil.example' }],
    ] as const)
      expect((await victim.post('/sign-out', fields, headers)).status).toBe(403);
    // Browsers send no cookies with a form of another site, but take those of the response.
    for (const path of ['/sign-out', '/staff/sign-out']) {
      const form = { method: 'POST', body: new URLSearchParams(), redirect: 'manual' } as const;
      const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
      const answer = await fetch(`${origin}${path}`, { ...form, headers });
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect((await victim.get('/sign-out')).status).toBe(405);
    expect((await victim.get('/')).html).toContain('Anaïka');
    const session = victim.cookies.get('ostiary_session') ?? '';
    expect(await victim.post('/sign-out', { csrf })).toMatchObject({ status: 303, location: `${origin}/` });
    // The browser stays known, which grants nothing. The session is deleted on the server, too, not only the
    // cookie.
    expect([...victim.cookies.keys()]).toEqual(['ostiary_known']);
    expect((await victim.get('/passport')).status).toBe(303);
    victim.cookies.set('ostiary_session', session);
    expect((await victim.get('/')).html).toContain('href="/login"');
  });
});
