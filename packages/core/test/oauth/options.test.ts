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
  const thrown = await createOstiary({ ...valid(), ...changes }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(TypeError);
  return thrown instanceof Error ? thrown.message : '';
}

describe('addresses of the service', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['http://id.example', 'https, or http on a loopback'],
    ['http://10.0.0.1', 'https, or http on a loopback'],
    ['http://127.0.0.1.example', 'https, or http on a loopback'],
    ['http://localhost.example', 'https, or http on a loopback'],
    ['ftp://id.example', 'https, or http on a loopback'],
    ['javascript:alert(1)', 'https, or http on a loopback'],
    ['id.example', 'must be an absolute URL'],
    ['/auth', 'absolute URL'],
    ['', 'is missing, perhaps because an environment variable is not set; give an absolute URL'],
    ['https://user:pass@id.example', 'user information'],
    ['https://id.example/?a=b', 'query or a fragment'],
    ['https://id.example/?', 'query or a fragment'],
    ['https://id.example/#top', 'query or a fragment'],
    ['https://id.example/#', 'query or a fragment'],
  ];

  for (const option of ['authUrl', 'baseUrl', 'issuer']) {
    it.each(refused)(`refuse ${option} %j and name the option`, async (url, why) => {
      const message = await refusal({ [option]: url });
      expect(message).toContain(`${option}: `);
      expect(message).toContain(why);
    });
  }

  it.each([
    'https://id.example',
    'https://id.example:8443/auth',
    'http://localhost:3000',
    'http://127.9.9.9',
    'http://[::1]:3000/',
  ])('accept %s', (url) => {
    expect(parseOptions({ ...valid(), authUrl: url, baseUrl: url, issuer: url }).authUrl.href).toBe(
      new URL(url).href,
    );
  });

  it('fall back to authUrl', () => {
    const options = parseOptions(valid());
    expect(options.baseUrl.href).toBe('https://id.example/');
    expect(options.issuer.href).toBe('https://id.example/');
  });
});

