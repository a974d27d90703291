import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createOstiary, type OstiaryOptions } from '../../src/index.ts';
import { parseOptions } from '../../src/options/parse.ts';
import { ana } from '../support/directory.ts';
import { expectPlain } from '../support/plain-words.ts';
import { startProvider } from '../support/running.ts';

const valid = (): OstiaryOptions => ({
  authUrl: 'https://id.example',
  storage: memoryStorage(),
  users: { find: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  sealingKeys: [randomBytes(32)],
});

/** Returns the error of `createOstiary` for otherwise valid options with the given changes. */
async function refusal(changes: object): Promise<string> {
  const thrown = await createOstiary({ ...valid(), ...changes }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(TypeError);
  const { message } = thrown as TypeError;
  expectPlain(message, Object.keys(changes).join());
  return message;
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
  ])('accept %s, and fall back to authUrl', async (authUrl) => {
    const options = await parseOptions({ ...valid(), authUrl });
    for (const url of [options.authUrl, options.baseUrl, new URL(options.issuer)])
      expect(url.href).toBe(new URL(authUrl).href);
    const own = await parseOptions({ ...valid(), baseUrl: authUrl, issuer: authUrl });
    for (const url of [own.baseUrl, new URL(own.issuer)]) expect(url.href).toBe(new URL(authUrl).href);
  });
});

/** A console without pages. */
const emptyConsole = { opensWith: { scope: null, testOnly: true }, pages: () => [] };

/** Pages for operators, of which there are none. */
const emptyOperators = { authenticate: () => null, pages: { pages: () => [] } };

