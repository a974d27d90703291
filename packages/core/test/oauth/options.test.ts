import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { createOstiary, type OstiaryOptions } from '../../src/index.ts';
import { parseOptions } from '../../src/options.ts';
import { ana } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const valid = (): OstiaryOptions => ({
  authUrl: 'https://id.example',
  storage: memoryStorage(),
  users: { find: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  sealingKeys: [randomBytes(32)],
});

/** What `createOstiary` says of options that are the valid ones with these changes. */
async function refusal(changes: object): Promise<string> {
  const thrown = await createOstiary({ ...valid(), ...changes }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(TypeError);
  return thrown instanceof Error ? thrown.message : '';
}

const unset = 'is missing, perhaps because an environment variable is not set';

describe('addresses of the service', () => {
  it.each([
    ['https, or http on a loopback', ['http://id.example', 'http://10.0.0.1', 'http://127.0.0.1.example']],
    ['https, or http on a loopback', ['http://localhost.example', 'ftp://id.example', 'javascript:alert(1)']],
    ['must be an absolute URL', ['id.example', '/auth']],
    [`${unset}; give an absolute URL`, ['']],
    ['user information', ['https://user:pass@id.example']],
    ['query or a fragment', ['https://id.example/?a=b', 'https://id.example/?']],
    ['query or a fragment', ['https://id.example/#top', 'https://id.example/#']],
  ])('are refused with their option and the reason: %s, %j', async (why, urls) => {
    for (const url of urls) {
      for (const option of ['authUrl', 'baseUrl', 'issuer'])
        expect(await refusal({ [option]: url })).toMatch(new RegExp(`${option}: .*${why}`));
    }
  });

  it.each([
    'https://id.example:8443/auth',
    'http://localhost:3000',
    'http://127.9.9.9',
    'http://[::1]:3000/',
  ])('accept %s, and fall back to authUrl', (authUrl) => {
    const options = parseOptions({ ...valid(), authUrl });
    for (const url of [options.authUrl, options.baseUrl, options.issuer])
      expect(url.href).toBe(new URL(authUrl).href);
    const own = parseOptions({ ...valid(), baseUrl: authUrl, issuer: authUrl });
    for (const url of [own.baseUrl, own.issuer]) expect(url.href).toBe(new URL(authUrl).href);
  });
});

describe('options', () => {
  it.each([
    [{ authurl: 'https://id.example' }, 'options: unknown option authurl; there are authUrl, baseUrl, '],
    [{ theme: { font: 'x' } }, 'theme: unknown option font; there are name, logo, colour'],
    [
      { partnerLimits: { verify: { requests: 1, windowsSeconds: 1, windowSeconds: 1 } } },
      'partnerLimits.verify: unknown option windowsSeconds; there are requests, windowSeconds',
    ],
    [{ foo: 1, bas: 2 }, 'unknown option foo, bas; there are authUrl'],
  ])('that are unknown are refused with those that there are: %j', async (changes, words) => {
    expect(await refusal(changes)).toContain(words);
  });

  it.each([
    ['a path', './ostiary.db', 'is text, and must be a storage; give what sqliteStorage({ file })'],
    ['a function', memoryStorage, 'is a function, and must be what it makes; give what sqliteStorage'],
    ['a promise', Promise.resolve(), 'is a promise, and must be a storage; give what'],
    ['something else', { file: 'ostiary.db' }, 'is no storage; give what sqliteStorage({ file })'],
  ])('name what a storage is, where there is %s', async (_name, storage, words) => {
    expect(await refusal({ storage })).toContain(`storage: ${words}`);
  });

  it('are refused where another instance has the storage, until that one is closed', async () => {
    const storage = memoryStorage();
    const first = await createOstiary({ ...valid(), storage });
    expect(await refusal({ storage })).toBe(
      'createOstiary: storage: another instance of this process uses this object; share that instance, or make a storage for each',
    );
    await first.ready();
    await first.close();
    await expect(createOstiary({ ...valid(), storage })).rejects.toThrow('the storage is closed');
  });

  it('may be given again where the start failed', async () => {
    const storage = memoryStorage();
    let isDown = true;
    const open = async () => {
      if (isDown) throw new Error('down');
      await storage.open();
    };
    const waking = { ...storage, open };
    await expect(createOstiary({ ...valid(), storage: waking })).rejects.toThrow('down');
    isDown = false;
    await (await createOstiary({ ...valid(), storage: waking })).close();
  });

  it.each([
    ['limits.authorizeStarts', { limits: { authorizeStarts: 0 } }],
    ['limits.failedClientAuthentications', { limits: { failedClientAuthentications: 1.5 } }],
    ['theme.colour', { theme: { colour: 'red' } }],
    ['theme.logo', { theme: { logo: 'https://cdn.example/logo.png' } }],
    ['theme.logo', { theme: { logo: '//cdn.example/logo.png' } }],
    ['prefix', { prefix: 'SVC' }],
    ['prefix', { prefix: 's' }],
    ['storage', { storage: null }],
    ['users.find', { users: {} }],
    ['login.loginUrl', { login: { authenticate: () => null } }],
    ['login', { login: undefined }],
    ['interactionUrl', { interactionUrl: '/consent' }],
    ['clock', { clock: 5 }],
    ['logger', { logger: { error: () => undefined } }],
    ['sealingKeys', { sealingKeys: [] }],
    ['sealingKeys.0', { sealingKeys: ['too-short'] }],
    ['sealingKeys.1', { sealingKeys: [randomBytes(32), randomBytes(31)] }],
    ['sealingKeys.0', { sealingKeys: [`${randomBytes(32).toString('base64url').slice(0, -1)}+`] }],
    ['trustedProxies.1', { trustedProxies: ['10.0.0.0/8', '10.0.0.0/33'] }],
    ['trustedProxies.0', { trustedProxies: ['proxy.example'] }],
  ])('that are wrong are refused with their path: %s', async (path, changes) => {
    expect(await refusal(changes)).toContain(`${path}: `);
  });

  const makeKey = `make a key with: node -p "require('crypto').randomBytes(32).toString('base64url')"`;
  const eleven = Array.from({ length: 11 }, () => randomBytes(32));
  const storages = 'sqliteStorage({ file }) or postgresStorage({ connectionString })';

  it.each([
    [{ sealingKeys: [undefined] }, `sealingKeys.0: ${unset}; ${makeKey}`],
    [{ sealingKeys: [randomBytes(32), ''] }, `sealingKeys.1: ${unset}; ${makeKey}`],
    [{ sealingKeys: undefined }, `sealingKeys: ${unset}; give a list; ${makeKey}`],
    [{ sealingKeys: eleven }, 'sealingKeys: takes at most ten keys'],
    [{ sealingKeys: randomBytes(32) }, 'sealingKeys: must be a list of keys, the current one first'],
    [{ authUrl: undefined }, `authUrl: ${unset}; give an absolute URL such as https://id.example.com`],
    [{ trustedProxies: [undefined] }, `trustedProxies.0: ${unset}; give an address or a CIDR range`],
    [{ trustedProxies: [''] }, `trustedProxies.0: ${unset}; give an address or a CIDR range`],
    [{ storage: undefined }, `storage: is missing; give what ${storages} makes`],
    [{ users: undefined }, 'users: is missing'],
    [
      { logger: null },
      'logger: must have the methods debug, info, warn and error; silentLogger tells nothing',
    ],
  ])('that somebody forgot to set are asked for in one sentence: %#', async (changes, sentence) => {
    expect(await refusal(changes)).toBe(`createOstiary: ${sentence}`);
  });

  it('tell how a key is made in words that make one', async () => {
    const [, command = ''] = /node -p "(.+)"$/.exec(await refusal({ sealingKeys: [undefined] })) ?? [];
    const key = execFileSync(process.execPath, ['-p', command], { encoding: 'utf8' }).trim();
    expect(parseOptions({ ...valid(), sealingKeys: [key] }).sealingKeys[0]).toHaveLength(32);
  });

  it('are all named when several are wrong', async () => {
    const message = await refusal({ authUrl: 'nowhere', prefix: '!', surplus: 1 });
    for (const part of ['authUrl: ', 'prefix: ', 'surplus']) expect(message).toContain(part);
  });

  it('never appear in the message when they are secret, as in the address of a database', async () => {
    const secret = randomBytes(31).toString('base64url');
    expect(await refusal({ sealingKeys: [secret] })).not.toContain(secret);
    expect(await refusal({ storage: 'postgres://me:hush@db/x' })).not.toContain('hush');
  });

  it('are frozen in depth, and follow no later change of what the host handed in', () => {
    const given = { ...valid(), theme: { name: 'Before' }, trustedProxies: ['10.0.0.1'] };
    const options = parseOptions(given);
    const { theme, limits, users, login, sealingKeys, trustedProxies } = options;
    for (const part of [options, theme, limits, users, login, sealingKeys, trustedProxies])
      expect(Object.isFrozen(part)).toBe(true);
    given.theme.name = 'After';
    given.trustedProxies.push('0.0.0.0/0');
    expect([theme.name, trustedProxies]).toEqual(['Before', ['10.0.0.1']]);
  });

  it('take hosts that are written as classes, whose methods need their object', async () => {
    class Everything {
      readonly #authentication = { sub: ana.sub, authenticatedAt: new Date() };
      find(sub: string) {
        return sub === this.#authentication.sub ? ana : null;
      }
      authenticate() {
        return this.#authentication;
      }
      loginUrl() {
        return `/login/${this.#authentication.sub}`;
      }
    }
    const provider = await startProvider({ users: new Everything(), login: new Everything() });
    const token = await provider.token(await provider.client());
    expect((await provider.userinfo(token)).json()).toMatchObject({ sub: ana.sub });
  });
});

it('the wire prefix changes tokens, ids and secrets together', async () => {
  const provider = await startProvider({ prefix: 'acme' });
  const client = await provider.client();
  expect(client.id).toMatch(/^acme_client_/);
  expect(client.secret).toMatch(/^acme_secret_[A-Za-z0-9_-]{43}$/);
  const token = await provider.token(client);
  expect(token).toMatch(/^acme_at_[A-Za-z0-9_-]{43}$/);
  expect((await provider.userinfo(token)).status).toBe(200);
  expect((await provider.userinfo(token.replace('acme', 'svc'))).outcome).toBe('401 invalid_token');
});