describe('options', () => {
  it.each([
    [{ authurl: 'https://id.example' }, 'options: unknown option authurl; did you mean authUrl?'],
    [{ webhook: {} }, 'options: unknown option webhook; did you mean webhooks?'],
    [{ theme: { color: '#000000' } }, 'theme: unknown option color; did you mean colour?'],
    [{ theme: { font: 'x' } }, 'theme: unknown option font; there are name, logo, colour'],
    [{ limits: { authorizeStart: 1 } }, 'did you mean authorizeStarts?'],
    [
      { partnerLimits: { verify: { requests: 1, windowsSeconds: 1, windowSeconds: 1 } } },
      'partnerLimits.verify: unknown option windowsSeconds; did you mean windowSeconds?',
    ],
    [{ foo: 1, bas: 2 }, '; unknown option bas; did you mean baseUrl?'],
  ])('that are unknown are refused with the one that was meant: %j', async (changes, words) => {
    expect(await refusal(changes)).toContain(words);
  });

  it.each([
    ['a path', './ostiary.db', 'storage: is text, and must be a storage; give what sqliteStorage({ file })'],
    [
      'a function',
      memoryStorage,
      'storage: is a function, and must be what it makes; give what sqliteStorage',
    ],
    ['a promise', Promise.resolve(), 'storage: is a promise, and must be a storage; give what'],
    ['something else', { file: 'ostiary.db' }, 'storage: is no storage; give what sqliteStorage({ file })'],
  ])('name what a storage is, where there is %s', async (_name, storage, words) => {
    expect(await refusal({ storage })).toContain(words);
  });

  it('never show a storage that is text: an address may hold a password', async () => {
    expect(await refusal({ storage: 'postgres://me:hush@db/x' })).not.toContain('hush');
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
    const waking = {
      ...storage,
      open: async () => {
        if (isDown) throw new Error('down');
        await storage.open();
      },
    };
    await expect(createOstiary({ ...valid(), storage: waking })).rejects.toThrow('down');
    isDown = false;
    await (await createOstiary({ ...valid(), storage: waking })).close();
  });

  it.each([
    [{ limits: { authorizeStarts: 0 } }, 'limits.authorizeStarts: '],
    [{ limits: { failedClientAuthentications: 1.5 } }, 'limits.failedClientAuthentications: '],
    [{ theme: { colour: 'red' } }, 'theme.colour: '],
    [{ theme: { logo: 'https://cdn.example/logo.png' } }, 'theme.logo: '],
    [{ theme: { logo: '//cdn.example/logo.png' } }, 'theme.logo: '],
    [{ prefix: 'SVC' }, 'prefix: '],
    [{ prefix: 's' }, 'prefix: '],
    [{ storage: null }, 'storage: '],
    [{ users: {} }, 'users.find: '],
    [{ login: { authenticate: () => null } }, 'login.loginUrl: '],
    [{ login: undefined }, 'login: '],
    [{ interactionUrl: '/consent' }, 'interactionUrl: '],
    [{ clock: 5 }, 'clock: '],
    [
      { logger: null },
      'logger: must have the methods debug, info, warn and error; silentLogger tells nothing',
    ],
    [{ logger: { error: () => undefined } }, 'logger: '],
    [{ sealingKeys: [] }, 'sealingKeys: '],
    [{ sealingKeys: ['too-short'] }, 'sealingKeys.0: '],
    [{ sealingKeys: [randomBytes(32), randomBytes(31)] }, 'sealingKeys.1: '],
    [{ sealingKeys: [`${randomBytes(32).toString('base64url').slice(0, -1)}+`] }, 'sealingKeys.0: '],
    [{ trustedProxies: ['10.0.0.0/8', '10.0.0.0/33'] }, 'trustedProxies.1: '],
    [{ trustedProxies: ['proxy.example'] }, 'trustedProxies.0: '],
  ])('that are wrong are refused with their path: %#', async (changes, path) => {
    expect(await refusal(changes)).toContain(path);
  });

  const makeKey = `make a key with: node -p "require('crypto').randomBytes(32).toString('base64url')"`;
  const unset = 'is missing, perhaps because an environment variable is not set';

  it.each([
    [{ sealingKeys: [undefined] }, `sealingKeys.0: ${unset}; ${makeKey}`],
    [{ sealingKeys: [randomBytes(32), ''] }, `sealingKeys.1: ${unset}; ${makeKey}`],
    [{ sealingKeys: undefined }, `sealingKeys: ${unset}; give a list; ${makeKey}`],
    [
      { sealingKeys: Array.from({ length: 11 }, () => randomBytes(32)) },
      'sealingKeys: takes at most ten keys',
    ],
    [{ sealingKeys: randomBytes(32) }, 'sealingKeys: must be a list of keys, the current one first'],
    [{ authUrl: undefined }, `authUrl: ${unset}; give an absolute URL such as https://id.example.com`],
    [{ trustedProxies: [undefined] }, `trustedProxies.0: ${unset}; give an address or a CIDR range`],
    [{ trustedProxies: [''] }, `trustedProxies.0: ${unset}; give an address or a CIDR range`],
    [
      { storage: undefined },
      'storage: is missing; give what sqliteStorage({ file }) or postgresStorage({ connectionString }) makes',
    ],
    [{ users: undefined }, 'users: is missing'],
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

  it('never appear in the message when they are secret', async () => {
    const secret = randomBytes(31).toString('base64url');
    expect(await refusal({ sealingKeys: [secret] })).not.toContain(secret);
  });

  it('are frozen in depth once they are read', () => {
    const options = parseOptions({ ...valid(), trustedProxies: ['10.0.0.0/8'] });
    for (const part of [
      options,
      options.theme,
      options.limits,
      options.users,
      options.login,
      options.sealingKeys,
      options.trustedProxies,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('do not follow later changes of what the host handed in', () => {
    const given = { ...valid(), theme: { name: 'Before' }, trustedProxies: ['10.0.0.1'] };
    const options = parseOptions(given);
    given.theme.name = 'After';
    given.trustedProxies.push('0.0.0.0/0');
    expect(options.theme.name).toBe('Before');
    expect(options.trustedProxies).toEqual(['10.0.0.1']);
  });

  it('take hosts that are written as classes, whose methods need their object', async () => {
    class Directory {
      readonly #people = new Map([[ana.sub, ana]]);
      find(sub: string) {
        return this.#people.get(sub) ?? null;
      }
    }
    class Door {
      readonly #user = { sub: ana.sub, authenticatedAt: new Date() };
      authenticate() {
        return this.#user;
      }
      loginUrl() {
        return this.#user === null ? '/nowhere' : '/login';
      }
    }
    const provider = await startProvider({ users: new Directory(), login: new Door() });
    const token = await provider.token(await provider.client());
    expect((await provider.userinfo(token)).json()).toMatchObject({ sub: ana.sub });
  });
});

describe('the wire prefix', () => {
  it('changes tokens, ids and secrets together', async () => {
    const provider = await startProvider({ prefix: 'acme' });
    const client = await provider.client();
    expect(client.id).toMatch(/^acme_client_/);
    expect(client.secret).toMatch(/^acme_secret_[A-Za-z0-9_-]{43}$/);
    const token = await provider.token(client);
    expect(token).toMatch(/^acme_at_[A-Za-z0-9_-]{43}$/);
    expect((await provider.userinfo(token)).status).toBe(200);
    expect((await provider.userinfo(token.replace('acme', 'svc'))).json()).toMatchObject({
      error: 'invalid_token',
    });
  });
});
