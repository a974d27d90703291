import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { createSealer, UnsealError } from '../../src/keys/sealing.ts';
import { openHints, sealHints } from '../../src/oauth/engine/interactions.ts';
import { systemRandom } from '../../src/random.ts';
import type { Storage } from '../../src/storage.ts';
import { ana, ben } from '../support/directory.ts';
import { fragileStorage, storageWith } from '../support/fragile-storage.ts';
import { temporaryDatabase } from '../support/partner-api.ts';
import type { TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const minute = 60_000;

async function start(options: Partial<OstiaryOptions> = {}) {
  const provider = await startProvider(options);
  const client = await provider.client();
  /** A request of somebody who is not signed in. */
  const go = (by: TestProvider = provider) => by.browser(null).get(by.authorizeUrl(client));
  return { provider, client, go };
}

describe('authorization requests that wait for their users', () => {
  it('are so many at most; beyond that a page says so with 429, and nobody is sent anywhere', async () => {
    const { provider, client, go } = await start({ limits: { unfinishedInteractions: 3 } });
    for (let time = 0; time < 3; time += 1) expect((await go()).status).toBe(303);
    const refused = await go();
    expect([refused.outcome, refused.headers.get('retry-after')]).toEqual(['429 slow_down', '60']);
    expect([refused.headers.get('content-type'), refused.location]).toEqual([
      'text/html; charset=utf-8',
      null,
    ]);
    const json = await provider.request(provider.authorizeUrl(client), {
      headers: { accept: 'application/json' },
    });
    expect(json.outcome).toBe('429 slow_down');
    // There is room again when those have ended.
    provider.clock.advance(10 * minute);
    expect((await go()).status).toBe(303);
  });

  it('leave those alone who need not wait: a silent request is answered', async () => {
    const { provider, client, go } = await start({ limits: { unfinishedInteractions: 1 } });
    const browser = provider.browser();
    expect(await provider.code(client, {}, browser)).toBeTruthy();
    provider.clock.advance(1000);
    expect([(await go()).status, (await go()).status]).toEqual([303, 429]);
    expect(await provider.attempt(client, {}, browser)).toBe('code');
    expect(await provider.attempt(client, { prompt: 'none' }, provider.browser(null))).toBe('login_required');
  });

  it('of all processes on a storage count, once a second, and not for each start', async () => {
    const { storage, ...database } = fragileStorage();
    const options = { storage, sealingKeys: [randomBytes(32)], limits: { unfinishedInteractions: 30 } };
    const { provider: one, go } = await start(options);
    const { provider: two } = await start({ ...options, clock: one.clock });
    const flood = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => go()));
      return answers.filter(({ status }) => status === 303).length;
    };
    const counts: string[] = [];
    database.breakWhen((call) => {
      if (call === 'interactions.count') counts.push(call);
      return false;
    });
    expect(await flood()).toBe(20);
    counts.length = 0;
    expect(await flood()).toBe(10);
    expect(counts).toHaveLength(0);
    expect((await go(two)).status).toBe(429);
    expect(counts).toHaveLength(1);
  });

  it('live ten minutes until somebody has signed in, and an hour then', async () => {
    const { provider, client } = await start();
    const stranger = provider.browser(null);
    const { location } = await stranger.get(provider.authorizeUrl(client));
    const signedIn = provider.browser();
    const waiting = await signedIn.get(provider.authorizeUrl(client));
    const late = provider.browser(null);
    const page = (await late.get(provider.authorizeUrl(client))).location ?? '';

    provider.clock.advance(10 * minute - 1);
    provider.signIn(late, ana.sub);
    expect((await late.get(page)).status).toBe(200);
    provider.clock.advance(1);
    expect((await stranger.get(location ?? '')).status).toBe(400);
    expect((await late.get(page)).status).toBe(200);
    expect((await signedIn.get(waiting.location ?? '')).status).toBe(200);
    provider.clock.advance(50 * minute - 1);
    expect((await late.get(page)).status).toBe(200);
    expect((await provider.follow(signedIn, waiting.location ?? '')).outcome).toBe('303 code');
    provider.clock.advance(1);
    expect((await late.get(page)).status).toBe(400);
  });

  it('are not begun by HEAD, which hears whether the request is right', async () => {
    const database = fragileStorage();
    const { provider, client } = await start({ storage: database.storage });
    database.forget();
    const head = (url: string) => provider.request(url, { method: 'HEAD', headers: { accept: 'text/html' } });
    const right = await head(provider.authorizeUrl(client));
    expect([right.status, right.location, right.text]).toEqual([200, null, '']);
    expect(right.headers.get('set-cookie')).toBeNull();
    expect((await head(provider.authorizeUrl({ ...client, id: 'nobody' }))).status).toBe(401);
    expect((await head(provider.authorizeUrl(client, { prompt: 'none' }))).status).toBe(200);
    const wrong = await head(provider.authorizeUrl(client, { scope: 'nonsense' }));
    expect([wrong.outcome, wrong.text]).toEqual(['303 invalid_scope', '']);
    expect(database.calls.filter((call) => call.startsWith('interactions.'))).toEqual([]);
    // One that has begun stays where it is.
    const browser = provider.browser();
    const page = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    const resume = page.replace('interaction', 'authorize');
    const cookie = browser.cookieHeader(new URL(resume).pathname);
    expect((await provider.request(resume, { method: 'HEAD', headers: { cookie } })).status).toBe(200);
    expect(database.calls).not.toContain('interactions.remove');
    expect((await browser.get(page)).status).toBe(200);
  });
});

