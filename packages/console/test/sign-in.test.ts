import { randomBytes } from 'node:crypto';
import { createOstiary } from '@ostiary/core';
import type { NewApiKey } from '@ostiary/core/admin';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { Host } from '../../core/test/support/directory.ts';
import { partnerProvider } from '../../core/test/support/partner-api.ts';
import { sharingCounts } from '../../core/test/support/shared-counts.ts';
import { sandboxConsole } from '../src/index.ts';
import { consoleKit, csrfOf, signIn, target } from './console-kit.ts';

const paths = [
  'GET /sandbox',
  'POST /sandbox/sign-in',
  'POST /sandbox/sign-out',
  'GET /sandbox/trigger',
  'GET /sandbox/endpoints',
  `GET /sandbox/endpoints/we_${'0'.repeat(32)}`,
  `GET /sandbox/events/evt_${'0'.repeat(32)}`,
  `POST /sandbox/events/evt_${'0'.repeat(32)}/redeliver`,
];

describe('the option console', () => {
  it('is off by default: there is no page', async () => {
    const { provider } = await partnerProvider();
    for (const line of paths) {
      const [method = '', path = ''] = line.split(' ');
      expect.soft([line, (await provider.request(path, { method })).status]).toEqual([line, 404]);
    }
  });

  it('shows the sign-in page to visitors without a session', async () => {
    const { provider } = await consoleKit();
    const page = await provider.browser(null).get('/sandbox');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Test API key');
    for (const line of paths.filter((line) => line.startsWith('GET /sandbox/'))) {
      const answer = await provider.browser(null).get(line.slice(4));
      expect.soft([line, answer.status, target(answer)]).toEqual([line, 303, '/sandbox']);
    }
  });

  it('is refused where there are no partners', async () => {
    const { users, login } = new Host();
    const creation = createOstiary({
      authUrl: 'http://127.0.0.1',
      storage: memoryStorage(),
      sealingKeys: [randomBytes(32)],
      users,
      login,
      console: sandboxConsole(),
    });
    await expect(creation).rejects.toThrow(/console: .*payments/);
  });
});

