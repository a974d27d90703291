import { memoryStorage } from '@ostiary/testing/memory';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { NewClient } from '../../src/admin.ts';
import type { Login, OstiaryOptions } from '../../src/index.ts';
import { assemble } from '../../src/internal.ts';
import { signOutHandler, signOutKind } from '../../src/oauth/sign-outs.ts';
import type { Core } from '../../src/options/context.ts';
import type { TestBrowser } from '../support/browser.ts';
import { ana, ben, Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { type TestClient, TestClock } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { sink } from '../webhooks/support/sink.ts';

/**
 * Starts a provider whose host can sign users out, and a client with a logout endpoint on this machine.
 */
async function start(options: Partial<OstiaryOptions> = {}, host = new Host()) {
  const webhooks = { allowPrivateTargets: true, retryDelaysSeconds: [60, 300] };
  const provider = await startProvider({ login: host.loginWithSignOut, webhooks, ...options }, host);
  const endpoint = await sink(() => provider.clock.now());
  return {
    provider,
    endpoint,
    work: () => provider.ostiary.worker.runDue(),
    /** Returns the logout tokens that the client's endpoint received. */
    told: () => endpoint.received.map(({ body }) => decodeJwt(String(body).replace('logout_token=', ''))),
    async client(settings: Partial<NewClient> = {}, sub = ana.sub) {
      const client = await provider.client({ backchannelLogoutUri: endpoint.url, ...settings });
      const tokens = await provider.tokens(client, {}, provider.browser(sub));
      return { ...client, hint: String(tokens.id_token) };
    },
  };
}

describe('when a user signs out', () => {
  it.each(['RS256', 'ES256'] as const)('the app is told with a logout token, signed with %s', async (alg) => {
    const { provider, endpoint, work, client } = await start();
    const { id, hint } = await client({ idTokenAlg: alg });
    await provider.browser().get(`${provider.site}/oauth/logout?id_token_hint=${hint}`);
    await work();
    const [{ headers, body, path } = expect.fail('nothing came')] = endpoint.received;
    expect([path, headers['content-type']]).toEqual(['/hook', 'application/x-www-form-urlencoded']);
    const jwks = (await provider.request('/.well-known/jwks.json')).json() as unknown as JSONWebKeySet;
    const form = new URLSearchParams(String(body));
    expect([...form.keys()]).toEqual(['logout_token']);
    const now = Math.floor(provider.clock.now() / 1000);
    const { payload, protectedHeader } = await jwtVerify(
      form.get('logout_token') ?? '',
      createLocalJWKSet(jwks),
      { issuer: provider.site, audience: id, typ: 'logout+jwt', currentDate: new Date(now * 1000) },
    );
    expect(protectedHeader.alg).toBe(alg);
    expect(payload).toEqual({
      ...{ iss: provider.site, sub: ana.sub, aud: id, iat: now, exp: now + 120 },
      jti: expect.stringMatching(/^[\w-]{22}$/),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sid: decodeJwt(hint).sid,
    });
    expect(payload.sid).toMatch(/^[\w-]{43}$/);
  });

  it('the logout token is no id_token_hint, at either endpoint', async () => {
    const { provider, endpoint, work, client } = await start();
    const app = await client();
    await provider.browser().get(`${provider.site}/oauth/logout?id_token_hint=${app.hint}`);
    await work();
    const token = new URLSearchParams(String(endpoint.received[0]?.body)).get('logout_token') ?? '';
    expect(decodeJwt(token).aud).toBe(app.id);
    const browser = provider.browser();
    const asked = await browser.get(`${provider.site}/oauth/logout?id_token_hint=${token}`);
    expect([asked.status, asked.text.includes('>Sign out</button>')]).toEqual([200, true]);
    expect(await provider.attempt(app, { id_token_hint: token, prompt: 'none' })).toBe('invalid_request');
  });

  it('the session id is that of the sign-in: one for each, the same in every token of it', async () => {
    const { provider, told, work, client } = await start();
    const app = await client();
    const other = await client();
    const sessionOf = async (browser: TestBrowser, { id, secret, redirectUri }: TestClient) => {
      const { id_token } = await provider.tokens({ id, secret, redirectUri }, {}, browser);
      return decodeJwt(String(id_token)).sid;
    };
    const [first, second] = [provider.browser(), provider.browser(null)];
    provider.signIn(second, ana.sub, 60_000);
    const sid = await sessionOf(second, app);
    expect(await sessionOf(second, other)).toBe(sid);
    expect(await sessionOf(first, app)).not.toBe(sid);
    const { id_token } = await provider.tokens(app, {}, second);
    await second.get(`${provider.site}/oauth/logout?id_token_hint=${id_token}`);
    await work();
    expect(told().map((token) => token.sid)).toEqual([sid, sid]);
  });

  it('the session id is a hash of the id that the host gives', async () => {
    const host = new Host();
    const sessionId = 'session 1 of the host';
    const { authenticate, signOut } = host.loginWithSignOut;
    const login: Login = {
      ...host.loginWithSignOut,
      ...(signOut && { signOut }),
      async authenticate(request) {
        const found = await authenticate(request);
        return found && { ...found, sessionId };
      },
    };
    const { provider, told, work, client } = await start({ login }, host);
    const app = await client();
    const browser = provider.browser();
    const { sid } = decodeJwt(app.hint);
    // The user enters the password again within the host's session.
    provider.signIn(browser, ana.sub, 90_000);
    const later = await provider.tokens(app, {}, browser);
    expect(decodeJwt(String(later.id_token)).sid).toBe(sid);
    await provider.ostiary.users.signedOut(ana.sub, { authenticatedAt: new Date(), sessionId });
    await provider.ostiary.users.signedOut(ana.sub);
    await work();
    expect(told().map((token) => token.sid)).toEqual(expect.arrayContaining([sid, undefined]));
    expect(told()).toHaveLength(2);
    expect(JSON.stringify(told())).not.toContain('session 1');
  });

  it('every sign-out is notified, also during an earlier one of the same user', async () => {
    const { provider, endpoint, told, work, client } = await start();
    await client();
    endpoint.answer = (response) => void response.writeHead(503).end();
    for (const seconds of [1, 2]) {
      await provider.ostiary.users.signedOut(ana.sub, { authenticatedAt: new Date(seconds * 1000) });
      await work();
    }
    expect(new Set(told().map(({ sid }) => sid)).size).toBe(2);
  });

  it('the end of all access of a user is notified at once, while an earlier sign-out waits for its retry', async () => {
    const { provider, endpoint, told, work, client } = await start();
    await client();
    endpoint.answer = (response) => void response.writeHead(503).end();
    await provider.ostiary.users.signedOut(ana.sub, { authenticatedAt: new Date(1000) });
    await work();
    endpoint.answer = (response) => void response.writeHead(200).end();
    await provider.ostiary.users.end(ana.sub);
    await work();
    // Ending all access names no session, so it applies to all.
    expect(told().map(({ sid }) => typeof sid)).toEqual(['string', 'undefined']);
  });

  it('a sign-out is notified while an earlier one of the same user and client has no response yet', async () => {
    const { provider, endpoint, told, client } = await start();
    await client();
    endpoint.answer = () => {};
    provider.ostiary.worker.start();
    for (const count of [1, 2, 3]) {
      await provider.ostiary.users.signedOut(ana.sub, { authenticatedAt: new Date(count * 1000) });
      await vi.waitFor(() => expect(endpoint.received).toHaveLength(count), patient);
    }
    expect(new Set(told().map(({ sid }) => sid)).size).toBe(3);
  });

  it.each([
    ['at the host', (ostiary) => ostiary.users.signedOut(ana.sub)],
    ['because the user was blocked', (ostiary) => ostiary.users.end(ana.sub)],
  ] as const satisfies readonly (readonly [
    string,
    (ostiary: Awaited<ReturnType<typeof start>>['provider']['ostiary']) => Promise<void>,
  ])[])('%s, those apps are told that the user lets in, and nobody else', async (_name, end) => {
    const { provider, told, work, client } = await start();
    const [own, disabled, removed] = [await client(), await client(), await client()];
    const second = await client();
    await client({}, ben.sub);
    await client({ backchannelLogoutUri: null });
    await provider.ostiary.admin.clients.disable(disabled.id);
    await provider.removeApp(removed);
    await end(provider.ostiary);
    await work();
    const tokens = told();
    expect(tokens.map(({ aud }) => aud).toSorted()).toEqual([own.id, second.id].toSorted());
    expect(new Set(tokens.map(({ sub }) => sub))).toEqual(new Set([ana.sub]));
    expect(new Set(tokens.map(({ jti }) => jti)).size).toBe(2);
  });

  it('a token is no proof of a sign-in', async () => {
    const { provider, endpoint, work, client } = await start();
    const app = await client();
    await provider.ostiary.users.signedOut(ana.sub);
    await work();
    const token = String(endpoint.received[0]?.body).replace('logout_token=', '');
    const page = await provider.browser().get(`${provider.site}/oauth/logout?id_token_hint=${token}`);
    expect([page.status, page.text.includes('>Sign out</button>')]).toEqual([200, true]);
    const hinted = provider.authorizeUrl(app, { id_token_hint: token });
    const refused = await provider.follow(provider.browser(), hinted);
    expect(refused.callback.get('error_description')).toBe(
      'The id_token_hint is not an ID token of this service.',
    );
  });
});

describe('an app that does not take it', () => {
  it.each([500, 400, 302])(
    'answers %d and is told again, as webhooks are, and then no more',
    async (status) => {
      const { provider, endpoint, told, work, client } = await start();
      const { id } = await client();
      endpoint.answer = (response) => void response.writeHead(status, { location: '/elsewhere' }).end();
      await provider.ostiary.users.signedOut(ana.sub);
      const begin = provider.clock.now();
      for (const seconds of [0, 59, 1, 299, 1, 10_000]) {
        provider.clock.advance(seconds * 1000);
        await work();
      }
      expect(endpoint.received.map(({ at }) => at - begin)).toEqual([0, 60_000, 360_000]);
      const tokens = told();
      expect(new Set(tokens.map(({ jti }) => jti)).size).toBe(3);
      expect(Number(tokens[2]?.iat) - Number(tokens[0]?.iat)).toBe(360);
      const [line] = provider.logged.filter(({ level }) => level === 'warn');
      expect(line).toMatchObject({
        message: expect.stringContaining('not tried again'),
        fields: { client: id, httpStatus: status },
      });
    },
  );

  it.each([
    ['takes its address back', { backchannelLogoutUri: null }],
    ['is disabled', null],
  ])('and %s is not told any more', async (_name, changes) => {
    const { provider, endpoint, work, client } = await start();
    const { id } = await client();
    const { clients } = provider.ostiary.admin;
    await provider.ostiary.users.signedOut(ana.sub);
    await (changes === null ? clients.disable(id) : clients.update(id, changes));
    await work();
    expect([await work(), endpoint.received]).toEqual([0, []]);
  });

  it('because it is in the network of the service is never called, nor registered', async () => {
    const addresses = ['93.184.215.14'];
    const webhooks = { resolve: async () => addresses, retryDelaysSeconds: [] };
    const { provider, work, client } = await start({ webhooks });
    await client({ backchannelLogoutUri: 'https://app.example/logout' });
    addresses[0] = '127.0.0.1';
    await provider.ostiary.users.signedOut(ana.sub);
    await work();
    const lines = provider.logged.filter(({ message }) => message.includes('could not be notified'));
    expect(lines.map(({ fields }) => fields)).toMatchObject([{ error: 'target_refused', httpStatus: null }]);
    for (const backchannelLogoutUri of [
      'https://app.example/logout',
      'http://app.example/',
      'https://10.0.0.1/',
      'https://u:p@app.example/',
      'nothing',
    ])
      await expect(client({ backchannelLogoutUri })).rejects.toThrow(/^backchannelLogoutUri: The /);
    const plain = await client({ backchannelLogoutUri: null });
    const change = provider.ostiary.admin.clients.update(plain.id, {
      backchannelLogoutUri: 'https://localhost/',
    });
    await expect(change).rejects.toThrow(/^backchannelLogoutUri: /);
  });
});

describe('failures of notifications', () => {
  it('after the end of all access, a user has none even if no app can be notified', async () => {
    const database = fragileStorage();
    const { provider, client } = await start({ storage: database.storage });
    for (const call of ['consents.list', 'clients.find']) {
      const app = await client();
      const token = await provider.token(app);
      database.breakWhen((name) => name === call);
      await provider.ostiary.users.end(ana.sub);
      database.breakWhen(null);
      expect([call, await provider.isAlive(token)]).toEqual([call, false]);
      expect(provider.errors.at(-1)?.message).toContain('could not be notified');
    }
  });

  it('an app is notified of the end of all access of a user even if the process is killed right afterwards', async () => {
    const database = fragileStorage();
    const { provider, client, work, told } = await start({ storage: database.storage });
    const { id } = await client();
    // After the end of the access, no call reaches the storage.
    let isEnded = false;
    database.breakWhen((name) => {
      const wasEnded = isEnded;
      isEnded ||= name === 'consents.endUser';
      return wasEnded;
    });
    await provider.ostiary.users.end(ana.sub);
    database.breakWhen(null);
    await work();
    expect(isEnded).toBe(true);
    expect(told()).toMatchObject([{ aud: id, sub: ana.sub }]);
  });

  it('the caller gets an error if a sign-out cannot be stored', async () => {
    const database = fragileStorage();
    const { provider, client } = await start({ storage: database.storage });
    await client();
    database.breakWhen((name) => name === 'queue.enqueue');
    await expect(provider.ostiary.users.signedOut(ana.sub)).rejects.toThrow();
    database.breakWhen(null);
  });

  it('a client is notified of the tenth sign-out like of the first', async () => {
    const { provider, client, work, endpoint } = await start();
    await client();
    for (let time = 1; time <= 10; time += 1) {
      await provider.ostiary.users.signedOut(ana.sub);
      await work();
      expect(endpoint.received).toHaveLength(time);
    }
  });

  it('those who wait for a silent client come back more and more seldom', async () => {
    const { clock, storage } = { clock: new TestClock(), storage: memoryStorage() };
    const never = new Promise<never>(() => {});
    const core = { clock, storage: { ...storage, clients: { find: () => never } } } as unknown as Core;
    const handle = signOutHandler(core, () => never);
    const payload = { sub: ana.sub, clientId: 'mute', since: clock.now() };
    const job = {
      ...{ id: 'job', claimId: 'claim', kind: signOutKind, payload, dueAt: clock.now(), attempt: 1 },
      owner: '' as const,
    };
    for (let user = 0; user < 8; user += 1) void handle(payload, job);
    const waits: number[] = [];
    for (const attempt of [1, 2, 3, 7, 1000]) {
      const later = await handle(payload, { ...job, attempt });
      waits.push((later?.dueAt ?? 0) - clock.now());
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
  });

  it('no app is notified of a sign-out that failed', async () => {
    const host = new Host();
    const login = { ...host.login, signOut: () => Promise.reject(new Error('broken')) };
    const { provider, work, endpoint, client } = await start({ login }, host);
    const { hint } = await client();
    const page = await provider.browser().get(`${provider.site}/oauth/logout?id_token_hint=${hint}`);
    expect(page.status).toBe(500);
    await work();
    expect(endpoint.received).toEqual([]);
  });

  it('a client that does not answer keeps no other one waiting', async () => {
    const storage = memoryStorage();
    const { provider, endpoint, client } = await start({ storage });
    const silent = await sink();
    silent.answer = () => {};
    const [other, mute] = [await client(), await client({ backchannelLogoutUri: silent.url })];
    const now = provider.clock.now();
    for (let user = 0; user < 40; user += 1) {
      await storage.consents.remember({ sub: `user-${user}`, clientId: mute.id, scopes: ['openid'], now });
      for (let time = 0; time < 3; time += 1) await provider.ostiary.users.signedOut(`user-${user}`);
    }
    await provider.ostiary.users.signedOut(ana.sub);
    provider.ostiary.worker.start();
    await vi.waitFor(() => expect(endpoint.received).toHaveLength(1), patient);
    await vi.waitFor(() => expect(silent.received).toHaveLength(8), patient);
    expect(other.id).not.toBe(mute.id);
  });

  it('an attempt that this service aborted is repeated at once, and does not count', async () => {
    const storage = memoryStorage();
    const broken = { ok: false, httpStatus: null, error: 'aborted', response: null, durationMs: 0 } as const;
    const post = vi.fn(async () => broken);
    const ostiary = await assemble(
      {
        ...{ authUrl: 'http://localhost:1', storage, sealingKeys: [new Uint8Array(32)] },
        ...{ users: { find: () => null }, login: new Host().login },
        webhooks: { resolve: async () => ['93.184.215.14'], retryDelaysSeconds: [] },
      },
      { webhookClient: { post, abort() {}, async close() {} } },
    );
    const { client } = await ostiary.admin.clients.create({
      ...{ name: 'App', redirectUris: ['https://app.example/'], allowedScopes: ['openid'] },
      backchannelLogoutUri: 'https://app.example/logout',
    });
    const now = ostiary.now();
    await storage.consents.remember({ sub: 'ana', clientId: client.clientId, scopes: ['openid'], now });
    await ostiary.users.signedOut('ana');
    for (let time = 0; time < 3; time += 1) await ostiary.worker.runDue();
    expect(post).toHaveBeenCalledTimes(3);
    await ostiary.close();
  });
});
