import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Login } from '../../src/index.ts';
import { assertionOf, clientKey, clientWithKeys, withAssertion } from '../support/client-keys.ts';
import { ana, Host } from '../support/directory.ts';
import { basic, pkce, type TestClient } from '../support/provider.ts';
import { path, pushing } from '../support/pushing.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ pushedRequests: {}, privateKeyJwt: true });
const app = await provider.client();
const { push, pushed, parametersOf } = pushing(provider, app);
const second = 1000;

const urlOf = (
  uri: string,
  client: Pick<TestClient, 'id'> = app,
  changes: Readonly<Record<string, string>> = {},
) =>
  `${provider.site}/oauth/authorize?${new URLSearchParams({ client_id: client.id, request_uri: uri, ...changes })}`;

const refused = '400 invalid_request_uri';

describe('a pushed request', () => {
  it('returns a reference that is valid for a minute', async () => {
    const answer = await push();
    expect([answer.status, answer.json()]).toEqual([
      201,
      {
        request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
        expires_in: 60,
      },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('signs the user in with the pushed parameters, and ignores others next to the reference', async () => {
    const { verifier, bound } = pkce();
    const uri = await pushed(app, { ...bound, scope: 'openid kyc', nonce: 'n' });
    const others = { scope: 'openid wallet:balance', state: 'other', redirect_uri: 'https://evil.example/' };
    const { callback, location } = await provider.follow(provider.browser(), urlOf(uri, app, others));
    expect(location?.startsWith(app.redirectUri)).toBe(true);
    expect([callback.get('state'), callback.get('iss')]).toEqual(['pushed', provider.origin]);
    const tokens = await provider.exchange(app, callback.get('code') ?? '', { code_verifier: verifier });
    expect(tokens.json()).toMatchObject({ scope: 'openid kyc' });
  });

  it('comes as a form, with the secret in the header, with an assertion, or of a public client', async () => {
    const { client_secret: _, ...parameters } = parametersOf(app);
    const form = new URLSearchParams(parameters as Record<string, string>);
    const header = { authorization: basic(app.id, app.secret) };
    expect((await provider.call(path, form, header)).status).toBe(201);
    form.delete('client_id');
    expect((await provider.call(path, form, header)).status).toBe(201);

    const key = await clientKey();
    const own = await clientWithKeys(provider, [key]);
    const sent = { ...parametersOf(own), ...withAssertion(await assertionOf(provider, own, key)) };
    expect((await provider.call(path, sent)).status).toBe(201);
    expect((await provider.call(path, sent)).outcome, 'with the same assertion').toBe('401 invalid_client');
    const claims = { aud: `${provider.origin}${path}` };
    const again = { ...sent, ...withAssertion(await assertionOf(provider, own, key, { claims })) };
    expect((await provider.call(path, again)).status).toBe(201);

    const open = await provider.client({ public: true });
    expect((await push(open, pkce().bound)).status).toBe(201);
  });

  it('is stored without anything that could be read', async () => {
    const uri = await pushed(app, { login_hint: 'ana@example.com' });
    const rows: unknown[] = [];
    const storage = memoryStorage();
    const watched = { ...storage.pushedRequests, save: async (row: unknown) => void rows.push(row) };
    const other = await startProvider({
      pushedRequests: {},
      storage: { ...storage, pushedRequests: watched },
    });
    const client = await other.client();
    await pushed(client, { login_hint: 'ana@example.com' }, other);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('ana@example.com');
    expect(JSON.stringify(rows)).not.toContain(uri);
  });
});

describe('a reference', () => {
  it('works once', async () => {
    const uri = await pushed(app, { prompt: 'none' });
    const browser = provider.browser();
    await provider.code(app, {}, browser);
    expect((await browser.get(urlOf(uri))).outcome).toBe('303 code');
    expect((await browser.get(urlOf(uri))).outcome).toBe(refused);
    expect((await provider.browser().get(urlOf(uri))).outcome).toBe(refused);
  });

  it('works for one of many that come together', async () => {
    const uri = await pushed();
    const browser = provider.browser();
    await provider.code(app, {}, browser);
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(urlOf(uri))));
    expect(answers.filter(({ outcome }) => outcome === '303 code')).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === refused)).toHaveLength(9);
  });

  it('works for one of two that found it at the same moment', async () => {
    const storage = memoryStorage();
    const { promise: bothFound, resolve: open } = Promise.withResolvers<void>();
    let found = 0;
    const find: typeof storage.pushedRequests.find = async (...given) => {
      const request = await storage.pushedRequests.find(...given);
      found += 1;
      if (found === 2) open();
      await bothFound;
      return request;
    };
    const at = await startProvider({
      pushedRequests: {},
      storage: { ...storage, pushedRequests: { ...storage.pushedRequests, find } },
    });
    const client = await at.client();
    const browser = at.browser();
    await at.code(client, {}, browser);
    const query = new URLSearchParams({ client_id: client.id, request_uri: await pushed(client, {}, at) });
    const url = `${at.site}/oauth/authorize?${query}`;
    const outcomes = (await Promise.all([browser.get(url), browser.get(url)])).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(['303 code', refused]);
  });

  it('leads the same browser to its page again', async () => {
    const own = await provider.client();
    const url = urlOf(await pushed(own), own);
    const browser = provider.browser();
    const page = (await browser.get(url)).location ?? '';
    expect((await browser.get(url)).location).toBe(page);
    expect((await provider.follow(browser, url)).outcome).toBe('303 code');
    // As for every interaction that is over.
    expect((await provider.follow(browser, url)).status).toBe(400);
  });

  it('is refused in another browser, before and after the user has answered', async () => {
    const client = await provider.client();
    const url = urlOf(await pushed(client), client);
    const [browser, thief] = [provider.browser(), provider.browser()];
    const page = (await browser.get(url)).location ?? '';
    const stolen = await thief.get(url);
    expect(stolen.location).toBe(page);
    expect((await thief.get(page)).status).toBe(400);
    const { location } = await provider.follow(browser, page);
    expect(location).toContain('code=');
    const late = await thief.get((await thief.get(url)).location ?? '');
    expect([late.status, late.location]).toEqual([400, null]);
  });

  it('works for its client alone, which can still use it', async () => {
    const other = await provider.client();
    const uri = await pushed();
    for (const id of [other.id, 'nobody', '__proto__', 'x'.repeat(300)]) {
      const answer = await provider.browser().get(urlOf(uri, { id }));
      expect([answer.outcome, answer.location]).toEqual([refused, null]);
    }
    const nobody = `${provider.site}/oauth/authorize?${new URLSearchParams({ request_uri: uri })}`;
    expect((await provider.browser().get(nobody)).outcome).toBe('400 invalid_request');
    expect((await provider.follow(provider.browser(), urlOf(uri))).outcome).toBe('303 code');
  });

  it('works for 60 seconds', async () => {
    const [early, late] = [await pushed(), await pushed()];
    provider.clock.advance(59 * second);
    expect((await provider.follow(provider.browser(), urlOf(early))).outcome).toBe('303 code');
    provider.clock.advance(second);
    expect((await provider.browser().get(urlOf(late))).outcome).toBe(refused);
  });

  it('is used up by no HEAD, no prefetch and no script', async () => {
    const uri = await pushed();
    const browser = provider.browser();
    await provider.code(app, {}, browser);
    const head = await provider.request(urlOf(uri), { method: 'HEAD' });
    expect([head.status, head.headers.get('location')]).toEqual([200, null]);
    const ahead = { 'sec-purpose': 'prefetch;prerender' };
    expect((await browser.get(urlOf(uri), ahead)).status).toBe(204);
    expect((await browser.get(urlOf(uri), { 'sec-fetch-dest': 'empty' })).outcome).toBe('401 login_required');
    expect((await browser.get(urlOf(uri))).outcome).toBe('303 code');
  });

  it('is used up by no request that the host could not answer', async () => {
    const host = new Host();
    let isDown = true;
    const authenticate: Login['authenticate'] = (request) =>
      isDown ? Promise.reject(new Error('down')) : host.login.authenticate(request);
    const at = await startProvider({ pushedRequests: {}, login: { ...host.login, authenticate } }, host);
    const client = await at.client();
    const uri = await pushed(client, {}, at);
    const query = new URLSearchParams({ client_id: client.id, request_uri: uri });
    const url = `${at.site}/oauth/authorize?${query}`;
    const browser = at.browser();
    expect((await browser.get(url)).status).toBe(500);
    isDown = false;
    expect((await at.follow(browser, url)).outcome).toBe('303 code');
  });

  it('may be posted', async () => {
    const uri = await pushed();
    const browser = provider.browser();
    const answer = await browser.post(`${provider.site}/oauth/authorize`, {
      client_id: app.id,
      request_uri: uri,
    });
    expect(answer.location).toBe(urlOf(uri));
    expect((await provider.follow(browser, answer.location ?? '')).outcome).toBe('303 code');
  });

  it('is of no use once the client lost what it asks for', async () => {
    const client = await provider.client({ redirectUris: ['https://a.example/', 'https://b.example/'] });
    const [uri, scope, closed] = [
      await pushed(client, { redirect_uri: 'https://a.example/' }),
      await pushed(client, { redirect_uri: 'https://b.example/', scope: 'openid kyc' }),
      await pushed(client, { redirect_uri: 'https://b.example/' }),
    ];
    const { clients } = provider.ostiary.admin;
    await clients.update(client.id, { redirectUris: ['https://b.example/'], allowedScopes: ['openid'] });
    expect((await provider.browser().get(urlOf(uri, client))).outcome).toBe('400 redirect_uri_mismatch');
    expect((await provider.browser().get(urlOf(scope, client))).outcome).toBe('303 invalid_scope');
    await clients.disable(client.id);
    expect((await provider.browser().get(urlOf(closed, client))).outcome).toBe('401 invalid_client');
  });

  it('of another form is no pushed request, and is never fetched', async () => {
    const parameters = { request_uri: 'https://app.example/request', redirect_uri: app.redirectUri };
    const answer = await provider.browser().get(provider.authorizeUrl(app, parameters));
    expect(answer.outcome).toBe('303 request_uri_not_supported');
    for (const uri of ['urn:ietf:params:oauth:request_uri:', 'urn:ietf:params:oauth:request_uri:unknown'])
      expect((await provider.browser().get(urlOf(uri))).outcome).toBe(refused);
    const twice = `${urlOf(await pushed())}&request_uri=x`;
    expect((await provider.browser().get(twice)).outcome).toBe('400 invalid_request');
  });
});

