import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Login } from '../../src/index.ts';
import { assertionOf, clientKey, clientWithKeys, withAssertion } from '../support/client-keys.ts';
import { ana, Host } from '../support/directory.ts';
import { basic, pkce, type TestClient, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const path = '/v1/oauth/par';
const provider = await startProvider({ pushedRequests: {}, privateKeyJwt: true });
const app = await provider.client();
const second = 1000;

type Changes = Readonly<Record<string, string | undefined>>;

/** Parameters of a request, with the client's secret. */
const parametersOf = (client: TestClient, changes: Changes = {}) => ({
  response_type: 'code',
  ...{ client_id: client.id, client_secret: client.secret ?? undefined, redirect_uri: client.redirectUri },
  ...{ scope: 'openid', state: 'pushed', ...changes },
});

const push = (client = app, changes: Changes = {}, at = provider) =>
  at.call(path, parametersOf(client, changes));

async function pushed(client = app, changes: Changes = {}, at: TestProvider = provider): Promise<string> {
  const answer = await push(client, changes, at);
  expect(answer.status, answer.text).toBe(201);
  return String(answer.json().request_uri);
}

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

describe('the endpoint', () => {
  it('refuses what the authorization endpoint refuses, in JSON', async () => {
    for (const [outcome, changes] of [
      ['400 invalid_request', { response_type: undefined }],
      ['400 unsupported_response_type', { response_type: 'token' }],
      ['400 invalid_request', { redirect_uri: undefined }],
      ['400 invalid_request', { redirect_uri: 'https://evil.example/' }],
      ['400 invalid_scope', { scope: 'openid admin' }],
      ['400 invalid_request', { scope: undefined }],
      ['400 invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
      ['400 invalid_request', { ...pkce().bound, code_challenge_method: 'plain' }],
      ['400 invalid_request', { prompt: 'none login' }],
      ['400 invalid_request', { max_age: '-1' }],
      ['400 invalid_request', { response_mode: 'fragment' }],
      ['400 invalid_request', { state: 'x'.repeat(5000) }],
      ['400 request_not_supported', { request: 'x.y.z' }],
      ['400 invalid_request', { request_uri: await pushed() }],
      ['400 invalid_request', { client_id: undefined, client_secret: undefined }],
    ] as const)
      expect([changes, (await push(app, changes)).outcome]).toEqual([changes, outcome]);
    const open = await provider.client({ public: true });
    expect((await push(open)).outcome, 'without PKCE').toBe('400 invalid_request');
  });

  it('refuses a request of another client', async () => {
    const closed = await provider.client();
    await provider.ostiary.admin.clients.disable(closed.id);
    for (const [client, changes] of [
      [app, { client_secret: 'wrong' }],
      [app, { client_secret: undefined }],
      [app, { client_secret: undefined, ...pkce().bound }],
      [closed, {}],
      [{ ...app, id: 'nobody' }, {}],
    ] as const)
      expect((await push(client, changes)).outcome).toBe('401 invalid_client');
  });

  it('limits addresses, clients, and the number of requests', async () => {
    const byAddress = await startProvider({ pushedRequests: {}, limits: { pushedRequests: 2 } });
    const client = await byAddress.client();
    const outcomes = [1, 2, 3].map(() => push(client, {}, byAddress));
    expect((await Promise.all(outcomes)).map(({ status }) => status).sort()).toEqual([201, 201, 429]);

    const perClient = await startProvider({ pushedRequests: {}, limits: { pushedRequestsPerClient: 1 } });
    const [one, other, open] = [
      await perClient.client(),
      await perClient.client(),
      await perClient.client({ public: true }),
    ];
    await pushed(one, {}, perClient);
    const full = await push(one, {}, perClient);
    expect([full.outcome, full.headers.get('retry-after')]).toEqual(['429 slow_down', '60']);
    await pushed(other, {}, perClient);
    for (let index = 0; index < 3; index += 1) await pushed(open, pkce().bound, perClient);

    const altogether = await startProvider({ pushedRequests: {}, limits: { unfinishedInteractions: 2 } });
    const its = await altogether.client();
    await pushed(its, {}, altogether);
    await pushed(its, {}, altogether);
    expect((await push(its, {}, altogether)).outcome).toBe('429 slow_down');
    altogether.clock.advance(60 * second);
    await pushed(its, {}, altogether);
  });

  it('counts failures with those of the token endpoint', async () => {
    const limited = await startProvider({ pushedRequests: {}, limits: { failedClientAuthentications: 2 } });
    const client = await limited.client();
    await push(client, { client_secret: 'wrong' }, limited);
    await limited.exchange({ ...client, secret: 'wrong' }, 'x');
    expect((await push(client, {}, limited)).outcome).toBe('429 slow_down');
  });

  it('takes POST alone, and answers pages of the client', async () => {
    const answer = await provider.request(path);
    expect([answer.outcome, answer.headers.get('allow')]).toEqual(['405 invalid_request', 'POST, OPTIONS']);
    const headers = { origin: 'https://app.example' };
    const ofPage = await provider.call(path, parametersOf(app), headers);
    expect(ofPage.headers.get('access-control-allow-origin')).toBe('https://app.example');
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

describe('metadata', () => {
  const metadata = '/.well-known/oauth-authorization-server';

  it('contains the endpoint, and whether every client must use it', async () => {
    expect((await provider.request(metadata)).json()).toMatchObject({
      pushed_authorization_request_endpoint: `${provider.origin}${path}`,
      require_pushed_authorization_requests: false,
    });
    const strict = await startProvider({ pushedRequests: { required: true } });
    expect((await strict.request(metadata)).json().require_pushed_authorization_requests).toBe(true);
  });

  it('does not without the option: there is no such endpoint, and its references mean nothing', async () => {
    const without = await startProvider();
    const client = await without.client();
    expect((await without.request(metadata)).text).not.toContain('pushed');
    expect((await push(client, {}, without)).outcome).toBe('404 not_found');
    const request_uri = 'urn:ietf:params:oauth:request_uri:x';
    expect(await without.attempt(client, { request_uri })).toBe('request_uri_not_supported');
  });
});

it('the user is the one who signed in in that browser', async () => {
  const uri = await pushed();
  const answer = await provider.follow(provider.browser(), urlOf(uri));
  expect(await provider.subOf(app, answer)).toBe(ana.sub);
});
