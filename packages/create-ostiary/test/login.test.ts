import { createTestOstiary } from '@ostiary/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { provisionDemoClient } from '../templates/shared/src/demo-client.ts';
import { homePage, loginPage, signIn } from '../templates/shared/src/login.ts';

const ana = { handle: 'ana', password: 'kafe ak pen' };

/** Submits the login form of the app templates in a new browser. */
async function signedIn(returnTo: string, typed: Readonly<Record<string, string>>) {
  const page = loginPage(null, returnTo);
  const [cookie = ''] = (page.headers['Set-Cookie'] ?? '').split(';');
  const [, secret = ''] = /name="secret" value="([^"]*)"/.exec(page.body ?? '') ?? [];
  return signIn(cookie, { ...ana, secret, return_to: returnTo, ...typed });
}

describe('the login of an app', () => {
  it('accepts a name with its password', async () => {
    const { status, headers } = await signedIn('/account/apps', {});
    expect([status, headers.Location]).toEqual([303, 'http://localhost:3000/account/apps']);
    expect(homePage(headers['Set-Cookie']?.split(';')[0]).body).toContain('Signed in as user-ana');
  });

  it('ends the previous session of the browser at a new sign-in', async () => {
    const first = (await signedIn('/', {})).headers['Set-Cookie']?.split(';')[0] ?? '';
    const page = loginPage(first, '/');
    const [formCookie = ''] = (page.headers['Set-Cookie'] ?? '').split(';');
    const [, secret = ''] = /name="secret" value="([^"]*)"/.exec(page.body ?? '') ?? [];
    const again = await signIn(`${first}; ${formCookie}`, { ...ana, secret, return_to: '/' });
    const second = again.headers['Set-Cookie']?.split(';')[0];
    expect(second).not.toBe(first);
    expect(homePage(second).body).toContain('Signed in as user-ana');
    expect(homePage(first).body).toContain('Nobody is signed in.');
  });

  it('shares no cookie with other apps on localhost, whose cookies browsers send to every port', async () => {
    const own = (await signedIn('/', {})).headers['Set-Cookie']?.split(';')[0] ?? '';
    const others = 'shop_session=a; session=eyJzdGF0ZSI6MX0; session_id=b; login-form=c';
    for (const cookies of [`${others}; ${own}`, `${own}; ${others}`])
      expect(homePage(cookies).body).toContain('Signed in as user-ana');
    // The port is part of the name, because the session cookies of Flask and Starlette are called `session`:
    // one app would sign users out of the other.
    expect(own).toMatch(/^session3000=/);
    expect(loginPage(null, '/').headers['Set-Cookie']).toMatch(/^login-form3000=/);
  });

  it('has a name field in which a phone does not capitalize the first letter', () => {
    expect(loginPage(null, '/').body).toMatch(/<input name="handle"[^>]* autocapitalize="none"/);
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, 401],
    ['a name that is not there', { handle: 'nobody' }, 401],
    ['a form of another site', { secret: 'made up' }, 403],
  ])('refuses %s', async (_, typed, status) => {
    const answer = await signedIn('/', typed);
    expect(answer.status).toBe(status);
    expect(answer.headers['Set-Cookie']).not.toMatch(/session/);
  });

  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', '/\t/evil.example', ''])(
    'goes back to paths of its own site only, and not to %j',
    async (target) => {
      expect((await signedIn(target, {})).headers.Location).toBe('http://localhost:3000/');
    },
  );
});

describe('a page of an app', () => {
  it('escapes text from outside', async () => {
    const { body } = loginPage('login-form3000="><b>', '"><script>');
    expect(body).toContain('name="return_to" value="&quot;&gt;&lt;script&gt;"');
    expect(body).not.toContain('<b>');
    expect((await signedIn('/', { password: 'wrong' })).body).toContain('Wrong name or password.');
  });

  it('keeps a user signed in for twelve hours', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const [cookie] = (await signedIn('/', {})).headers['Set-Cookie']?.split(';') ?? [];
    expect((await signedIn('/', {})).headers['Set-Cookie']).toMatch(
      /; HttpOnly; SameSite=Lax; Max-Age=43200$/,
    );
    vi.setSystemTime(Date.now() + 12 * 3_600_000);
    expect(homePage(cookie).body).toContain('Nobody is signed in.');
    vi.useRealTimers();
  });
});

describe('the demo client', () => {
  beforeEach(() => {
    vi.spyOn(console, 'log').mockReturnValue();
    return () => vi.restoreAllMocks();
  });

  it('is created once, and gets changed settings', async () => {
    await using kit = await createTestOstiary({ scopes: { email: true } });
    const { clients } = kit.ostiary.admin;
    await provisionDemoClient(kit.ostiary);
    const made = await clients.get('demo-app');
    expect(made).toMatchObject({ public: true, allowedScopes: ['openid', 'profile', 'email'] });
    const update = vi.spyOn(clients, 'update');
    await provisionDemoClient(kit.ostiary);
    expect(update).not.toHaveBeenCalled();
    await clients.update('demo-app', { allowedScopes: ['openid'] });
    await provisionDemoClient(kit.ostiary);
    expect((await clients.get('demo-app'))?.allowedScopes).toEqual(made?.allowedScopes);
  });
});
