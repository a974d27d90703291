import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../src/config.ts';
import { settings, settingsTable } from '../src/settings.ts';

const keyOf = (word: string) => createHash('sha256').update(word).digest('base64url');
const key = keyOf('a');
const good = {
  OSTIARY_AUTH_URL: 'https://id.example.com',
  OSTIARY_SEALING_KEYS: key,
  NODE_ENV: 'production',
};
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

describe('loadConfig', () => {
  test('needs two variables and fills in the rest', () => {
    const config = loadConfig({ ...good, PATH: '/bin' });
    expect(config).toMatchObject({
      mode: 'production',
      authUrl: 'https://id.example.com',
      baseUrl: 'https://id.example.com',
      sealingKeys: [key],
      trustedProxies: [],
      name: 'Ostiary',
      colour: '#1a4f8b',
      prefix: 'svc',
      webhooks: {
        allowPrivateTargets: false,
        retryDelaysSeconds: [60, 300, 1_800, 7_200],
        retentionDays: 30,
      },
      sandboxConsole: true,
      logLevel: 'info',
      host: '127.0.0.1',
      port: 3000,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('reads lists, and single proxies as ranges of one', () => {
    const other = keyOf('b');
    const config = loadConfig({
      ...good,
      OSTIARY_SEALING_KEYS: `${key}, ${other}`,
      OSTIARY_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7 ,2001:db8::1',
    });
    expect(config.sealingKeys).toEqual([key, other]);
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '192.0.2.7/32', '2001:db8::1/128']);
  });

  test('reads how webhooks are delivered', () => {
    const config = loadConfig({
      ...good,
      OSTIARY_WEBHOOK_RETRY_DELAYS: '1, 0.5,7200',
      OSTIARY_EVENT_RETENTION_DAYS: '7',
      OSTIARY_SANDBOX_CONSOLE: 'off',
    });
    expect(config).toMatchObject({
      webhooks: { retryDelaysSeconds: [1, 0.5, 7_200], retentionDays: 7 },
      sandboxConsole: false,
    });
  });

  test('reads where everything is kept, and what this process does', () => {
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
    });
    expect(config).toMatchObject({ databaseUrl, databasePool: 25, role: 'worker', drainSeconds: 15 });
    expect(loadConfig({ ...good, DATABASE_URL: '' }).databaseUrl).toBeNull();
  });

  test.each(['web', 'worker'])('refuses the role %s without PostgreSQL', (role) => {
    expect(() => loadConfig({ ...good, OSTIARY_ROLE: role })).toThrow(
      `OSTIARY_ROLE=${role} needs DATABASE_URL: on SQLite one process does everything (OSTIARY_ROLE=all)`,
    );
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

  test('takes an empty variable for one that is not set', () => {
    expect(loadConfig({ ...good, OSTIARY_BASE_URL: '', PORT: '' }).port).toBe(3000);
  });

  test.each([
    ['an unknown setting', { OSTIARY_AUTHURL: 'x' }, 'OSTIARY_AUTHURL is not a setting'],
    ['no key', { OSTIARY_SEALING_KEYS: undefined }, 'OSTIARY_SEALING_KEYS is missing'],
    ['an empty key', { OSTIARY_SEALING_KEYS: '' }, 'OSTIARY_SEALING_KEYS is missing'],
    ['a short key', { OSTIARY_SEALING_KEYS: 'secret' }, 'OSTIARY_SEALING_KEYS each must be 32 bytes'],
    ['no URL', { OSTIARY_AUTH_URL: undefined }, 'OSTIARY_AUTH_URL is missing'],
    [
      'a URL with a path',
      { OSTIARY_AUTH_URL: 'https://example.com/id' },
      'OSTIARY_AUTH_URL must be an origin',
    ],
    [
      'credentials in a URL',
      { OSTIARY_AUTH_URL: 'https://a:b@example.com' },
      'OSTIARY_AUTH_URL must be an origin',
    ],
    ['another scheme', { OSTIARY_BASE_URL: 'ftp://example.com' }, 'OSTIARY_BASE_URL must be an https URL'],
    ['http elsewhere', { OSTIARY_AUTH_URL: 'http://id.example.com' }, 'OSTIARY_AUTH_URL must be https'],
    ['http in production', { OSTIARY_AUTH_URL: 'http://localhost' }, 'OSTIARY_AUTH_URL must be https when'],
    [
      'an http API in production',
      { OSTIARY_BASE_URL: 'http://127.0.0.1' },
      'OSTIARY_BASE_URL must be https when',
    ],
    [
      'a wrong range',
      { OSTIARY_TRUSTED_PROXIES: '10.0.0.0/33' },
      'OSTIARY_TRUSTED_PROXIES must be addresses',
    ],
    [
      'a host name as proxy',
      { OSTIARY_TRUSTED_PROXIES: 'proxy' },
      'OSTIARY_TRUSTED_PROXIES must be addresses',
    ],
    ['a wrong colour', { OSTIARY_COLOUR: 'red' }, 'OSTIARY_COLOUR must be a colour'],
    ['a wrong prefix', { OSTIARY_PREFIX: 'A_' }, 'OSTIARY_PREFIX must be 2 to 16'],
    ['yes instead of on', { OSTIARY_SANDBOX_CONSOLE: 'yes' }, 'OSTIARY_SANDBOX_CONSOLE must be on or off'],
    [
      'delays that are no numbers',
      { OSTIARY_WEBHOOK_RETRY_DELAYS: '1m,5m' },
      'OSTIARY_WEBHOOK_RETRY_DELAYS must be seconds',
    ],
    [
      'a delay of nothing',
      { OSTIARY_WEBHOOK_RETRY_DELAYS: '60,0' },
      'OSTIARY_WEBHOOK_RETRY_DELAYS must be above 0',
    ],
    [
      'a delay of more than a week',
      { OSTIARY_WEBHOOK_RETRY_DELAYS: '604801' },
      'OSTIARY_WEBHOOK_RETRY_DELAYS must be above 0',
    ],
    [
      'too many delays',
      { OSTIARY_WEBHOOK_RETRY_DELAYS: Array(21).fill('60').join() },
      'OSTIARY_WEBHOOK_RETRY_DELAYS has more than 20',
    ],
    [
      'no delay at all',
      { OSTIARY_WEBHOOK_RETRY_DELAYS: ',' },
      'OSTIARY_WEBHOOK_RETRY_DELAYS needs at least one',
    ],
    [
      'a retention of no days',
      { OSTIARY_EVENT_RETENTION_DAYS: '0' },
      'OSTIARY_EVENT_RETENTION_DAYS must be 1 to',
    ],
    ['a role that does not exist', { OSTIARY_ROLE: 'both' }, 'OSTIARY_ROLE must be all, web or worker'],
    ['one connection', { OSTIARY_DATABASE_POOL: '1' }, 'OSTIARY_DATABASE_POOL must be 2 to 200'],
    ['a long drain', { OSTIARY_DRAIN_SECONDS: '301' }, 'OSTIARY_DRAIN_SECONDS must be at most 300'],
    ['the whole internet as proxy', { OSTIARY_TRUSTED_PROXIES: '0.0.0.0/0' }, 'OSTIARY_TRUSTED_PROXIES must'],
    [
      'half the internet',
      { OSTIARY_TRUSTED_PROXIES: '10.0.0.1,128.0.0.0/1' },
      'OSTIARY_TRUSTED_PROXIES must',
    ],
    ['the whole new internet', { OSTIARY_TRUSTED_PROXIES: '::/0' }, 'OSTIARY_TRUSTED_PROXIES must'],
    [
      'a key of one byte',
      { OSTIARY_SEALING_KEYS: Buffer.alloc(32, 7).toString('base64url') },
      'OSTIARY_SEALING_KEYS must be random',
    ],
    [
      'a key that was counted',
      {
        OSTIARY_SEALING_KEYS: `${key},${Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString('base64url')}`,
      },
      'OSTIARY_SEALING_KEYS must be random',
    ],
    [
      'a key that was typed',
      { OSTIARY_SEALING_KEYS: Buffer.from('correct horse battery staple !!!').toString('base64url') },
      'OSTIARY_SEALING_KEYS must be random',
    ],
    [
      'private webhook targets',
      { OSTIARY_AUTH_URL: 'https://localhost', OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'on' },
      'OSTIARY_WEBHOOK_PRIVATE_TARGETS must not be on when NODE_ENV is production',
    ],
    ['a wrong port of metrics', { OSTIARY_METRICS_PORT: 'x' }, 'OSTIARY_METRICS_PORT must be a port number'],
    ['a wrong port', { PORT: '70000' }, 'PORT must be a port number'],
    ['a mode that does not exist', { NODE_ENV: 'prod' }, 'NODE_ENV must be production, development or test'],
    ['an unknown level', { OSTIARY_LOG_LEVEL: 'all' }, 'OSTIARY_LOG_LEVEL must be fatal, error, warn, info'],
    ['a blank name', { OSTIARY_NAME: ' ' }, 'OSTIARY_NAME must not be blank'],
    ['a long name', { OSTIARY_NAME: 'n'.repeat(61) }, 'OSTIARY_NAME must have at most 60 characters'],
    [
      'too many keys',
      { OSTIARY_SEALING_KEYS: Array.from({ length: 11 }, (_, at) => keyOf(`${at}`)).join() },
      'OSTIARY_SEALING_KEYS takes at most ten keys',
    ],
  ])('refuses %s', (_, changes, message) => {
    const load = (): unknown => loadConfig({ ...good, ...changes });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
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

  test('accepts http on loopback addresses outside production', () => {
    for (const url of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']) {
      expect(loadConfig({ ...good, NODE_ENV: 'development', OSTIARY_AUTH_URL: url }).authUrl).toBe(url);
    }
  });
});

describe('the README', () => {
  test('has the table of the settings as they are', () => {
    expect(readme).toContain(settingsTable());
  });

  test('has a command that prints a key which the server accepts', () => {
    const command = /^(node -p .*randomBytes.*)$/m.exec(readme)?.[1] ?? '';
    const printed = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
    expect(loadConfig({ ...good, OSTIARY_SEALING_KEYS: printed }).sealingKeys).toEqual([printed]);
  });
});
