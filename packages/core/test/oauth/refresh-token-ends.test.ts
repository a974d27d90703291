import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { type TestClient, TestClock } from '../support/provider.ts';
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
