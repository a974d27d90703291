import { memoryStorage } from '@ostiary/testing/memory';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { basic, type Json, type TestClient, TestClock, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const day = 24 * 3_600_000;
const provider = await startProvider({ refreshTokens: {}, introspection: true });
const allowedScopes = [...scopeNames, 'offline_access'];
const [app, spa] = [
  await provider.client({ allowedScopes }),
  await provider.client({ allowedScopes, public: true }),
];

/** What a client is given that asks for refresh tokens. */
const connect = (client = app, scope = 'openid profile offline_access', at: TestProvider = provider) =>
  at.tokens(client, { scope, nonce: 'n-1' });

/** Presents a refresh token as its client does, unless changed; `undefined` takes a parameter away. */
function refresh(token: unknown, by: TestClient = app, changes: Json = {}, at: TestProvider = provider) {
  const secret = by.secret === null ? {} : { client_secret: by.secret };
  const request = { grant_type: 'refresh_token', refresh_token: token, client_id: by.id, ...secret };
  return at.call('/v1/oauth/token', { ...request, ...changes });
}
const outcomeOf = async (...given: Parameters<typeof refresh>) => (await refresh(...given)).outcome;

describe('refresh tokens are off by default', () => {
  it('so that neither the scope nor the grant type exist', async () => {
    const plain = await startProvider();
    const client = await plain.client();
    await expect(plain.client({ allowedScopes })).rejects.toThrow('allowedScopes.5');
    expect(await plain.attempt(client, { scope: 'openid offline_access' })).toBe('invalid_scope');
    const answer = await refresh('x', client, {}, plain);
    expect([answer.outcome, answer.json().error_description]).toEqual([
      '400 unsupported_grant_type',
      'The only supported grant_type is authorization_code.',
    ]);
    const metadata = (await plain.request('/.well-known/openid-configuration')).json();
    expect([metadata.scopes_supported, metadata.grant_types_supported]).toEqual([
      scopeNames,
      ['authorization_code'],
    ]);
  });

  it.each([{ idleDays: 0 }, { absoluteDays: -1 }, { idleDays: 4000 }, { days: 1 }, true])(
    'and lives that make no sense are refused: %j',
    async (refreshTokens) => {
      await expect(startProvider({ refreshTokens } as never)).rejects.toThrow(
        /^createOstiary: refreshTokens/,
      );
    },
  );
});

describe('a client that may ask for offline_access', () => {
  it('is given a refresh token by the user who agreed to it, in words of its own', async () => {
    const client = await provider.client({ allowedScopes });
    const page = await openConsent(provider, client, { scope: 'openid offline_access' });
    expect((await page.browser.get(page.address)).text).toContain('Stay connected while you are away');
    const code = (await page.finish()).callback.get('code') ?? '';
    const tokens = (await provider.exchange(client, code)).json();
    expect(tokens).toMatchObject({ scope: 'openid offline_access', expires_in: 3600 });
    expect(tokens.refresh_token).toMatch(/^svc_rt_[A-Za-z0-9_-]{43}$/);
    const metadata = (await provider.request('/.well-known/openid-configuration')).json();
    expect(metadata.scopes_supported).toEqual(allowedScopes);
    expect(metadata.grant_types_supported).toEqual(['authorization_code', 'refresh_token']);
    const [shown] = await provider.ostiary.consents.list(ana.sub);
    expect(shown?.scopes).toContain('offline_access');
  });

  it('is given none without it, nor is a client that is not allowed it', async () => {
    expect(await provider.tokens(app, { scope: 'openid' })).not.toHaveProperty('refresh_token');
    const other = await provider.client();
    expect(await provider.attempt(other, { scope: 'openid offline_access' })).toBe('invalid_scope');
  });

  it('needs no page again for what the user has agreed to, and one that says so for what is new', async () => {
    const client = await provider.client({ allowedScopes });
    await provider.code(client, { scope: 'openid' });
    const silent = { prompt: 'none', scope: 'openid offline_access' };
    expect(await provider.attempt(client, silent)).toBe('consent_required');
    await connect(client, 'openid offline_access');
    const again = await provider.tokens(client, silent);
    expect(again.refresh_token).toMatch(/^svc_rt_/);
  });
});

describe('a refresh', () => {
  it('gives an access token, the next refresh token, and an ID token of the same sign-in without its nonce', async () => {
    const first = await connect();
    const signedIn = decodeJwt(String(first.id_token));
    provider.clock.advance(day);
    const answer = await refresh(first.refresh_token);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const next = answer.json();
    expect(Object.keys(next).toSorted()).toEqual(Object.keys(first).toSorted());
    expect(next).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: first.scope });
    const { nonce, iat, exp, at_hash, ...same } = decodeJwt(String(next.id_token));
    expect(nonce).toBeUndefined();
    expect(signedIn).toMatchObject(same);
    expect([signedIn.nonce, Number(iat) - Number(signedIn.iat)]).toEqual(['n-1', day / 1000]);
    expect(at_hash).not.toBe(signedIn.at_hash);
    expect((await provider.userinfo(String(next.access_token))).json()).toMatchObject({ name: ana.name });
    expect(await outcomeOf(next.refresh_token)).toBe('200 ok');
  });

  it('takes a form and Basic too, and a public client without a secret', async () => {
    const { refresh_token } = await connect();
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: String(refresh_token) });
    const header = { authorization: basic(app.id, app.secret) };
    expect((await provider.call('/v1/oauth/token', form, header)).outcome).toBe('200 ok');
    const page = { origin: 'https://app.example' };
    const { refresh_token: ofPage } = await connect(spa);
    const sent = { grant_type: 'refresh_token', refresh_token: ofPage, client_id: spa.id };
    const answer = await provider.call('/v1/oauth/token', sent, page);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, page.origin]);
  });

  it('can ask for fewer scopes, which narrows that access token and nothing else', async () => {
    const { refresh_token } = await connect();
    const narrow = (await refresh(refresh_token, app, { scope: 'profile  profile' })).json();
    expect(narrow.scope).toBe('profile');
    expect(narrow).not.toHaveProperty('id_token');
    expect(Object.keys((await provider.userinfo(String(narrow.access_token))).json())).not.toContain('sub');
    const verified = await provider.ostiary.tokens.verify(String(narrow.access_token));
    expect(verified).toMatchObject({ active: true, scopes: ['profile'] });
    const whole = (await refresh(narrow.refresh_token)).json();
    expect(whole.scope).toBe('openid profile offline_access');
  });

  it.each(['openid kyc', 'kyc', ' ', 'openid unknown', 'OPENID'])(
    'can not ask for more than the user approved: %j',
    async (scope) => {
      const { refresh_token } = await connect();
      expect(await outcomeOf(refresh_token, app, { scope })).toBe('400 invalid_scope');
      expect(await outcomeOf(refresh_token)).toBe('200 ok');
    },
  );

  it('gives no scope that the client was allowed once, and ends when it may not ask for offline access any more', async () => {
    const client = await provider.client({ allowedScopes });
    const { refresh_token } = await connect(client, 'openid kyc offline_access');
    const allow = (scopes: string[]) =>
      provider.ostiary.admin.clients.update(client.id, { allowedScopes: scopes });
    await allow(['openid', 'offline_access']);
    expect(await outcomeOf(refresh_token, client, { scope: 'kyc' })).toBe('400 invalid_scope');
    const next = (await refresh(refresh_token, client)).json();
    expect(next.scope).toBe('openid offline_access');
    await allow(['openid']);
    expect(await outcomeOf(next.refresh_token, client)).toBe('400 invalid_grant');
  });

  it('is refused to whoever is not the client, and leaves the token as it is', async () => {
    const { refresh_token, access_token } = await connect();
    const thief = await provider.client({ allowedScopes });
    for (const [by, changes, outcome] of [
      [app, { client_secret: 'wrong' }, '401 invalid_client'],
      [app, { client_secret: undefined }, '401 invalid_client'],
      [app, { client_secret: '' }, '401 invalid_client'],
      [app, { client_id: undefined }, '400 invalid_request'],
      [thief, {}, '400 invalid_grant'],
      [spa, {}, '400 invalid_grant'],
      [{ ...app, id: 'unknown' }, {}, '401 invalid_client'],
      [app, { refresh_token: undefined }, '400 invalid_request'],
      [app, { scope: ' ' }, '400 invalid_scope'],
      [app, { refresh_token: ['x'] }, '400 invalid_request'],
      [app, { refresh_token: `${refresh_token}x` }, '400 invalid_grant'],
      [app, { refresh_token: access_token }, '400 invalid_grant'],
      [app, { refresh_token: `svc_rt_${'a'.repeat(43)}` }, '400 invalid_grant'],
      [app, { grant_type: 'authorization_code', code: refresh_token }, '400 invalid_request'],
      [app, {}, '200 ok'],
    ] as const)
      expect([changes, await outcomeOf(refresh_token, by, changes)]).toEqual([changes, outcome]);
  });

  it('opens nothing but the token endpoint', async () => {
    const token = String((await connect()).refresh_token);
    expect((await provider.userinfo(token)).outcome).toBe('401 invalid_token');
    expect(await provider.ostiary.tokens.verify(token)).toMatchObject({ reason: 'malformed' });
    const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
    const credentials = { client_id: api.id, client_secret: api.secret };
    const answer = await provider.call('/v1/oauth/introspect', { token, ...credentials });
    expect(answer.json()).toEqual({ active: false });
    expect(await outcomeOf(token)).toBe('200 ok');
  });
});