describe('signing in', () => {
  it('accepts a test key with the scope webhooks, also with blanks around it', async () => {
    const kit = await consoleKit();
    const { key, partner, id } = await kit.provider.key({ mode: 'test', scopes: ['webhooks'] });
    const browser = kit.provider.browser(null);
    const answer = await signIn(browser, ` ${key}\t`);
    expect([answer.status, target(answer)]).toEqual([303, '/sandbox']);
    const { text } = await browser.get('/sandbox');
    for (const part of [partner, 'Trigger a test event']) expect(text).toContain(part);
    expect((await kit.storage.apiKeys.find(id))?.lastUsedAt).toBe(kit.provider.clock.now());
  });

  it('refuses every other key with the same text', async () => {
    const kit = await consoleKit();
    const { provider } = kit;
    const keyWith = async (settings: Partial<NewApiKey>) =>
      (await provider.key({ mode: 'test', scopes: ['webhooks'], ...settings })).key;
    const revoked = await provider.key({ mode: 'test' });
    await provider.ostiary.admin.apiKeys.revoke(revoked.id);
    const idle = await provider.key({ mode: 'test' });
    await provider.ostiary.admin.partners.disable(idle.partner);
    const genuine = await keyWith({});
    const keys = {
      live: await keyWith({ mode: 'live' }),
      'without the scope': await keyWith({ scopes: ['identity:verify', 'payments:read'] }),
      'that demands signatures': await keyWith({ requireSignature: true }),
      'of another address': await keyWith({ allowlist: ['192.0.2.0/24'] }),
      expired: await keyWith({ expiresAt: new Date(provider.clock.now() + 1_000) }),
      revoked: revoked.key,
      'of a disabled partner': idle.key,
      'with a typo': `${genuine.slice(0, -1)}${genuine.endsWith('a') ? 'b' : 'a'}`,
      unknown: 'svc_test_unknown',
      none: '',
    };
    provider.clock.advance(1_000);
    const words = new Set<string>();
    for (const [name, key] of Object.entries(keys)) {
      const browser = provider.browser(null);
      const answer = await signIn(browser, key);
      expect.soft([name, answer.status, answer.headers.getSetCookie()]).toEqual([name, 401, []]);
      words.add(answer.text.replace(/name="csrf" value="[^"]+"/, ''));
      expect.soft((await browser.get('/sandbox')).text).toContain('Test API key');
    }
    expect(words.size).toBe(1);
    expect([...words][0]).toMatch(/Only test keys do.*svc_test_/);
    expect((await signIn(provider.browser(null), genuine)).status).toBe(303);
  });

  it('leaves no trace of the key: not in an address, a cookie, a page or the log', async () => {
    const kit = await consoleKit();
    const { provider } = kit;
    const good = await kit.key();
    const live = await provider.key({ mode: 'live' });
    const browser = provider.browser(null);
    const seen: string[] = [];
    for (const { key } of [live, good]) {
      const answer = await signIn(browser, key);
      seen.push(answer.text, [...answer.headers].join(), answer.location ?? '');
    }
    for (const path of ['/sandbox', '/sandbox/endpoints', '/sandbox/trigger?type=webhook.test']) {
      const page = await browser.get(path);
      seen.push(page.text, [...page.headers].join());
    }
    seen.push(browser.cookieHeader('/sandbox'), JSON.stringify(provider.logged));
    const all = seen.join('\n');
    for (const { key } of [live, good]) {
      expect(all).not.toContain(key);
      expect(all).not.toContain(key.slice(9, 40));
      expect(all).not.toContain(Buffer.from(key).toString('base64url').slice(4, 40));
    }
    expect(all).toContain(good.id);
  });

  it('accepts only a recent form of its own page', async () => {
    const kit = await consoleKit();
    const { key } = await kit.key();
    const { provider } = kit;
    const browser = provider.browser(null);
    const csrf = csrfOf((await browser.get('/sandbox')).text);
    for (const form of [{ key }, { key, csrf: '' }, { key, csrf: `${csrf}x` }]) {
      expect((await browser.post('/sandbox/sign-in', form as Record<string, string>)).status).toBe(403);
    }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[]) {
      const answer = await browser.post('/sandbox/sign-in', { key, csrf }, headers);
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect((await browser.get(`/sandbox/sign-in?key=${key}&csrf=${csrf}`)).status).toBe(405);
    provider.clock.advance(24 * 3600_000 + 1);
    expect((await browser.post('/sandbox/sign-in', { key, csrf })).status).toBe(403);
  });

  it('opens at most 120 sessions of a partner in an hour, over all addresses and keys', async () => {
    const kit = await consoleKit({ trustedProxies: ['127.0.0.1'] });
    const { provider } = kit;
    const first = await kit.key();
    const second = await provider.key({ mode: 'test', partner: first.partner });
    const browser = provider.browser(null);
    const csrf = csrfOf((await browser.get('/sandbox')).text);
    let address = 0;
    const attempt = ({ key }: { readonly key: string }) => {
      address += 1;
      return browser.post('/sandbox/sign-in', { key, csrf }, { 'x-forwarded-for': `198.51.100.${address}` });
    };
    for (let success = 0; success < 120; success += 1)
      expect((await attempt(success % 2 === 0 ? first : second)).status).toBe(303);
    // An invalid key belongs to no partner, so no limit of a partner applies to it.
    expect((await attempt({ key: 'svc_test_wrong' })).status).toBe(401);
    const refused = await attempt(first);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    expect((await attempt(second)).status).toBe(429);
    expect((await attempt(await kit.key())).status).toBe(303);
    provider.clock.advance(3600_000);
    expect((await attempt(second)).status).toBe(303);
  });

  it('is limited to 60 attempts a minute for each client address, those that succeed included', async () => {
    const kit = await consoleKit({ trustedProxies: ['127.0.0.1'] });
    const { provider } = kit;
    const { key } = await kit.key();
    const browser = provider.browser(null);
    const csrf = csrfOf((await browser.get('/sandbox')).text);
    const attempt = (from: string, tried: string) =>
      browser.post('/sandbox/sign-in', { key: tried, csrf }, { 'x-forwarded-for': from });
    for (let success = 0; success < 2; success += 1) {
      expect((await attempt('198.51.100.7', key)).status).toBe(303);
    }
    for (let failure = 0; failure < 58; failure += 1) {
      expect((await attempt('198.51.100.7', 'svc_test_wrong')).status).toBe(401);
    }
    const refused = await attempt('198.51.100.7', key);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(refused.text).toContain('too many attempts');
    expect((await attempt('198.51.100.8', key)).status).toBe(303);
    provider.clock.advance(60_000);
    expect((await attempt('198.51.100.7', key)).status).toBe(303);
  });

  it('is limited in all processes together, where the storage shares their counts', async () => {
    const storage = sharingCounts(memoryStorage());
    const kits = [await consoleKit({}, storage), await consoleKit({}, storage)];
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 62; attempt += 1) {
      const browser = kits[attempt % 2]?.provider.browser(null);
      if (browser !== undefined) statuses.push((await signIn(browser, 'svc_test_wrong')).status);
    }
    expect([statuses.slice(0, 60).every((status) => status === 401), statuses.slice(60)]).toEqual([
      true,
      [429, 429],
    ]);
  });
});
