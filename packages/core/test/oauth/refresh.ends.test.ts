import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { digest } from '../../src/secrets/tokens.ts';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { type TestClient, TestClock, type TestProvider } from '../support/provider.ts';
import { allowedScopes, refreshing } from '../support/refreshing.ts';
import { startProvider } from '../support/running.ts';

const { app, provider, connect, refresh, outcomeOf } = await refreshing();
const day = 24 * 3_600_000;

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

  it('fails for a user whom the host does not find, and works again when it does', async () => {
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
  it('revokes everything of its sign-in, is logged, and does not affect other sign-ins', async () => {
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

  it('from any number of tabs within 30 s returns the same successor to all of them, and their access tokens are valid', async () => {
    const first = await connect();
    const answers = (
      await Promise.all(Array.from({ length: 20 }, () => refresh(first.refresh_token)))
    ).concat(await refresh(first.refresh_token));
    provider.clock.advance(30_000);
    answers.push(await refresh(first.refresh_token));
    expect(answers.map(({ outcome }) => outcome)).toEqual(answers.map(() => '200 ok'));
    const given = answers.map((answer) => answer.json());
    expect(new Set(given.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    const accessTokens = [first, ...given].map(({ access_token }) => access_token);
    expect(new Set(accessTokens).size).toBe(accessTokens.length);
    for (const token of accessTokens) expect(await provider.isAlive(token)).toBe(true);
    expect(await outcomeOf(given[0]?.refresh_token)).toBe('200 ok');
    for (const token of accessTokens) expect(await provider.isAlive(token)).toBe(true);
  });

  it('for fewer scopes narrows that access token, and not the successor', async () => {
    const { refresh_token } = await connect();
    const narrow = (await refresh(refresh_token, app, { scope: 'openid' })).json();
    const whole = (await refresh(refresh_token)).json();
    expect([narrow.scope, whole.scope]).toEqual(['openid', 'openid profile offline_access']);
    expect(whole.refresh_token).toBe(narrow.refresh_token);
    for (const { access_token, scope } of [narrow, whole])
      expect(await provider.ostiary.tokens.verify(String(access_token))).toMatchObject({
        scopes: String(scope).split(' '),
      });
    expect((await refresh(narrow.refresh_token)).json().scope).toBe('openid profile offline_access');
  });

  it('after 30 s ends everything of its sign-in, though its successor was not used, and nothing else', async () => {
    const [first, sibling] = [await connect(), await connect()];
    const second = (await refresh(first.refresh_token)).json();
    provider.clock.advance(30_001);
    expect(await outcomeOf(first.refresh_token)).toBe('400 invalid_grant');
    expect(await outcomeOf(second.refresh_token)).toBe('400 invalid_grant');
    for (const { access_token } of [first, second]) expect(await provider.isAlive(access_token)).toBe(false);
    expect(await provider.isAlive(sibling.access_token)).toBe(true);
    expect(await outcomeOf(sibling.refresh_token)).toBe('200 ok');
  });

  it('has a successor that cannot be computed from the database', async () => {
    const { refresh_token } = await connect();
    const next = (await refresh(refresh_token)).json().refresh_token;
    const unkeyed = digest(String(refresh_token)).toString('base64url');
    expect(next).toMatch(/^svc_rt_[A-Za-z0-9_-]{43}$/);
    expect(next).not.toBe(`svc_rt_${unkeyed}`);
  });
});

describe('while sealing keys are replaced, a refresh token', () => {
  const [older, newer] = ['a'.repeat(43), 'b'.repeat(43)];

  /**
   * Starts two processes on one database, each with the given sealing keys, and signs a user in at the first
   * process.
   */
  async function twoProcesses(keysOfFirst: string[], keysOfSecond: string[]) {
    const shared = { storage: memoryStorage(), clock: new TestClock(), refreshTokens: {} };
    const first = await startProvider({ ...shared, sealingKeys: keysOfFirst });
    const client = await first.client({ allowedScopes });
    const tokens = await connect(client, 'openid offline_access', first);
    const second = await startProvider({ ...shared, sealingKeys: keysOfSecond });
    const at = (provider: TestProvider, token: unknown) => refresh(token, client, {}, provider);
    return { first, second, tokens, at };
  }

  it.each([
    ['round 1', [older], [older, newer]],
    ['round 2', [older, newer], [newer, older]],
    ['back again', [newer, older], [older, newer]],
  ])('has the same successor at every process: %s', async (_round, keysOfFirst, keysOfSecond) => {
    const { first, second, tokens, at } = await twoProcesses(keysOfFirst, keysOfSecond);
    const answers = [
      await at(first, tokens.refresh_token),
      await at(second, tokens.refresh_token),
      await at(first, tokens.refresh_token),
    ];
    expect(answers.map(({ outcome }) => outcome)).toEqual(['200 ok', '200 ok', '200 ok']);
    const [one, two, three] = answers.map((answer) => answer.json().refresh_token);
    expect([two, three]).toEqual([one, one]);
    expect((await at(second, two)).outcome).toBe('200 ok');
  });

  it('gets 503, and revokes nothing, if the key of its successor is missing', async () => {
    const { first, second, tokens, at } = await twoProcesses([older], [newer, older]);
    const given = (await at(second, tokens.refresh_token)).json();
    const answer = await at(first, tokens.refresh_token);
    expect([answer.outcome, answer.headers.get('retry-after')]).toEqual(['503 temporarily_unavailable', '1']);
    expect(first.logged.filter(({ message }) => message.includes('sealing key')).length).toBe(1);
    expect((await at(second, tokens.refresh_token)).json().refresh_token).toBe(given.refresh_token);
    expect((await at(first, given.refresh_token)).outcome).toBe('200 ok');
  });
});

it('a failure on the way leaves the refresh token usable, and returns 503', async () => {
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

it('a host that turns refresh tokens off, or shortens their lifetime, only ends refresh tokens', async () => {
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