describe('the life of a refresh token', () => {
  it.each([
    [{}, 30 * day - 1, '200 ok'],
    [{}, 30 * day, '400 invalid_grant'],
    [{ idleDays: 0.5 }, 0.5 * day - 1, '200 ok'],
    [{ idleDays: 0.5 }, 0.5 * day, '400 invalid_grant'],
  ])('with %j ends when it is not used: after %d ms %s', async (refreshTokens, ms, expected) => {
    const own = await startProvider({ refreshTokens });
    const client = await own.client({ allowedScopes });
    const { refresh_token } = await connect(client, 'openid offline_access', own);
    own.clock.advance(ms);
    expect(await outcomeOf(refresh_token, client, {}, own)).toBe(expected);
  });

  it.each([
    [{}, 180],
    [{ idleDays: 30, absoluteDays: 45 }, 45],
  ])('with %j ends after %d days, however often it is used', async (refreshTokens, days) => {
    const own = await startProvider({ refreshTokens });
    const client = await own.client({ allowedScopes });
    let { refresh_token } = await connect(client, 'openid offline_access', own);
    const beganAt = own.clock.now();
    while (own.clock.now() + 20 * day < beganAt + days * day) {
      own.clock.advance(20 * day);
      ({ refresh_token } = (await refresh(refresh_token, client, {}, own)).json());
      expect(refresh_token).toMatch(/^svc_rt_/);
    }
    own.clock.advance(beganAt + days * day - own.clock.now());
    expect(await outcomeOf(refresh_token, client, {}, own)).toBe('400 invalid_grant');
  });

  it.each<
    readonly [string, (given: { refresh_token: string; access_token: string; client: TestClient }) => unknown]
  >([
    ['the token itself', ({ refresh_token }) => provider.revoke(refresh_token)],
    ['the connected app', ({ client }) => provider.removeApp(client)],
    ['the client', ({ client }) => provider.ostiary.admin.clients.disable(client.id)],
    ['the user', () => provider.ostiary.users.end(ana.sub)],
  ])('ends with %s, and so does what was issued with it', async (_name, end) => {
    const client = await provider.client({ allowedScopes });
    const first = await connect(client);
    const { refresh_token, access_token } = (await refresh(first.refresh_token, client)).json();
    await end({ refresh_token: String(refresh_token), access_token: String(access_token), client });
    expect(await outcomeOf(refresh_token, client)).toMatch(/^400 invalid_grant|^401 invalid_client/);
    expect([await provider.isAlive(access_token), await provider.isAlive(first.access_token)]).toEqual([
      false,
      false,
    ]);
    expect(await outcomeOf(first.refresh_token, client)).toMatch(/^400 invalid_grant|^401 invalid_client/);
  });

  it('ends for a user whom the host does not find, and goes on when it does', async () => {
    const { refresh_token } = await connect();
    const person = provider.host.people.get(ana.sub);
    provider.host.people.delete(ana.sub);
    expect(await outcomeOf(refresh_token)).toBe('400 invalid_grant');
    if (person !== undefined) provider.host.people.set(ana.sub, person);
    expect(await outcomeOf(refresh_token)).toBe('200 ok');
  });

  it('does not end with one of its access tokens, nor is another one revoked with it', async () => {
    const [{ refresh_token, access_token }, sibling] = [await connect(), await connect()];
    await provider.revoke(String(access_token));
    expect(await outcomeOf(refresh_token)).toBe('200 ok');
    await provider.revoke(String(refresh_token));
    expect(await provider.isAlive(sibling.access_token)).toBe(true);
    expect(await outcomeOf(sibling.refresh_token)).toBe('200 ok');
    expect((await provider.revoke(`svc_rt_${'a'.repeat(43)}`)).json()).toEqual({ ok: true });
  });
});

