import type { ServerResponse } from 'node:http';
import { decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { ana, ben, Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { answer, back, loggingOut, postLogoutRedirectUris } from '../support/logging-out.ts';
import { type TestClient, TestClock } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const { provider, signedOut, client, hint, logout, isSignedIn } = await loggingOut();

describe('without login.signOut', () => {
  it('the endpoint does not exist, and discovery does not list it', async () => {
    const plain = await startProvider();
    expect((await plain.request('/oauth/logout')).status).toBe(404);
    expect((await plain.request('/oauth/logout/confirm', { method: 'POST' })).status).toBe(404);
    const metadata = (await plain.request('/.well-known/openid-configuration')).json();
    expect(Object.keys(metadata).filter((name) => /session|logout/.test(name))).toEqual([]);
  });
});

describe('a logout', () => {
  it('is in discovery', async () => {
    const metadata = (await provider.request('/.well-known/openid-configuration')).json();
    expect(metadata).toMatchObject({
      end_session_endpoint: `${provider.site}/oauth/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
  });

  it('of the user in the hint needs no confirmation, ends the session at the host and returns with state', async () => {
    const browser = provider.browser();
    const other = provider.browser();
    const page = await logout(
      { id_token_hint: hint, post_logout_redirect_uri: back, state: 'a b&c' },
      browser,
    );
    expect([page.status, page.location]).toEqual([303, `${back}?state=a+b%26c`]);
    expect(page.headers.getSetCookie()).toContain('session=; Max-Age=0; Path=/');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(signedOut).toContain(browser.name);
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([false, true]);
  });

  it('keeps the query of the address that is registered', async () => {
    const [, withQuery = ''] = postLogoutRedirectUris;
    const page = await logout({ id_token_hint: hint, post_logout_redirect_uri: withQuery, state: 's' });
    expect(page.location).toBe(`${withQuery}&state=s`);
    const without = await logout({ id_token_hint: hint, post_logout_redirect_uri: withQuery });
    expect(without.location).toBe(withQuery);
  });

  it('takes a hint that has expired, and one that was signed before a rotation', async () => {
    const clock = new TestClock();
    // The token has expired by the host's clock and by the machine's.
    clock.advance(-30 * 24 * 3_600_000);
    const own = await loggingOut({ clock });
    const app = await own.provider.client();
    const old = String((await own.provider.tokens(app)).id_token);
    await own.provider.ostiary.admin.signingKeys.rotate({ alg: 'RS256', activateAfterSeconds: 0 });
    clock.advance(20 * 3_600_000);
    const browser = own.provider.browser();
    const page = await browser.get(`${own.provider.site}/oauth/logout?id_token_hint=${old}`);
    expect([page.status, own.signedOut]).toEqual([200, [browser.name]]);
  });

  it.each<readonly [string, Record<string, string>]>([
    ['without a hint', { client_id: client.id, post_logout_redirect_uri: back }],
    ['without anything', {}],
    ['with a state alone', { state: 's' }],
    ['with a hint of somebody else', { id_token_hint: hint, post_logout_redirect_uri: back }],
  ])('%s asks, and does what the user says', async (name, parameters) => {
    const sub = name.includes('somebody') ? ben.sub : ana.sub;
    for (const decision of ['leave', 'stay']) {
      const browser = provider.browser(sub);
      const page = await logout(parameters, browser);
      expect([page.status, signedOut.includes(browser.name)]).toEqual([200, false]);
      expect(page.text).toContain(decision === 'leave' ? '>Sign out</button>' : '>Stay signed in</button>');
      if ('client_id' in parameters) expect(page.text).toContain('Rara &lt;b&gt;Market');
      const end = await answer(page, decision, browser);
      const returns = decision === 'leave' && 'post_logout_redirect_uri' in parameters;
      expect([end.status, end.location]).toEqual(returns ? [303, back] : [200, null]);
      if (!returns)
        expect(end.text).toContain(decision === 'leave' ? 'You are signed out' : 'still signed in');
      expect(signedOut.includes(browser.name)).toBe(decision === 'leave');
    }
  });

  it('without a signed-in user returns at once, or shows that the user is signed out', async () => {
    const nobody = provider.browser(null);
    const page = await logout({ client_id: client.id, post_logout_redirect_uri: back, state: 's' }, nobody);
    expect(page.location).toBe(`${back}?state=s`);
    expect((await logout({}, nobody)).text).toContain('You are signed out');
    expect(signedOut).not.toContain(nobody.name);
  });

  it('may be sent as a form, which is redirected to a GET with the cookie of the host', async () => {
    const browser = provider.browser();
    const form = { id_token_hint: hint, post_logout_redirect_uri: back, state: 's' };
    const page = await browser.post(`${provider.site}/oauth/logout`, form);
    expect(page.status).toBe(303);
    expect((await browser.get(page.location ?? '')).location).toBe(`${back}?state=s`);
    expect(signedOut).toContain(browser.name);
  });

  it('takes the ID token of a sign-in with the longest nonce as a hint, and as a form leaves out what is unknown', async () => {
    const tokens = await provider.tokens(client, { nonce: 'n'.repeat(4096) });
    const hintOf = { id_token_hint: String(tokens.id_token), post_logout_redirect_uri: back };
    expect((await logout(hintOf)).location).toBe(back);
    const form = `${new URLSearchParams(hintOf)}&x=${'x'.repeat(40_000)}&x=y`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = await provider.request('/oauth/logout', { method: 'POST', body: form, headers });
    expect(Object.fromEntries(posted.callback)).toEqual(hintOf);
  });

  it('speaks the languages of the pages', async () => {
    const asked = await loggingOut({ languages: ['en', 'ht', 'fr'] });
    const browser = asked.provider.browser();
    const page = await browser.get(`${asked.provider.site}/oauth/logout?ui_locales=ht`);
    expect(page.text).toContain('Dekonekte?');
  });

  it('is only looked at by HEAD', async () => {
    const browser = provider.browser();
    const url = `/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`;
    const cookie = `host=${browser.name}`;
    expect((await provider.request(url, { method: 'HEAD', headers: { cookie } })).status).toBe(200);
    expect(signedOut).not.toContain(browser.name);
  });
});

it.each([
  ['fails', () => Promise.reject(new Error('the host is broken')), '500 server_error'],
  ['does not answer', () => new Promise<void>(() => {}), '503 temporarily_unavailable'],
  ['answers itself', (_: unknown, response: ServerResponse) => void response.writeHead(204), null],
] as const)('where login.signOut %s nobody is sent on', async (_what, signOut, outcome) => {
  const host = new Host();
  const own = await startProvider({ login: { ...host.login, signOut }, hostTimeoutSeconds: 0.05 }, host);
  const app = await own.client({ postLogoutRedirectUris });
  const parameters = {
    id_token_hint: String((await own.tokens(app)).id_token),
    post_logout_redirect_uri: back,
  };
  const answering = own.browser().get(`${own.site}/oauth/logout?${new URLSearchParams(parameters)}`);
  if (outcome !== null) expect(await answering).toMatchObject({ outcome, location: null });
  else await answering.catch(() => null);
  expect(own.errors.length).toBeGreaterThan(0);
});

it('while the database is unreachable, no user is signed out', async () => {
  const database = fragileStorage();
  const own = await loggingOut({ storage: database.storage });
  const app: TestClient = await own.provider.client({ postLogoutRedirectUris });
  const token = String((await own.provider.tokens(app)).id_token);
  database.breakWhen((name) => name === 'clients.find');
  const page = await own.provider.browser().get(`${own.provider.site}/oauth/logout?id_token_hint=${token}`);
  expect([page.status, own.signedOut]).toEqual([503, []]);
});

describe('a hint of a key that was rotated out', () => {
  const hour = 3_600_000;
  const year = 365 * 24 * hour;

  /**
   * Starts a provider whose key has signed `hint` and was rotated out. A second rotation 25 hours later has
   * deleted its private part, and the key is no longer published.
   */
  async function rotatedOut() {
    const own = await loggingOut();
    const { rotate } = own.provider.ostiary.admin.signingKeys;
    const next = async (ms: number) => {
      own.provider.clock.advance(ms);
      await rotate({ alg: 'RS256', activateAfterSeconds: 0 });
    };
    await next(1);
    await next(25 * hour);
    const published = (await own.provider.request('/.well-known/jwks.json')).json().keys;
    expect(JSON.stringify(published)).not.toContain(String(decodeProtectedHeader(own.hint).kid));
    return { ...own, next };
  }

  it('signs its user out after 25 hours, and still on the last day of a year', async () => {
    const { provider: own, hint: old, logout: signOut, signedOut: left } = await rotatedOut();
    for (const ms of [0, year - 26 * hour]) {
      own.clock.advance(ms);
      const browser = own.browser();
      const page = await signOut({ id_token_hint: old, post_logout_redirect_uri: back }, browser);
      expect([page.status, page.location, left]).toEqual([303, back, [...left]]);
      expect(left).toContain(browser.name);
    }
  });

  it.each(['kept in the database', 'deleted by another rotation'])(
    'asks the user after a year, where the key is %s',
    async (state) => {
      const { provider: own, hint: old, logout: signOut, signedOut: left, next } = await rotatedOut();
      if (state.startsWith('deleted')) await next(year);
      else own.clock.advance(year);
      const browser = own.browser();
      const asked = await signOut({ id_token_hint: old, post_logout_redirect_uri: back }, browser);
      expect([asked.status, asked.text.includes('>Sign out</button>'), left]).toEqual([200, true, []]);
      expect((await answer(asked, 'leave', browser)).location).toBe(back);
      expect(left).toEqual([browser.name]);
      // The redirect URI must belong to the client that the token names.
      const elsewhere = { id_token_hint: old, post_logout_redirect_uri: 'https://evil.example/' };
      expect((await signOut(elsewhere)).outcome).toBe('400 redirect_uri_mismatch');
    },
  );

  it('asks the user after a year where the key was never rotated, too', async () => {
    const { provider: own, hint: old, logout: signOut, signedOut: left } = await loggingOut();
    const age = async (ms: number) => {
      own.clock.advance(ms);
      const page = await signOut({ id_token_hint: old, post_logout_redirect_uri: back }, own.browser());
      return [page.status, page.text.includes('>Sign out</button>'), left.length];
    };
    expect(await age(year - 1_000)).toEqual([303, false, 1]);
    expect(await age(1_000)).toEqual([200, true, 1]);
  });

  it('is refused where it is younger than the keys that are kept, or of another kind or service', async () => {
    const { provider: own, client: app, logout: signOut } = await rotatedOut();
    own.clock.advance(year);
    const { privateKey } = await generateKeyPair('RS256');
    const sign = (claims: object, header: object = {}) =>
      new SignJWT({ iss: own.site, sub: ana.sub, aud: app.id, iat: 1, ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'forgotten', ...header })
        .sign(privateKey);
    const status = async (token: string) =>
      (await signOut({ id_token_hint: token, post_logout_redirect_uri: back })).outcome;
    expect(await status(await sign({}))).toBe('200 ok');
    const recent = Math.floor(own.clock.now() / 1000);
    const strange = await Promise.all([
      ...[{ iat: recent }, { iat: undefined }, { iss: 'https://other.example' }, { aud: [app.id] }].map(
        (claims) => sign(claims),
      ),
      sign({}, { typ: 'logout+jwt' }),
    ]);
    for (const token of strange) expect(await status(token)).toBe('400 invalid_request');
  });
});

it('logouts of one address are limited as authorization requests are', async () => {
  const own = await loggingOut({ limits: { authorizeStarts: 2 } });
  const answers = [];
  for (let time = 0; time < 3; time += 1)
    answers.push(await own.provider.browser(null).get(`${own.provider.site}/oauth/logout`));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.text).toContain('Too many requests to sign out from this address.');
});

describe('addresses for users who signed out', () => {
  it.each([
    [['http://app.example/bye'], 'is http'],
    [['https://app.example/*'], 'wildcard'],
    [['https://app.example/#x'], 'fragment'],
    [['javascript:alert(1)'], 'scheme'],
    [[back, back], 'names one twice'],
  ])('are checked as redirect URIs are: %j', async (uris, problem) => {
    await expect(provider.client({ postLogoutRedirectUris: uris })).rejects.toThrow(
      new RegExp(`postLogoutRedirectUris.*${problem}`),
    );
  });

  it('are shown to administrators, and can be removed', async () => {
    const app = await provider.client({ postLogoutRedirectUris });
    const { clients } = provider.ostiary.admin;
    expect(await clients.get(app.id)).toMatchObject({ postLogoutRedirectUris });
    await clients.update(app.id, { postLogoutRedirectUris: [] });
    const page = await logout({ client_id: app.id, post_logout_redirect_uri: back });
    expect(page.outcome).toBe('400 redirect_uri_mismatch');
  });
});
