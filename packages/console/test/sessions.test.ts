import { createHash, randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import { TestClock } from '../../core/test/support/provider.ts';
import { act, consoleKit, csrfOf, signIn, target, visited } from './console-kit.ts';

const isIn = async (browser: TestBrowser): Promise<boolean> =>
  (await browser.get('/sandbox')).text.includes('Trigger a test event');

/** Returns the value of the session cookie. */
const cookieOf = (browser: TestBrowser): string =>
  /svc_sandbox=([^;]*)/.exec(browser.cookieHeader('/sandbox'))?.[1] ?? '';

describe('the cookie of a session', () => {
  it.each([
    ['http://127.0.0.1', 'svc', '', 'svc_sandbox', ''],
    // `__Secure-` and not `__Host-`, because the cookie's path is below that of authUrl.
    ['https://id.example.com/idp', 'acme', '/idp', '__Secure-acme_sandbox', '; Secure'],
  ])(
    'is out of reach of scripts, other sites and other paths at %s, and lasts 8 hours',
    async (authUrl, prefix, base, name, secure) => {
      const kit = await consoleKit({ authUrl, prefix });
      const browser = kit.provider.browser(null);
      const answer = await signIn(browser, (await kit.key()).key, base);
      const [cookie = '', ...more] = answer.headers.getSetCookie();
      expect(more).toEqual([]);
      expect(cookie.replace(/=[\w-]{43};/, '=…;')).toBe(
        `${name}=…; Max-Age=28800; Path=${base}/sandbox; HttpOnly; SameSite=Strict${secure}`,
      );
      expect(answer.location).toBe(`${authUrl}/sandbox`);
      expect((await browser.get(`${base}/sandbox`)).text).toContain(`action="${authUrl}/sandbox/trigger"`);
    },
  );

  it('is invalid with any change, or with another stored token', async () => {
    const kit = await consoleKit();
    const value = cookieOf(await kit.signedIn(await kit.key()));
    const client = await kit.provider.client();
    const { location } = await kit.provider.browser().get(kit.provider.authorizeUrl(client));
    const interaction = location?.split('/').at(-1) ?? '';
    // A record under the plain hash of the cookie. It must not be found: sessions have a hash with a prefix.
    await kit.storage.sandbox.save(
      createHash('sha256').update(value).digest(),
      { keyId: 'key_of_somebody' },
      kit.provider.clock.now() + 1_000,
    );
    const last = value.at(-1) === 'A' ? 'Q' : 'A';
    for (const forged of [
      '',
      '.',
      value.slice(0, -1),
      `${value}A`,
      `${value.slice(0, -1)}${last}`,
      randomBytes(32).toString('base64url'),
      interaction,
      'constructor',
    ]) {
      const browser = kit.provider.browser(null);
      browser.setCookie('svc_sandbox', forged, '/sandbox');
      const answer = await browser.get('/sandbox/endpoints');
      expect.soft([forged, answer.status, target(answer)]).toEqual([forged, 303, '/sandbox?notice=ended']);
      expect.soft(answer.headers.getSetCookie()[0]).toContain('Expires=Thu, 01 Jan 1970');
    }
    const genuine = kit.provider.browser(null);
    genuine.setCookie('svc_sandbox', value, '/sandbox');
    expect(await isIn(genuine)).toBe(true);
  });

  it('is found beside one that was planted on another path', async () => {
    const kit = await consoleKit();
    const browser = kit.provider.browser(null);
    // Browsers send cookies of longer paths first (RFC 6265, section 5.4).
    browser.setCookie('svc_sandbox', 'planted', '/sandbox/endpoints');
    await signIn(browser, (await kit.key()).key);
    expect(browser.cookieHeader('/sandbox/endpoints')).toMatch(
      /svc_sandbox=planted; svc_sandbox=[\w-]{43}(?:;|$)/,
    );
    expect((await browser.get('/sandbox/endpoints')).status).toBe(200);
  });

  it('that is unknown costs the storage one read, and no write', async () => {
    const database = fragileStorage();
    const kit = await consoleKit({}, database.storage);
    const writes = () =>
      database.calls.filter((call) => !/\.(?:find|list|latest|isLive|count)/.test(call)).toSorted();
    const cookie = Array.from({ length: 20 }, (_, index) => `svc_sandbox=${'a'.repeat(42)}${index}`).join(
      '; ',
    );
    database.forget();
    const answer = await kit.provider.request('/sandbox', { headers: { cookie } });
    expect([answer.status, answer.text.includes('name="key"')]).toEqual([200, true]);
    expect(writes()).toEqual([]);
    // The first eight cookies are looked up, and once more to end their sessions.
    expect(database.calls.filter((call) => call === 'sandbox.find')).toHaveLength(16);
  });

  it('is in no stored row', async () => {
    const kit = await consoleKit();
    const { sandbox } = kit.storage;
    const rows: string[] = [];
    const save = sandbox.save.bind(sandbox);
    sandbox.save = (digest, ...row) => {
      rows.push(JSON.stringify([Buffer.from(digest).toString('base64url'), ...row]));
      return save(digest, ...row);
    };
    const key = await kit.key();
    const value = cookieOf(await kit.signedIn(key));
    expect(rows.join()).toContain(key.id);
    expect(rows.join()).not.toContain(value);
    expect(rows.join()).not.toContain(createHash('sha256').update(value).digest('base64url'));
  });
});

describe('a session', () => {
  it('expires 8 hours after the sign-in, even if it is used', async () => {
    const { kit, browser } = await visited();
    for (let hour = 0; hour < 7; hour += 1) {
      kit.provider.clock.advance(3600_000);
      expect(await isIn(browser)).toBe(true);
    }
    kit.provider.clock.advance(3600_000 - 1);
    expect(await isIn(browser)).toBe(true);
    kit.provider.clock.advance(1);
    const page = await browser.get('/sandbox');
    expect(page.text).toContain('You were signed out');
    expect(page.headers.getSetCookie()[0]).toContain('Expires=');
  });

  it('ends at the next request after the key was revoked', async () => {
    const kit = await consoleKit();
    const { provider } = kit;
    const { admin } = provider.ostiary;
    const ends: Record<string, (key: Awaited<ReturnType<typeof kit.key>>) => Promise<unknown>> = {
      revoked: ({ id }) => admin.apiKeys.revoke(id),
      rolled: ({ id }) => admin.apiKeys.roll(id, { overlapSeconds: 0 }),
      'partner disabled': ({ partner }) => admin.partners.disable(partner),
    };
    for (const [name, end] of Object.entries(ends)) {
      const key = await kit.key();
      const browser = await kit.signedIn(key);
      const csrf = csrfOf((await browser.get('/sandbox')).text);
      await end(key);
      const posted = await browser.post('/sandbox/trigger', { csrf, type: 'webhook.test', step: 'send' });
      expect.soft([name, target(posted)]).toEqual([name, '/sandbox?notice=ended']);
      const { events } = await kit.storage.events.list({
        partner: key.partner,
        mode: 'test',
        after: 0,
        limit: 10,
      });
      expect.soft([name, events]).toEqual([name, []]);
      expect.soft([name, await isIn(browser)]).toEqual([name, false]);
    }
    const expiring = await provider.key({
      mode: 'test',
      expiresAt: new Date(provider.clock.now() + 60_000),
    });
    const browser = await kit.signedIn(expiring);
    provider.clock.advance(60_000);
    expect(await isIn(browser)).toBe(false);
  });

  it('works only from the allowed addresses of the key', async () => {
    const kit = await consoleKit({ trustedProxies: ['127.0.0.1'] });
    const { key } = await kit.provider.key({ mode: 'test', allowlist: ['198.51.100.0/24'] });
    const browser = kit.provider.browser(null);
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const csrf = csrfOf((await browser.get('/sandbox', from('198.51.100.7'))).text);
    expect((await browser.post('/sandbox/sign-in', { key, csrf }, from('203.0.113.1'))).status).toBe(401);
    expect((await browser.post('/sandbox/sign-in', { key, csrf }, from('198.51.100.7'))).status).toBe(303);
    expect((await browser.get('/sandbox/endpoints', from('198.51.100.9'))).status).toBe(200);
    expect(target(await browser.get('/sandbox/endpoints', from('203.0.113.1')))).toBe(
      '/sandbox?notice=ended',
    );
  });

  it('holds in every process, also after the sealing keys were changed, and ends in all of them with a sign-out', async () => {
    const [storage, clock] = [memoryStorage(), new TestClock()];
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const kit = await consoleKit({ clock, sealingKeys: [first] }, storage);
    const elsewhere = await consoleKit({ clock, sealingKeys: [second, first] }, storage);
    const key = await kit.key();
    const [browser, other] = [await kit.signedIn(key), await kit.signedIn(key)];
    const copy = kit.provider.browser(null);
    const value = cookieOf(browser);
    copy.connectTo(elsewhere.provider.origin);
    copy.setCookie('svc_sandbox', value, '/sandbox');
    const csrf = csrfOf((await copy.get('/sandbox')).text);
    expect(await isIn(copy)).toBe(true);
    expect(target(await act(browser, '/sandbox/sign-out', {}))).toBe('/sandbox?notice=signed_out');
    expect((await browser.get('/sandbox?notice=signed_out')).text).toContain('You are signed out.');
    expect(browser.cookieHeader('/sandbox')).not.toContain('svc_sandbox');
    for (const { provider } of [kit, elsewhere]) {
      copy.connectTo(provider.origin);
      copy.setCookie('svc_sandbox', value, '/sandbox');
      const posted = await copy.post('/sandbox/endpoints', { csrf });
      expect(target(posted)).toBe('/sandbox?notice=ended');
    }
    expect(await isIn(other)).toBe(true);
  });

  it('survives an unreachable database, during which pages have status 503', async () => {
    const fragile = fragileStorage();
    const { kit, key, browser } = await visited({}, fragile.storage);
    const csrf = csrfOf((await browser.get('/sandbox')).text);
    fragile.breakWhen(() => true);
    const answers = [
      await browser.get('/sandbox'),
      await browser.get('/sandbox/endpoints'),
      await browser.post('/sandbox/trigger', { csrf, type: 'webhook.test', step: 'send' }),
      await signIn(kit.provider.browser(null), key.key),
    ];
    for (const { status, headers, text } of answers) {
      expect([status, headers.get('retry-after'), headers.getSetCookie()]).toEqual([503, '1', []]);
      expect(text).toContain('We will be right back');
      expect(text).not.toContain('secret detail');
    }
    fragile.breakWhen(null);
    expect(await isIn(browser)).toBe(true);
    const problems = [
      ['webhooks.create', '/sandbox/endpoints', { url: 'https://a.example/', 'type *': 'on' }],
      ['events.publish', '/sandbox/trigger', { type: 'webhook.test', step: 'send' }],
    ] as const;
    for (const [call, path, form] of problems) {
      fragile.breakWhen((made) => made === call);
      const answer = await browser.post(path, { csrf, secret: 'a secret of this test', ...form });
      expect([call, answer.status]).toEqual([call, 503]);
    }
  });

  it('is refused beyond the limit of its partner', async () => {
    const kit = await consoleKit({ partnerLimits: { console: { requests: 5, windowSeconds: 60 } } });
    const [busy, calm] = [await kit.signedIn(await kit.key()), await kit.signedIn(await kit.key())];
    // The sign-in counts towards the limit.
    for (let request = 1; request < 5; request += 1)
      expect((await busy.get('/sandbox/endpoints')).status).toBe(200);
    const refused = await busy.get('/sandbox/endpoints');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await calm.get('/sandbox/endpoints')).status).toBe(200);
  });
});
