import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { createSealer, UnsealError } from '../../src/keys/sealing.ts';
import { openHints, sealHints } from '../../src/oauth/engine/interaction-hints.ts';
import { systemRandom } from '../../src/random.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { TestProvider } from '../support/provider.ts';

const minute = 60_000;

async function start(options: Partial<OstiaryOptions> = {}) {
  const provider = await TestProvider.start(options);
  onTestFinished(() => provider.stop());
  return { provider, client: await provider.client() };
}

describe('authorization requests that wait for their users', () => {
  it('are so many at most; beyond that a page says so with 429, and nobody is sent anywhere', async () => {
    const { provider, client } = await start({ limits: { unfinishedInteractions: 3 } });
    const go = () => provider.browser(null).get(provider.authorizeUrl(client));
    for (let time = 0; time < 3; time += 1) expect((await go()).status).toBe(303);
    const refused = await go();
    expect([refused.status, refused.headers.get('retry-after'), refused.location]).toEqual([429, '60', null]);
    expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const json = await provider.request(provider.authorizeUrl(client), {
      headers: { accept: 'application/json' },
    });
    expect([json.status, json.json().error]).toEqual([429, 'slow_down']);
    // Those that began before are answered …
    const browser = provider.browser();
    provider.clock.advance(10 * minute);
    // … and there is room again when they have ended.
    const first = await browser.get(provider.authorizeUrl(client));
    expect(first.status).toBe(303);
  });

  it('leave those alone who need not wait: a silent request is answered', async () => {
    const { provider, client } = await start({ limits: { unfinishedInteractions: 1 } });
    const browser = provider.browser();
    expect((await provider.authorize(client, {}, browser)).has('code')).toBe(true);
    provider.clock.advance(1000);
    expect((await provider.browser(null).get(provider.authorizeUrl(client))).status).toBe(303);
    expect((await provider.browser(null).get(provider.authorizeUrl(client))).status).toBe(429);
    expect((await provider.authorize(client, {}, browser)).has('code')).toBe(true);
    const silent = await provider.browser(null).get(provider.authorizeUrl(client, { prompt: 'none' }));
    expect(new URL(silent.location ?? '').searchParams.get('error')).toBe('login_required');
  });

  it('of all processes on a storage count, once a second, and not for each start', async () => {
    const database = fragileStorage();
    const options = { sealingKeys: [randomBytes(32)], limits: { unfinishedInteractions: 30 } };
    const { provider: one, client } = await start({ ...options, storage: database.storage });
    const { provider: two } = await start({ ...options, storage: database.storage, clock: one.clock });
    const go = async (provider: TestProvider) =>
      (await provider.browser(null).get(provider.authorizeUrl(client))).status;
    const flood = async (provider: TestProvider, count: number) => {
      const statuses = await Promise.all(Array.from({ length: count }, () => go(provider)));
      return statuses.filter((status) => status === 303).length;
    };
    expect(await flood(one, 20)).toBe(20);
    database.forget();
    expect(await flood(one, 20)).toBe(10);
    expect(database.calls).not.toContain('interactions.count');
    expect(await go(two)).toBe(429);
    expect(database.calls.filter((call) => call === 'interactions.count')).toHaveLength(1);
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
    provider.host.signIn(late.name, 'user-ana', new Date(provider.clock.now()));
    expect((await late.get(page)).status).toBe(200);
    provider.clock.advance(1);
    expect((await stranger.get(location ?? '')).status).toBe(400);
    expect((await late.get(page)).status).toBe(200);
    expect((await signedIn.get(waiting.location ?? '')).status).toBe(200);
    provider.clock.advance(50 * minute - 1);
    expect((await late.get(page)).status).toBe(200);
    const end = await provider.follow(signedIn, waiting.location ?? '');
    expect(new URL(end.location ?? '').searchParams.has('code')).toBe(true);
    provider.clock.advance(1);
    expect((await late.get(page)).status).toBe(400);
  });

  it('are not begun by HEAD, which hears whether the request is right', async () => {
    const database = fragileStorage(memoryStorage());
    const { provider, client } = await start({ storage: database.storage });
    database.forget();
    const head = (url: string) => provider.request(url, { method: 'HEAD', headers: { accept: 'text/html' } });
    const right = await head(provider.authorizeUrl(client));
    expect([right.status, right.location, right.text]).toEqual([200, null, '']);
    expect(right.headers.get('set-cookie')).toBeNull();
    expect((await head(provider.authorizeUrl({ ...client, id: 'nobody' }))).status).toBe(401);
    const wrong = await head(provider.authorizeUrl(client, { scope: 'nonsense' }));
    expect(new URL(wrong.location ?? '').searchParams.get('error')).toBe('invalid_scope');
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
    const folder = mkdtempSync(join(tmpdir(), 'ostiary-hints-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { provider, client } = await start({
      storage: sqliteStorage({ file: join(folder, 'ostiary.db') }),
    });
    const onDisk = () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('');
    const code = await provider.code(client);
    const idToken = String((await provider.exchange(client, code)).json().id_token);
    const hint = 'ana.lavi@example.com';
    const browser = provider.browser(null);
    const begun = await browser.get(
      provider.authorizeUrl(client, { login_hint: hint, id_token_hint: idToken, prompt: 'consent' }),
    );
    expect(onDisk()).toContain('a state');
    for (const secret of [hint, encodeURIComponent(hint), idToken, idToken.split('.')[1] ?? 'none'])
      expect(onDisk()).not.toContain(secret);

    const login = (await browser.get(begun.location ?? '')).location ?? '';
    expect(decodeURIComponent(login)).toContain(hint);
    provider.host.signIn(browser.name, 'user-ben', new Date(provider.clock.now() - minute));
    const another = (await browser.get(begun.location ?? '')).location ?? '';
    expect(another, 'the token names somebody else').toContain('login');
    provider.host.signIn(browser.name, 'user-ana', new Date(provider.clock.now()));
    const end = await provider.follow(browser, begun.location ?? '');
    expect(new URL(end.location ?? '').searchParams.has('code')).toBe(true);
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
    const { provider, client } = await start({
      storage: {
        ...storage,
        interactions: {
          ...storage.interactions,
          // As if it had been sealed with a key that was taken away since.
          save: (digest, payload, expiresAt) =>
            storage.interactions.save(
              digest,
              { ...payload, params: { ...Object(payload.params), ...sealed } },
              expiresAt,
            ),
        },
      },
    });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(client));
    const page = await browser.get(location ?? '');
    expect([page.status, page.text.includes('secret'), page.text.includes('ana')]).toEqual([
      400,
      false,
      false,
    ]);
    expect(provider.logged.map(({ message }) => message)).toContain(
      'an authorization request was given up: its hints cannot be opened',
    );
  });
});