describe('options', () => {
  it.each([
    [{ authurl: 'https://id.example' }, 'options: unknown option authurl; there are authUrl, baseUrl, '],
    [{ theme: { font: 'x' } }, 'theme: unknown option font; there are name, logo, colour'],
    [
      { partnerLimits: { verify: { requests: 1, windowsSeconds: 1, windowSeconds: 1 } } },
      'partnerLimits.verify: unknown option windowsSeconds; there are requests, windowSeconds',
    ],
    [{ foo: 1, bas: 2 }, 'unknown option foo, bas; there are authUrl'],
    [
      { users: { find: () => null, isvisible: () => false } },
      'users: unknown option isvisible; there are find, findByKid, findByPhone, isVisible',
    ],
    [{ login: { authenticate: () => null, loginUrl: () => '/', signout: () => '/' } }, 'option signout'],
    [{ payments: { execute: () => ({}), oncontradiction: () => undefined } }, 'option oncontradiction'],
    [
      { hostSecrets: { countSealedOtherwise: () => 0, reseal: () => ({}), resealAll: () => ({}) } },
      'hostSecrets: unknown option resealAll; there are countSealedOtherwise, reseal',
    ],
    [
      { console: { ...emptyConsole, portals: {} } },
      'console: unknown option portals; there are opensWith, pages, portal',
    ],
    [
      { console: { ...emptyConsole, opensWith: { ...emptyConsole.opensWith, testonly: true } } },
      'console.opensWith: unknown option testonly; there are scope, testOnly',
    ],
    [
      { console: { ...emptyConsole, portal: { linkPath: '/portal/:link', pages: () => [], linkpath: '/' } } },
      'console.portal: unknown option linkpath; there are linkPath, pages',
    ],
    [
      { operators: { ...emptyOperators, authorize: () => null } },
      'operators: unknown option authorize; there are authenticate, pages',
    ],
    [
      { operators: { ...emptyOperators, pages: { pages: () => [], Pages: () => [] } } },
      'operators.pages: unknown option Pages; there are pages',
    ],
  ])('that are unknown are refused with those that there are: %j', async (changes, words) => {
    expect(await refusal(changes)).toContain(words);
  });

  it('of an object of a class may be further members', async () => {
    class Directory {
      people = new Map<string, { readonly sub: string }>();
      find = (sub: string) => this.people.get(sub) ?? null;
    }
    const ostiary = await createOstiary({ ...valid(), users: new Directory() });
    await ostiary.close();
  });

  it.each([
    ['a path', './ostiary.db', 'is text, and must be a storage; give what sqliteStorage({ file })'],
    ['a function', memoryStorage, 'is a function, and must be what it makes; give what sqliteStorage'],
    ['a promise', Promise.resolve(), 'is a promise, and must be a storage; give what'],
    ['something else', { file: 'ostiary.db' }, 'is no storage; give what sqliteStorage({ file })'],
  ])('name what a storage is, where there is %s', async (_name, storage, words) => {
    expect(await refusal({ storage })).toContain(`storage: ${words}`);
  });

  it.each(['users', 'login', 'payments', 'operators', 'scopes', 'limits', 'webhooks', 'refreshTokens'])(
    'that are promises are refused by name: %s',
    async (name) => {
      expect(await refusal({ [name]: Promise.resolve({}) })).toBe(
        `createOstiary: ${name}: is a promise; wait for its value with await`,
      );
    },
  );

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
    ['hostSecrets.reseal', { hostSecrets: { countSealedOtherwise: () => 0 } }],
    ['hostSecrets.countSealedOtherwise', { hostSecrets: { reseal: () => ({ sealed: 0, unopened: 0 }) } }],
    ['sealingKeys', { sealingKeys: [] }],
    ['sealingKeys.0', { sealingKeys: ['too-short'] }],
    ['sealingKeys.1', { sealingKeys: [randomBytes(32), randomBytes(31)] }],
    ['sealingKeys.0', { sealingKeys: [`${randomBytes(32).toString('base64url').slice(0, -1)}+`] }],
    ['trustedProxies.1', { trustedProxies: ['10.0.0.0/8', '10.0.0.0/33'] }],
    ['trustedProxies.0', { trustedProxies: ['proxy.example'] }],
    ['webhooks', { webhooks: null }],
    ['webhooks', { webhooks: { retries: 3 } }],
    ['webhooks.allowPrivateTargets', { webhooks: { allowPrivateTargets: 'yes' } }],
    ['webhooks.retryDelaysSeconds.1', { webhooks: { retryDelaysSeconds: [60, 0] } }],
    ['webhooks.retryDelaysSeconds.0', { webhooks: { retryDelaysSeconds: [Number.POSITIVE_INFINITY] } }],
    ['webhooks.retryDelaysSeconds.0', { webhooks: { retryDelaysSeconds: [604_801] } }],
    ['webhooks.retryDelaysSeconds', { webhooks: { retryDelaysSeconds: Array(21).fill(1) } }],
    ['webhooks.concurrency', { webhooks: { concurrency: 0 } }],
    ['webhooks.concurrency', { webhooks: { concurrency: 1.5 } }],
    ['webhooks.retentionDays', { webhooks: { retentionDays: 0 } }],
    ['webhooks.resolve', { webhooks: { resolve: '8.8.8.8' } }],
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
      'logger: must have the methods debug, info, warn and error; silentLogger logs nothing',
    ],
  ])('that somebody forgot to set are asked for in one sentence: %#', async (changes, sentence) => {
    expect(await refusal(changes)).toBe(`createOstiary: ${sentence}`);
  });

  it('tell how a key is made in words that make one', async () => {
    const [, command = ''] = /node -p "(.+)"$/.exec(await refusal({ sealingKeys: [undefined] })) ?? [];
    const key = execFileSync(process.execPath, ['-p', command], { encoding: 'utf8' }).trim();
    expect((await parseOptions({ ...valid(), sealingKeys: [key] })).sealingKeys[0]).toHaveLength(32);
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

  it('are frozen in depth, and follow no later change of what the host handed in', async () => {
    const given = { ...valid(), theme: { name: 'Before' }, trustedProxies: ['10.0.0.1'] };
    const options = await parseOptions(given);
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

const schema = z.object({ a: z.string() });
const type = { schema, example: { a: '' } };
const shipped = (changes: object) => ({ 'order.shipped': { ...type, ...changes } });
const async = { '~standard': { version: 1, vendor: 'x', validate: async (value: unknown) => ({ value }) } };

describe('options of webhooks', () => {
  it('are those of the contract unless a host says otherwise, and frozen', async () => {
    const { webhooks } = await parseOptions(valid());
    expect(webhooks).toMatchObject({
      allowPrivateTargets: false,
      retryDelaysSeconds: [60, 300, 1800, 7200],
      retentionDays: 30,
    });
    expect([Object.isFrozen(webhooks), Object.isFrozen(webhooks.retryDelaysSeconds)]).toEqual([true, true]);
  });

  it('allow private targets on loopback addresses only', async () => {
    const webhooks = { allowPrivateTargets: true };
    for (const host of [
      'http://localhost:3000',
      'http://127.0.0.1',
      'https://127.8.8.8:8443',
      'http://[::1]:3000',
    ])
      expect((await parseOptions({ ...valid(), authUrl: host, webhooks })).webhooks).toMatchObject(webhooks);
    const own = 'http://localhost:3000';
    const others = ['id.example', 'localhost.example', '127.0.0.1.nip.example', '10.0.0.1', '[::2]'];
    for (const other of others.map((host) => `https://${host}`))
      for (const [authUrl, baseUrl] of [
        [other, other],
        [own, other],
        [other, own],
      ])
        expect(await refusal({ authUrl, baseUrl, webhooks })).toMatch(
          /webhooks\.allowPrivateTargets: authUrl and baseUrl have to be loopback/,
        );
  });
});

describe('event types of a host', () => {
  it('cannot have a name of Ostiary’s own', async () => {
    for (const name of ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'])
      expect(await refusal({ events: { [name]: type } })).toMatch(
        /createOstiary: events: .*Ostiary’?'?s own/,
      );
  });

  it.each<readonly [unknown, string]>([
    [[], 'events'],
    [{ shipped: type }, 'events.shipped'],
    [{ 'Order.shipped': type }, 'events.Order.shipped'],
    [{ 'order. shipped': type }, 'events.order. shipped'],
    [{ '*': type }, 'events.*'],
    [{ '': type }, 'events'],
    [{ 'order.': type }, 'events.order.'],
    [{ 'order.shipped\n': type }, 'events.order.shipped\n'],
    [{ [`order.${'s'.repeat(59)}`]: type }, 'events.order'],
    [shipped({ schema: undefined }), 'events.order.shipped.schema'],
    [shipped({ schema: { parse() {} } }), 'events.order.shipped.schema'],
    [shipped({ example: undefined }), 'events.order.shipped.example'],
    [shipped({ example: [] }), 'events.order.shipped.example'],
    [shipped({ when: '' }), 'events.order.shipped'],
    [shipped({ example: { a: 1 } }), 'events.order.shipped.example.a: is not what the schema takes'],
    [shipped({ schema: async }), 'events: order.shipped'],
  ])('%j is refused with the path %s', async (events, path) => {
    expect(await refusal({ events })).toContain(`createOstiary: ${path}`);
  });

  it('stand behind Ostiary’s own, in the order of the option', async () => {
    const { events } = await parseOptions({
      ...valid(),
      events: { 'order.shipped': type, 'a_b.c_d.e2': type },
    });
    const own = ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'];
    expect(events.types).toEqual([...own, 'order.shipped', 'a_b.c_d.e2']);
    for (const name of ['constructor', '__proto__', 'toString', '*']) expect(events.has(name)).toBe(false);
  });
});