describe('a refresh token that comes again', () => {
  it('ends everything of its sign-in, tells the log, and leaves other sign-ins alone', async () => {
    const [first, sibling] = [await connect(), await connect()];
    const second = (await refresh(first.refresh_token)).json();
    const third = (await refresh(second.refresh_token)).json();
    expect(await outcomeOf(first.refresh_token)).toBe('400 invalid_grant');
    for (const { access_token } of [first, second, third])
      expect(await provider.isAlive(access_token)).toBe(false);
    expect(await outcomeOf(third.refresh_token)).toBe('400 invalid_grant');
    expect(await provider.isAlive(sibling.access_token)).toBe(true);
    expect(await provider.attempt(app, { prompt: 'none' })).toBe('code');
    const lines = provider.logged.filter(({ message }) => message.includes('presented again'));
    expect(lines.map(({ level, fields }) => [level, fields])).toEqual([['warn', { client: app.id }]]);
  });

  it.each([
    [30_000, '200 ok'],
    [30_001, '400 invalid_grant'],
  ])('because its answer was lost gets another one once, within %d ms: %s', async (ms, expected) => {
    const first = await connect();
    const lost = (await refresh(first.refresh_token)).json();
    provider.clock.advance(ms);
    const again = await refresh(first.refresh_token);
    expect(again.outcome).toBe(expected);
    if (again.status !== 200) return;
    expect(await outcomeOf(again.json().refresh_token)).toBe('200 ok');
    // Whoever has the lost answer after all is somebody else.
    expect(await outcomeOf(lost.refresh_token)).toBe('400 invalid_grant');
    expect(await provider.isAlive(again.json().access_token)).toBe(false);
  });

  it('200 times at once leaves nothing that lives', async () => {
    const { refresh_token } = await connect();
    const answers = await Promise.all(Array.from({ length: 200 }, () => refresh(refresh_token)));
    const won = answers.filter(({ status }) => status === 200).map((answer) => answer.json());
    expect(won).toHaveLength(2);
    for (const { access_token, refresh_token: next } of won)
      expect([await provider.isAlive(access_token), await outcomeOf(next)]).toEqual([
        false,
        '400 invalid_grant',
      ]);
  });
});

