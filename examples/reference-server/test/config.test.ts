import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../src/config.ts';
import { ConfigError } from '../src/config-error.ts';
import { settings, settingsTable } from '../src/settings.ts';
import { temporaryFolder } from './support/server.ts';

const keyOf = (word: string) => createHash('sha256').update(word).digest('base64url');
const base64url = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString('base64url');
const key = keyOf('a');
const good = {
  OSTIARY_AUTH_URL: 'https://id.example.com',
  OSTIARY_SEALING_KEYS: key,
  NODE_ENV: 'production',
};
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

describe('loadConfig', () => {
  test('needs two variables and has defaults for the rest', () => {
    const config = loadConfig({ ...good, PATH: '/bin', OSTIARY_BASE_URL: '', PORT: '' });
    expect(config).toMatchObject({
      mode: 'production',
      authUrl: 'https://id.example.com',
      baseUrl: 'https://id.example.com',
      sealingKeys: [key],
      trustedProxies: [],
      name: 'Ostiary',
      colour: '#1a4f8b',
      prefix: 'svc',
      languages: ['en', 'fr', 'ht', 'es', 'pt'],
      scopes: {},
      ...{ refreshTokens: false, introspection: false, claimsParameter: false, dpop: false, logout: true },
      ...{ privateKeyJwt: false, pushedRequests: 'off' },
      webhooks: {
        allowPrivateTargets: false,
        retryDelaysSeconds: [60, 300, 1_800, 7_200],
        retentionDays: 30,
        standardHeaders: false,
      },
      sandboxConsole: true,
      logLevel: 'info',
      host: '127.0.0.1',
      port: 3000,
      keepAliveSeconds: 75,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('reads lists, and single proxies as ranges of one', () => {
    const other = keyOf('b');
    const config = loadConfig({
      ...good,
      OSTIARY_SEALING_KEYS: `${key}, ${other}`,
      OSTIARY_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7 ,2001:db8::1,unix',
    });
    expect(config.sealingKeys).toEqual([key, other]);
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '192.0.2.7/32', '2001:db8::1/128', 'unix']);
  });

  test('reads the locations of data, and the role of this process', () => {
    expect(loadConfig(good)).toMatchObject({
      databaseUrl: null,
      databasePool: 10,
      role: 'all',
      drainSeconds: 0,
    });
    const databaseUrl = 'postgresql://user:p%40ss@db.example:5433/ostiary?sslmode=verify-full';
    const config = loadConfig({
      ...good,
      DATABASE_URL: databaseUrl,
      OSTIARY_DATABASE_POOL: '25',
      OSTIARY_ROLE: 'worker',
      OSTIARY_DRAIN_SECONDS: '15',
      OSTIARY_WEBHOOK_RETRY_DELAYS: '1, 0.5,7200',
      OSTIARY_EVENT_RETENTION_DAYS: '7',
      OSTIARY_WEBHOOK_STANDARD_HEADERS: 'on',
      OSTIARY_SANDBOX_CONSOLE: 'off',
    });
    expect(config).toMatchObject({
      ...{ databaseUrl, databasePool: 25, role: 'worker', drainSeconds: 15, sandboxConsole: false },
      webhooks: { retryDelaysSeconds: [1, 0.5, 7_200], retentionDays: 7, standardHeaders: true },
    });
    expect(loadConfig({ ...good, DATABASE_URL: '' }).databaseUrl).toBeNull();
    const pair = 'postgres://user:a%2Cb@db-1:5432,db-2/name?sslmode=require';
    expect(loadConfig({ ...good, DATABASE_URL: pair }).databaseUrl).toBe(pair);
  });

  test('refuses a worker without web processes on SQLite', () => {
    expect(() => loadConfig({ ...good, OSTIARY_ROLE: 'worker' })).toThrow(
      'OSTIARY_ROLE=worker needs DATABASE_URL: on SQLite one process does everything (OSTIARY_ROLE=all)',
    );
    expect(loadConfig({ ...good, OSTIARY_ROLE: 'web' })).toMatchObject({ databaseUrl: null, role: 'web' });
  });

  test('accepts several processes only on PostgreSQL, and only for web processes', () => {
    const many = { ...good, OSTIARY_PROCESSES: '2' };
    expect(() => loadConfig(many)).toThrow(
      'OSTIARY_PROCESSES above 1 needs DATABASE_URL: SQLite has one writer',
    );
    const onPostgres = { ...many, DATABASE_URL: 'postgres://db.example/ostiary' };
    expect(loadConfig(onPostgres).processes).toBe(2);
    const all = { ...onPostgres, OSTIARY_PROCESSES: 'auto' };
    expect(loadConfig(all).processes).toBe(availableParallelism());
    expect(() => loadConfig({ ...onPostgres, OSTIARY_ROLE: 'worker' })).toThrow(
      'OSTIARY_ROLE=worker has none',
    );
    expect(loadConfig(good).processes).toBe(1);
  });

  test.each([
    ['mysql://secret@host/db', 'DATABASE_URL must begin with postgres:// or postgresql://'],
    ['postgres://', 'DATABASE_URL must begin with postgres://'],
    ['postgres://user:sec ret@ho st/db', 'DATABASE_URL must be a URL'],
    ['postgres://user:secret%@host/db', 'DATABASE_URL has a %'],
  ])('never shows a database URL that is wrong: %s', (url, message) => {
    const load = (): unknown => loadConfig({ ...good, DATABASE_URL: url });
    expect(load).toThrow(message);
    expect(load).not.toThrow(/sec|ho st|@/);
  });

  test.each([
    ['https://id.example.com', 'https://id.example.com', false],
    ['https://id.example.com', 'http://localhost:3000', false],
    ['http://localhost:3000', 'https://api.example.com', false],
    ['http://localhost:3000', 'http://localhost:3000', true],
    ['http://[::1]:3000', 'http://127.0.0.1:3001', true],
  ])(
    'lets webhooks go to private targets only on loopback addresses: %s and %s',
    (authUrl, baseUrl, local) => {
      const env = {
        ...good,
        NODE_ENV: 'development',
        OSTIARY_AUTH_URL: authUrl,
        OSTIARY_BASE_URL: baseUrl,
      };
      const allowed = (changes = {}): boolean =>
        loadConfig({ ...env, ...changes }).webhooks.allowPrivateTargets;
      expect(allowed()).toBe(local);
      expect(allowed({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'off' })).toBe(false);
      const on = () => allowed({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'on' });
      if (local) expect(on()).toBe(true);
      else expect(on).toThrow('OSTIARY_WEBHOOK_PRIVATE_TARGETS may be on only when');
    },
  );

  test.each([
    ['OSTIARY_AUTHURL', 'x', 'is not a setting'],
    ['OSTIARY_SEALING_KEYS', undefined, 'is missing'],
    ['OSTIARY_SEALING_KEYS', '', 'is missing'],
    ['OSTIARY_SEALING_KEYS', 'secret', 'each must be 32 bytes'],
    ['OSTIARY_SEALING_KEYS', base64url(Buffer.alloc(32, 7)), 'must be random'],
    ['OSTIARY_SEALING_KEYS', `${key},${base64url([...Array(32).keys()])}`, 'must be random'],
    ['OSTIARY_SEALING_KEYS', base64url(Buffer.from('correct horse battery staple !!!')), 'must be random'],
    ['OSTIARY_SEALING_KEYS', [...Array(11).keys()].map((at) => keyOf(`${at}`)).join(), 'takes at most ten'],
    ['OSTIARY_AUTH_URL', undefined, 'is missing'],
    ['OSTIARY_AUTH_URL', 'https://example.com/id', 'must be an origin'],
    ['OSTIARY_AUTH_URL', 'https://a:b@example.com', 'must be an origin'],
    ['OSTIARY_AUTH_URL', 'http://id.example.com', 'must be https'],
    ['OSTIARY_AUTH_URL', 'http://localhost', 'must be https when'],
    ['OSTIARY_BASE_URL', 'ftp://example.com', 'must be an https URL'],
    ['OSTIARY_BASE_URL', 'http://127.0.0.1', 'must be https when'],
    ['OSTIARY_TRUSTED_PROXIES', '10.0.0.0/33', 'must be addresses'],
    ['OSTIARY_TRUSTED_PROXIES', 'proxy', 'must be addresses'],
    ['OSTIARY_TRUSTED_PROXIES', '0.0.0.0/0', 'must name your proxies'],
    ['OSTIARY_TRUSTED_PROXIES', '10.0.0.1,128.0.0.0/1', 'must name your proxies'],
    ['OSTIARY_TRUSTED_PROXIES', '::/0', 'must name your proxies'],
    ['OSTIARY_TRUSTED_PROXIES', 'unix:/run/x', 'must be addresses'],
    ['OSTIARY_SOCKET', 'run/ostiary.sock', 'must be an absolute path of at most 103 bytes'],
    ['OSTIARY_SOCKET', `/${'s'.repeat(103)}`, 'must be an absolute path of at most 103 bytes'],
    ['OSTIARY_RESOURCES', 'https://tools.example.com', 'must be JSON such as'],
    ['OSTIARY_RESOURCES', '{"https://tools.example.com":"Tools"}', 'must be JSON such as'],
    ['OSTIARY_KEEP_ALIVE_SECONDS', '0', 'must be 1 to 3600 seconds'],
    ['OSTIARY_SOCKET_MODE', '888', 'must be permissions in octal'],
    ['OSTIARY_COLOUR', 'red', 'must be a colour'],
    ['OSTIARY_PREFIX', 'A_', 'must be 2 to 16'],
    ['OSTIARY_LANGUAGES', 'en,de', 'must be one or several of en, fr, ht, es, pt'],
    ['OSTIARY_LANGUAGES', 'fr,fr', 'must be one or several of'],
    ['OSTIARY_LANGUAGES', ',', 'needs at least one language'],
    ['OSTIARY_SCOPES', 'email', 'must be one or several of phone, standardProfile'],
    ['OSTIARY_SANDBOX_CONSOLE', 'yes', 'must be on or off'],
    ['OSTIARY_NAME', '"Kafe Lakay"', 'has quotes around its value'],
    ['DATABASE_URL', "'postgres://a:b@c/d'", 'has quotes around its value'],
    ['OSTIARY_WEBHOOK_RETRY_DELAYS', '1m,5m', 'must be seconds'],
    ['OSTIARY_WEBHOOK_RETRY_DELAYS', '60,0', 'must be above 0'],
    ['OSTIARY_WEBHOOK_RETRY_DELAYS', '604801', 'must be above 0'],
    ['OSTIARY_WEBHOOK_RETRY_DELAYS', Array(21).fill('60').join(), 'has more than 20'],
    ['OSTIARY_WEBHOOK_RETRY_DELAYS', ',', 'needs at least one'],
    ['OSTIARY_WEBHOOK_PRIVATE_TARGETS', 'on', 'must not be on when NODE_ENV is production'],
    ['OSTIARY_EVENT_RETENTION_DAYS', '0', 'must be 1 to'],
    ['OSTIARY_ROLE', 'both', 'must be all, web or worker'],
    ['OSTIARY_DATABASE_POOL', '1', 'must be 2 to 200'],
    ['OSTIARY_PROCESSES', 'many', 'must be 1 to 256 processes, or auto'],
    ['OSTIARY_DRAIN_SECONDS', '301', 'must be at most 300'],
    ['OSTIARY_METRICS_PORT', 'x', 'must be a port number'],
    ['PORT', '70000', 'must be a port number'],
    ['NODE_ENV', 'prod', 'must be production, development or test'],
    ['OSTIARY_LOG_LEVEL', 'all', 'must be fatal, error, warn, info'],
    ['OSTIARY_NAME', ' ', 'must not be blank'],
    ['OSTIARY_NAME', 'n'.repeat(61), 'must have at most 60 characters'],
  ])('refuses %s=%s', (variable, value, message) => {
    const load = (): unknown => loadConfig({ ...good, [variable]: value });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(`${variable} ${message}`);
  });

  test.each(Object.keys(settings))('speaks of %s in words of its own, whatever is given', (variable) => {
    for (const value of [' ', '-1', '1.5', '1e20', 'wrong', 'x'.repeat(3_000), ',', 'a,b', '{}', '/', '::']) {
      let message = '';
      try {
        loadConfig({ ...good, [variable]: value });
      } catch (error) {
        message = String(error);
      }
      expect.soft(message, value).not.toMatch(/Invalid|xpected|received|Too (big|small)|ZodError|is wrong/);
      if (message !== '') expect.soft(message, value).toContain(variable);
    }
  });

  test('names every problem in one line, and never a value', () => {
    const secret = 'a-secret-that-somebody-pasted';
    expect(() => loadConfig({ OSTIARY_SEALING_KEYS: secret, OSTIARY_TYPO: secret })).toThrow(
      expect.objectContaining({
        message: expect.not.stringMatching(`${secret}|\n`),
      }),
    );
  });
});

describe('the environment', () => {
  const links = {
    OSTIARY_SERVICE_HOST: '10.96.0.1',
    OSTIARY_SERVICE_PORT: '3000',
    OSTIARY_SERVICE_PORT_HTTP: '3000',
    OSTIARY_PORT: 'tcp://10.96.0.1:3000',
    OSTIARY_PORT_3000_TCP: 'tcp://10.96.0.1:3000',
    OSTIARY_PORT_3000_TCP_PROTO: 'tcp',
    OSTIARY_PORT_3000_TCP_PORT: '3000',
    OSTIARY_PORT_3000_TCP_ADDR: '10.96.0.1',
    OSTIARY_WEB_PORT: 'tcp://10.96.0.2:3000',
    DATABASE_URL_SERVICE_HOST: '10.96.0.3',
    // Kubernetes sets this variable for a Service named ostiary-metrics.
    OSTIARY_METRICS_PORT: 'tcp://10.96.0.4:9464',
  };

  test('is read without the variables that Kubernetes sets for Services', () => {
    expect(loadConfig({ ...good, ...links })).toEqual(loadConfig(good));
    expect(loadConfig({ ...good, OSTIARY_METRICS_PORT: '9464' }).metrics?.port).toBe(9464);
    expect(() => loadConfig({ ...good, OSTIARY_PORT: '3000' })).toThrow('OSTIARY_PORT is not a setting');
  });

  test('names files that hold the secrets', async () => {
    const folder = await temporaryFolder();
    const [keys, url] = [join(folder, 'keys'), join(folder, 'url')];
    writeFileSync(keys, `${key}\n`);
    writeFileSync(url, 'postgres://user:secret@db.example/ostiary\n');
    const { OSTIARY_SEALING_KEYS: _, ...rest } = good;
    const env = { ...rest, OSTIARY_SEALING_KEYS_FILE: keys, DATABASE_URL_FILE: url, DATABASE_URL: '' };
    expect(loadConfig(env)).toMatchObject({
      sealingKeys: [key],
      databaseUrl: 'postgres://user:secret@db.example/ostiary',
    });
    expect(() => loadConfig({ ...env, DATABASE_URL: 'postgres://a/b' })).toThrow(
      'DATABASE_URL and DATABASE_URL_FILE are both set',
    );
    const missing = { ...env, DATABASE_URL_FILE: join(folder, 'none') };
    expect(() => loadConfig(missing)).toThrow('DATABASE_URL_FILE names a file that cannot be read (ENOENT)');
    writeFileSync(url, '\n');
    expect(() => loadConfig(env)).toThrow('DATABASE_URL_FILE names a file that is empty');
  });

  test.each([
    'DATABASE_URI',
    'database_url',
    'DATABASE_URL_FILES',
    'ostiary_auth_url',
    'OSTAIRY_AUTH_URL',
    'OSTIARY_NAME_FILE',
  ])('is refused with %s, which is like a setting', (variable) => {
    expect(() => loadConfig({ ...good, [variable]: 'x' })).toThrow(`${variable} is not a setting`);
  });

  test.each(['DATABASE_URL_UNPOOLED', 'DATABASE_USER', 'HOSTS', 'POST', 'AUTH_URL', 'MY_AUTH_URL'])(
    'may have %s of other programs',
    (variable) => {
      expect(loadConfig({ ...good, [variable]: 'x' })).toEqual(loadConfig(good));
    },
  );
});

describe('the README', () => {
  test('has an up-to-date table of the settings', () => {
    expect(readme).toContain(settingsTable());
  });

  test('has a command that prints a key which the server accepts', () => {
    const command = /^(node -p .*randomBytes.*)$/m.exec(readme)?.[1] ?? '';
    const printed = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
    expect(loadConfig({ ...good, OSTIARY_SEALING_KEYS: printed }).sealingKeys).toEqual([printed]);
  });
});
