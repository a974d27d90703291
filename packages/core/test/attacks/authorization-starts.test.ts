import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage } from '../../src/storage.ts';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { fragileStorage, storageWith } from '../support/fragile-storage.ts';
import type { TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const minute = 60_000;

/** Starts a provider on a database whose calls are counted. */
async function start(options: Partial<OstiaryOptions> = {}) {
  const database = fragileStorage();
  const provider = await startProvider({ storage: database.storage, ...options });
  const client = await provider.client();
  const calls = (name: string) => database.calls.filter((call) => call === `interactions.${name}`).length;
  /** Sends an authorization request of a user who is not signed in. */
  const go = (by: TestProvider = provider) => by.browser(null).get(by.authorizeUrl(client));
  return { database, provider, client, go, calls, rows: () => calls('save') - calls('remove') };
}

describe('authorization requests that wait for their users', () => {
  it('are limited: beyond that a page says so, and requests without a page still succeed', async () => {
    const { provider, client, go } = await start({ limits: { unfinishedInteractions: 2 } });
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    provider.clock.advance(1000);
    expect([(await go()).status, (await go()).status]).toEqual([303, 303]);
    const refused = await go();
    expect([refused.outcome, refused.location]).toEqual(['429 slow_down', null]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '60',
      'content-type': 'text/html; charset=utf-8',
    });
    const program = { headers: { accept: 'application/json' } };
    expect((await provider.request(provider.authorizeUrl(client), program)).outcome).toBe('429 slow_down');
    expect(await provider.attempt(client, {}, browser)).toBe('code');
    expect(await provider.attempt(client, { prompt: 'none' }, provider.browser(null))).toBe('login_required');
    // New authorizations can start after the old ones have expired.
    provider.clock.advance(10 * minute);
    expect((await go()).status).toBe(303);
  });

  it('of all processes on a storage count, once a second, and not for each start', async () => {
    const options = { sealingKeys: [randomBytes(32)], limits: { unfinishedInteractions: 30 } };
    const { database, provider: one, go, calls } = await start(options);
    const two = await startProvider({ ...options, storage: database.storage, clock: one.clock });
    const flood = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => go()));
      return answers.filter(({ status }) => status === 303).length;
    };
    expect(await flood()).toBe(20);
    database.forget();
    expect([await flood(), calls('count')]).toEqual([10, 0]);
    expect([(await go(two)).status, calls('count')]).toEqual([429, 1]);
  });

  it('are valid for ten minutes without a signed-in user, and for an hour with one', async () => {
    const { provider, client, go } = await start();
    const signedIn = provider.browser();
    const [stranger, late] = [provider.browser(null), provider.browser(null)];
    const url = provider.authorizeUrl(client);
    const begun = [stranger, late, signedIn].map(async (browser) => (await browser.get(url)).location ?? '');
    const [forgotten = '', page = '', waiting = ''] = await Promise.all(begun);

    provider.clock.advance(10 * minute - 1);
    provider.signIn(late, ana.sub);
    expect((await late.get(page)).status).toBe(200);
    provider.clock.advance(1);
    expect((await stranger.get(forgotten)).status).toBe(400);
    expect((await signedIn.get(waiting)).status).toBe(200);
    provider.clock.advance(50 * minute - 1);
    const shown = await showConsent(late, page);
    expect((await provider.follow(signedIn, waiting)).outcome).toBe('303 code');
    const approved = await openConsent(provider, client, { prompt: 'consent' });
    const { location } = await approved.approve();
    provider.clock.advance(1);
    for (const answer of [await late.get(page), await shown.approve()])
      expect(answer.outcome).toBe('400 invalid_request');
    provider.clock.advance(60 * minute);
    expect((await approved.browser.get(location ?? '')).outcome).toBe('400 invalid_request');
    expect((await go()).status).toBe(303);
  });

  it('are not started by HEAD, which returns whether the request is valid', async () => {
    const { provider, client, calls, rows } = await start();
    const head = (url: string) => provider.request(url, { method: 'HEAD', headers: { accept: 'text/html' } });
    for (const [changes, outcome] of [
      [{}, '200 ok'],
      [{ prompt: 'none' }, '200 ok'],
      [{ scope: 'nonsense' }, '303 invalid_scope'],
      [{ client_id: 'nobody' }, '401 ok'],
    ] as const) {
      const answer = await head(provider.authorizeUrl(client, changes));
      expect([answer.outcome, answer.text, answer.headers.get('set-cookie')]).toEqual([outcome, '', null]);
    }
    expect(rows()).toBe(0);
    // An authorization that has started keeps its place.
    const browser = provider.browser();
    const page = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    const resume = `${page}/resume`;
    const cookie = browser.cookieHeader(new URL(resume).pathname);
    expect((await provider.request(resume, { method: 'HEAD', headers: { cookie } })).status).toBe(200);
    expect(calls('remove')).toBe(0);
    expect((await browser.get(page)).status).toBe(200);
  });

  it('are not stored if a request is refused or has prompt=none', async () => {
    const { provider, client, rows } = await start();
    for (const changes of [
      { prompt: 'none' },
      { response_type: 'token' },
      { redirect_uri: 'https://evil.example/' },
      { request_uri: 'https://evil.example/' },
      { state: 'a'.repeat(5000) },
    ])
      await provider.browser(null).get(provider.authorizeUrl(client, changes));
    expect(rows()).toBe(0);
  });

  it('stay one for repeated redirects of its browser, which are limited like starts', async () => {
    const { provider, client, rows } = await start({ limits: { authorizeStarts: 8 } });
    const browser = provider.browser();
    let url = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    for (let turn = 0; turn < 7; turn += 1) {
      await browser.get(url);
      url = (await browser.get(`${url}/resume`)).location ?? '';
      expect(rows()).toBe(1);
    }
    expect((await (await showConsent(browser, url)).finish()).outcome).toBe('303 code');
    expect(rows()).toBe(0);
    const again = (await browser.get(provider.authorizeUrl(client, { prompt: 'consent' }))).location ?? '';
    expect((await browser.get(`${again}/resume`)).outcome).toBe('429 slow_down');
  });
});