describe('a client that must push', () => {
  it('is refused without, at its own redirect URI', async () => {
    const client = await provider.client({ requirePushedRequests: true });
    const { outcome, callback } = await provider.browser().get(provider.authorizeUrl(client));
    expect([outcome, callback.get('error_description')]).toEqual([
      '303 invalid_request',
      'This client has to push its authorization requests.',
    ]);
    expect((await provider.follow(provider.browser(), urlOf(await pushed(client), client))).outcome).toBe(
      '303 code',
    );
  });

  it('is every client with the option', async () => {
    const strict = await startProvider({ pushedRequests: { required: true } });
    const client = await strict.client();
    expect(await strict.attempt(client)).toBe('invalid_request');
  });

  it('cannot be registered without the option', async () => {
    const without = await startProvider();
    const message = 'requirePushedRequests: needs the option pushedRequests';
    await expect(without.client({ requirePushedRequests: true })).rejects.toThrow(message);
    const client = await without.client();
    const change = without.ostiary.admin.clients.update(client.id, { requirePushedRequests: true });
    await expect(change).rejects.toThrow(message);
  });
});

it('the user is the one who signed in in that browser', async () => {
  const uri = await pushed();
  const answer = await provider.follow(provider.browser(), urlOf(uri));
  expect(await provider.subOf(app, answer)).toBe(ana.sub);
});
