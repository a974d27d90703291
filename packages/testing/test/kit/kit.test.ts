import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import nock from 'nock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { keyScopes } from '../../../core/src/admin.ts';
import { sandboxUsers } from '../../../core/src/index.ts';
import { createTestOstiary, type TestOstiaryOptions } from '../../src/index.ts';
import { call, newKit, pay } from './support.ts';

const run = promisify(execFile);

describe('a kit', () => {
  it('has a user with everything that any scope shows, and one for each state of the identity check', async () => {
    const kit = await newKit();
    const token = await kit.accessToken(kit.clients.web);
    const headers = { authorization: `Bearer ${token}` };
    const userinfo = (await (
      await kit.fetch(`${kit.baseUrl}/v1/oauth/userinfo`, { headers })
    ).json()) as object;
    const { phone, ...shown } = kit.user;
    expect(userinfo).toEqual(shown);
    expect(Object.values(userinfo).every((value) => value !== null && value !== '')).toBe(true);
    expect(kit.users.list.map(({ kycStatus }) => kycStatus)).toEqual(['approved', 'pending', 'rejected']);
    expect((await call(kit, `GET /v1/partner/users/phone/${encodeURIComponent(phone)}`)).json).toMatchObject({
      kid: kit.user.kid,
    });
  });

  it('has keys of both modes with every scope', async () => {
    const kit = await newKit();
    for (const mode of ['live', 'test'] as const) {
      const key = kit.keys[mode];
      expect(key.key).toMatch(new RegExp(`^svc_${mode}_`));
      expect((await call(kit, 'GET /v1/partner/whoami', undefined, { key })).json).toMatchObject({
        mode,
        key: { scopes: keyScopes },
      });
    }
    const [sandboxUser] = sandboxUsers;
    const asked = `GET /v1/partner/users/${sandboxUser?.kid}`;
    expect((await call(kit, asked, undefined, { key: kit.keys.test })).status).toBe(200);
    expect((await call(kit, asked)).status).toBe(404);
  });

  it('makes more of everything', async () => {
    const kit = await newKit({ users: [{ name: 'Only One' }] });
    const user = kit.users.add({ kid: 'KID-NEW' });
    expect(kit.users.list.map(({ name }) => name)).toEqual(['Only One', user.name]);
    expect(() => kit.users.add({ kid: 'KID-NEW' })).toThrow('already');
    const { slug } = await kit.partners.create('shop');
    const key = await kit.keys.issue({
      partner: slug,
      scopes: ['users:read'],
      allowlist: ['198.51.100.0/24'],
    });
    expect((await call(kit, 'GET /v1/partner/users/KID-NEW', undefined, { key })).json.code).toBe(
      'ip_not_allowed',
    );
    const inside = kit.fetchFrom('198.51.100.7');
    const url = `${kit.baseUrl}/v1/partner/users/KID-NEW`;
    expect((await inside(url, { headers: { 'x-api-key': key.key } })).status).toBe(200);
    await kit.users.remove(user);
    expect((await inside(url, { headers: { 'x-api-key': key.key } })).status).toBe(404);
    expect(() => kit.users.get(user.sub)).toThrow(`there is no user ${user.sub}`);
  });

  it('ends the access of a user who is removed', async () => {
    const kit = await newKit();
    const bearer = { headers: { authorization: `Bearer ${await kit.accessToken(kit.clients.web)}` } };
    const statusOf = async () => (await kit.fetch(`${kit.baseUrl}/v1/oauth/userinfo`, bearer)).status;
    const { user } = kit;
    expect(await statusOf()).toBe(200);
    await kit.users.remove(user);
    expect(await statusOf()).toBe(401);
    kit.users.add(user);
    expect(await statusOf()).toBe(401);
  });

  it('does not know of another one in the same process', async () => {
    const [one, other] = await Promise.all([newKit(), newKit()]);
    expect((await call(one, 'GET /v1/partner/whoami', undefined, { key: other.keys.live })).status).toBe(401);
    await pay(one);
    await one.clock.advance('2d');
    one.faults.refuse();
    one.users.add();
    expect((await call(other, 'GET /v1/partner/payments')).json).toMatchObject({ data: [] });
    expect(other.clock.now()).toBeLessThan(one.clock.now() - 86_400_000);
    expect(other.users.list).toHaveLength(3);
    expect(other.rail.journal).toEqual([]);
  });

  it('starts in less than 50 ms', async () => {
    // The first kit of a process generates the keys for all.
    await newKit();
    // Repeat, because an undisturbed round may be rare on a shared machine.
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 100 && best >= 50; round += 1) {
      const before = performance.now();
      await newKit();
      best = Math.min(best, performance.now() - before);
    }
    expect(best).toBeLessThan(50);
  });

  it('takes the options of the service that a test may want, and refuses others', async () => {
    const kit = await newKit({
      prefix: 'acme',
      now: new Date('2030-01-01T00:00:00Z'),
      authUrl: 'https://login.acme.test/id',
      baseUrl: 'https://acme.test/api',
      partnerLimits: { other: { requests: 1, windowSeconds: 60 } },
    });
    expect(kit.clock.date()).toEqual(new Date('2030-01-01T00:00:00Z'));
    expect(await kit.accessToken(kit.clients.app)).toMatch(/^acme_at_/);
    const who = await call(kit, 'GET /v1/partner/whoami');
    expect([who.status, who.headers.get('x-ratelimit-limit')]).toEqual([200, '1']);
    await expect(createTestOstiary({ colour: 'red' } as TestOstiaryOptions)).rejects.toThrow('colour');
  });

  it('has the scopes of the host, for all its clients, and their claims of its users', async () => {
    const consent = { en: { title: 'See your orders', detail: 'What you bought.' } };
    const validate = (value: unknown) => ({ value });
    const anything = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const kit = await newKit({
      languages: ['en'],
      scopes: { email: true, standardProfile: true, orders: { claims: { orders: anything }, consent } },
    });
    const user = kit.users.add({ handle: 'eve', email: 'eve@example.com', claims: { orders: ['A-1'] } });
    const scopes = ['profile', 'email', 'orders'];
    const token = await kit.accessToken(kit.clients.web, { user, scopes });
    const answer = await kit.fetch(`${kit.baseUrl}/v1/oauth/userinfo`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const shown = { preferred_username: 'eve', email: 'eve@example.com', orders: ['A-1'] };
    expect(await answer.json()).toMatchObject(shown);
    expect(await kit.ostiary.tokens.verify(token, { scopes: ['orders'] })).toMatchObject({ active: true });
  });

  it('gives refresh tokens, which end by its clock', async () => {
    const kit = await newKit({ refreshTokens: { idleDays: 2 } });
    const { web } = kit.clients;
    const ask = async (parameters: object) => {
      const client = { client_id: web.clientId, client_secret: web.clientSecret };
      const body = JSON.stringify({ ...client, ...parameters });
      const headers = { 'content-type': 'application/json' };
      return (await kit.fetch(`${kit.baseUrl}/v1/oauth/token`, { method: 'POST', headers, body })).json();
    };
    const refresh = (token: string) => ask({ grant_type: 'refresh_token', refresh_token: token });
    const { code, codeVerifier } = await kit.authorize(web, { scopes: ['openid', 'offline_access'] });
    const exchange = { grant_type: 'authorization_code', code, code_verifier: codeVerifier };
    const first = await ask({ ...exchange, redirect_uri: web.redirectUri });
    const second = await refresh(first.refresh_token);
    expect(await kit.ostiary.tokens.verify(second.access_token)).toMatchObject({ active: true });
    await kit.clock.advance('2d');
    expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' });
  });

  it('says which origins there are', async () => {
    const kit = await newKit();
    const cause = expect.objectContaining({ message: expect.stringContaining(kit.baseUrl) });
    await expect(kit.fetch('https://api.example/v1/partner/whoami')).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', cause }),
    );
  });

  it('that was closed answers nothing any more', async () => {
    const kit = await newKit();
    kit.faults.slow('1s');
    const waiting = call(kit, 'GET /v1/partner/whoami');
    const next = kit.inbox.next();
    // Waits end on closing, so that they do not keep a test running.
    const ended = Promise.allSettled([waiting, next]);
    await kit.close();
    await kit.close();
    expect(await ended).toEqual([
      { status: 'rejected', reason: new Error('the test kit was closed') },
      { status: 'rejected', reason: new Error('the test kit was closed') },
    ]);
    await expect(kit.fetch(kit.baseUrl)).rejects.toThrow('the test kit was closed');
    await expect(kit.settle()).rejects.toThrow('the test kit was closed');
    await expect(kit.clock.advance('1s')).rejects.toThrow('the test kit was closed');
  });

  it('that is closed during an advance of its clock rejects the advance', async () => {
    const kit = await newKit();
    kit.faults.slow('1s');
    const ended = Promise.allSettled([call(kit, 'GET /v1/partner/whoami'), kit.clock.advance('2h')]);
    await kit.close();
    const closed = { status: 'rejected', reason: new Error('the test kit was closed') };
    expect(await ended).toEqual([closed, closed]);
  });
});