describe('the hints of an authorization request', () => {
  it('are in the database sealed, for as long as the request waits, and reach the host', async () => {
    const file = temporaryDatabase();
    const folder = dirname(file);
    const { provider, client } = await start({ storage: sqliteStorage({ file }) });
    const onDisk = () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('');
    const idToken = String((await provider.tokens(client)).id_token);
    const hint = 'ana.lavi@example.com';
    const hints = { login_hint: hint, id_token_hint: idToken, prompt: 'consent' };
    const browser = provider.browser(null);
    const page = (await browser.get(provider.authorizeUrl(client, hints))).location ?? '';
    expect(onDisk()).toContain('a state');
    for (const secret of [hint, encodeURIComponent(hint), idToken, idToken.split('.')[1] ?? 'none'])
      expect(onDisk()).not.toContain(secret);

    expect((await browser.get(page)).callback.get('login_hint')).toBe(hint);
    provider.signIn(browser, ben.sub, minute);
    expect((await browser.get(page)).outcome, 'the token names somebody else').toBe('303 login');
    provider.signIn(browser, ana.sub);
    expect((await provider.follow(browser, page)).outcome).toBe('303 code');
    for (const secret of [hint, idToken]) expect(onDisk()).not.toContain(secret);
  });

  it('open with previous sealing keys, for their own request alone, and end the request where none opens', async () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const row = (keys: Buffer[], params: Record<string, unknown>, ask = openHints, name = 'row') =>
      ask(createSealer(keys, systemRandom), name, params);
    const sealed = row([first], { login_hint: 'ana', scope: 'openid' }, sealHints);
    expect(sealed).toEqual({ login_hint: expect.stringMatching(/^v1\./), scope: 'openid' });
    expect(row([second, first], sealed)).toEqual({ login_hint: 'ana', scope: 'openid' });
    expect(() => row([first], sealed, openHints, 'another row')).toThrow(UnsealError);

    const storage = memoryStorage();
    // As if it had been sealed with a key that was taken away since.
    const save: Storage['interactions']['save'] = (digest, payload, expiresAt) => {
      const params = { ...Object(payload.params), ...sealed };
      return storage.interactions.save(digest, { ...payload, params }, expiresAt);
    };
    const { provider, client } = await start({ storage: storageWith(storage, 'interactions', { save }) });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(client));
    const page = await browser.get(location ?? '');
    expect(page.status).toBe(400);
    expect(page.text).not.toMatch(/secret|ana/);
    expect(provider.logged.map(({ message }) => message)).toContain(
      'an authorization request was given up: its hints cannot be opened',
    );
  });
});