describe('the parameters of an authorization request', () => {
  it('are handed to the database sealed, and reach the host', async () => {
    const { database, provider, client } = await start();
    const idToken = String((await provider.tokens(client)).id_token);
    const hint = 'ana.lavi@example.com';
    const hints = { login_hint: hint, id_token_hint: idToken, prompt: 'consent' };
    const browser = provider.browser(null);
    const page = (await browser.get(provider.authorizeUrl(client, hints))).location ?? '';
    expect((await browser.get(page)).callback.get('login_hint')).toBe(hint);
    provider.signIn(browser, ben.sub, minute);
    expect((await browser.get(page)).outcome, 'the token names somebody else').toBe('303 login');
    provider.signIn(browser, ana.sub);
    expect((await provider.follow(browser, page)).outcome).toBe('303 code');
    const stored = JSON.stringify(database.given);
    for (const secret of ['a state', hint, encodeURIComponent(hint), idToken.split('.')[1] ?? 'none'])
      expect(stored).not.toContain(secret);
  });

  it('end with the request where no sealing key opens them', async () => {
    const storage = memoryStorage();
    const other = createSealer([randomBytes(32)], systemRandom);
    // Seal the parameters in the payload with another key, as if their sealing key had been retired since.
    const save: Storage['interactions']['save'] = (digest, payload, expiresAt) =>
      storage.interactions.save(digest, { ...payload, params: other.seal('{}', 'row') }, expiresAt);
    const { provider, client } = await start({ storage: storageWith(storage, 'interactions', { save }) });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(client));
    const page = await browser.get(location ?? '');
    expect([page.status, page.text]).toEqual([400, expect.not.stringMatching(/secret|ana/)]);
    const message = 'an authorization request was given up: its parameters cannot be opened';
    expect(provider.logged.map((line) => line.message)).toContain(message);
  });
});