describe('beside what tests do to their process, a kit', () => {
  it('needs no network', async () => {
    nock.disableNetConnect();
    onTestFinished(() => nock.restore());
    const kit = await newKit();
    expect((await call(kit, 'GET /v1/partner/whoami')).status).toBe(200);
  });

  it('works with fake timers, but for setImmediate', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const kit = await newKit();
    await kit.webhooks.register('https://shop.example/hooks');
    await pay(kit);
    const { sentAt } = await kit.inbox.next('payment.completed');
    await kit.clock.advance('2d');
    vi.setSystemTime(kit.clock.date());
    expect(Date.now() - sentAt).toBe(2 * 86_400_000);
    expect(await kit.accessToken(kit.clients.web)).toMatch(/^svc_at_/);
  });
});

const index = new URL('../../src/index.ts', import.meta.url).href;
const script = (body: string) =>
  run(process.execPath, ['--conditions=ostiary-source', '--input-type=module', '-e', body], {
    timeout: 80_000,
  });

it('in a process of its own, a kit keeps no process alive, closed or not', async () => {
  const { stdout } = await script(`
    import { createTestOstiary } from '${index}';
    const kit = await createTestOstiary();
    await kit.accessToken(kit.clients.web);
    const { status } = await kit.fetch(kit.baseUrl + '/v1/partner/whoami', { headers: { 'x-api-key': kit.keys.live.key } });
    console.log(status);
  `);
  expect(stdout).toBe('200\n');
});

describe('the examples of the documentation', () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const blocks = Array.from(page.matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, code = '']) => code);
  const alone = blocks.filter((code) => !code.includes("'vitest'"));

  it('that need no runner of ours are three at least', () => {
    expect(alone.length).toBeGreaterThan(2);
    expect(alone.filter((code) => code.includes("'node:test'"))).toHaveLength(2);
  });

  // Run all examples in one process; each is a file with its own imports.
  it('run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kit-examples-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const files = alone.map((code, index) => {
      writeFileSync(join(folder, `example-${index + 1}.mts`), code);
      return `./example-${index + 1}.mts`;
    });
    writeFileSync(join(folder, 'all.mts'), files.map((file) => `import '${file}';\n`).join(''));
    const flags = ['--conditions=ostiary-source', 'all.mts'];
    const { stdout } = await run(process.execPath, flags, { cwd: folder, timeout: 80_000 });
    expect(stdout).toMatch(/pass 2\n[\s\S]*fail 0\n/);
  });
});