it('whatever fails on the way leaves the refresh token usable, and says 503', async () => {
  const database = fragileStorage();
  const own = await startProvider({ storage: database.storage, refreshTokens: {} });
  const client = await own.client({ allowedScopes });
  let { refresh_token } = await connect(client, 'openid offline_access', own);
  database.forget();
  ({ refresh_token } = (await refresh(refresh_token, client, {}, own)).json());
  const calls = database.calls.length;
  expect(database.calls).toEqual(
    expect.arrayContaining(['rateLimits.peek', 'grants.findRefreshToken', 'grants.refresh']),
  );
  for (let failing = 0; failing < calls; failing += 1) {
    database.forget();
    database.breakWhen((_call, index) => index === failing);
    expect(await outcomeOf(refresh_token, client, {}, own)).toBe('503 temporarily_unavailable');
    database.breakWhen(null);
    ({ refresh_token } = (await refresh(refresh_token, client, {}, own)).json());
    expect(refresh_token).toMatch(/^svc_rt_/);
  }
  own.host.people.set(ana.sub, { ...ana, sub: 'somebody else' });
  expect(await outcomeOf(refresh_token, client, {}, own)).toBe('500 server_error');
  own.host.people.set(ana.sub, ana);
  expect(await outcomeOf(refresh_token, client, {}, own)).toBe('200 ok');
});

it('refresh tokens carry the prefix of the host', async () => {
  const own = await startProvider({ prefix: 'acme', refreshTokens: {} });
  const client = await own.client({ allowedScopes });
  const { refresh_token } = await connect(client, 'openid offline_access', own);
  expect(refresh_token).toMatch(/^acme_rt_/);
  expect(await outcomeOf(refresh_token, client, {}, own)).toBe('200 ok');
  expect(await outcomeOf(String(refresh_token).replace('acme', 'svc'), client, {}, own)).toBe(
    '400 invalid_grant',
  );
});

it('a host that takes refresh tokens away, or makes their lives shorter, ends them and nothing else', async () => {
  const storage = memoryStorage();
  const clock = new TestClock();
  const shared = { clock, storage, sealingKeys: ['k'.repeat(43)] };
  const before = await startProvider({ ...shared, refreshTokens: {} });
  const client = await before.client({ allowedScopes });
  const { refresh_token, access_token } = await connect(client, 'openid offline_access', before);
  clock.advance(20 * day);
  const shorter = await startProvider({ ...shared, storage, refreshTokens: { absoluteDays: 10 } });
  expect(await outcomeOf(refresh_token, client, {}, shorter)).toBe('400 invalid_grant');
  const without = await startProvider(shared);
  expect(await outcomeOf(refresh_token, client, {}, without)).toBe('400 unsupported_grant_type');
  expect((await without.revoke(String(access_token))).status).toBe(200);
  expect(await without.attempt(client, { scope: 'openid offline_access' })).toBe('invalid_scope');
  expect((await without.tokens(client, { scope: 'openid' })).access_token).toMatch(/^svc_at_/);
});
