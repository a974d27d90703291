import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Finding } from '@ostiary/cli/doctor';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../../lab/support/free-port.ts';
import { type ProxyOptions, startTlsProxy } from '../../../mounts/test/support/tls-proxy.ts';
import { diagnose } from '../../src/cli/doctor.ts';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { createLogger } from '../../src/http/logging.ts';
import { openInstallation, type ServerOptions } from '../../src/index.ts';
import { certificate, expiredCertificate, privateKey } from '../support/certificates.ts';
import { createPartner, receiver } from '../support/partners.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { cheap, environment, start } from '../support/server.ts';
import { codeOf, password } from '../support/staff.ts';

const trusted = getCACertificates('default');
let postgres: PostgresServer;
let databases = 0;

beforeAll(async () => {
  setDefaultCACertificates([...trusted, certificate]);
  postgres = await startPostgres([]);
}, 120_000);
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await postgres?.remove();
}, 60_000);

type Environment = NodeJS.ProcessEnv;

/** Returns the environment of a correct deployment, behind a proxy with TLS. */
async function production(engine: 'SQLite' | 'PostgreSQL' = 'SQLite'): Promise<Environment> {
  databases += 1;
  const front = await freePort();
  return environment({
    NODE_ENV: 'production',
    OSTIARY_AUTH_URL: `https://localhost:${front}`,
    OSTIARY_TRUSTED_PROXIES: '127.0.0.1',
    ...(engine === 'PostgreSQL' && { DATABASE_URL: await postgres.createDatabase(`doctor_${databases}`) }),
  });
}

const frontPort = (env: Environment): number => Number(new URL(env.OSTIARY_AUTH_URL ?? '').port);

/** Starts a reverse proxy with TLS in front of a server. */
async function startFront(port: number, target: number, options: ProxyOptions = {}): Promise<void> {
  const proxy = await startTlsProxy({ port, certificate, privateKey, ...options });
  onTestFinished(() => proxy.stop());
  proxy.forwardTo(target);
}

/** Starts a deployment: a server and the proxy in front of it. */
async function deploy(
  env: Environment,
  { front = {}, ...options }: ServerOptions & { readonly front?: ProxyOptions } = {},
) {
  const server = await start(env, options);
  if (env.OSTIARY_AUTH_URL?.startsWith('https:')) await startFront(frontPort(env), server.port, front);
  return server;
}

const findingsIn = (env: Environment): Promise<readonly Finding[]> => diagnose(loadConfig(env));
const wrong = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ verdict }) => verdict !== 'ok');

async function change(database: Database, sql: string, values = {}): Promise<void> {
  await database.write((transaction) => transaction.run(sql, values));
}

/** A mistake in a deployment that the doctor must find. */
interface Mistake {
  /** Settings of the mistake, for both the server and the doctor. */
  readonly settings?: (good: Environment) => Environment;
  readonly front?: ProxyOptions;
  readonly server?: ServerOptions;
  /** Certificates that the doctor trusts. */
  readonly trusts?: readonly string[];
  /** Harmful SQL statement to run, with its values. */
  readonly sql?: readonly [sql: string, values?: Readonly<Record<string, number>>];
  /** Creates the deployment in another way than `deploy`. Of the other members, only `trusts` applies then. */
  readonly plant?: (good: Environment) => Promise<unknown>;
}

const development = (changes: Environment) => (good: Environment) => ({
  ...good,
  NODE_ENV: 'development',
  ...changes,
});
const without = (header: string, part?: string) => (name: string, value: string) =>
  name !== header ? value : part === undefined ? undefined : value.replace(part, '');
const hour = 3_600_000;

const mistakes: readonly (readonly [name: string, check: string, said: string, mistake: Mistake])[] = [
  [
    'a server with another OSTIARY_AUTH_URL',
    'address',
    'the issuer at',
    {
      async plant(good) {
        const server = await start({ ...good, OSTIARY_AUTH_URL: 'https://id.example.com' });
        await startFront(frontPort(good), server.port);
      },
    },
  ],
  ['an address at which nothing answers', 'address', 'does not respond', { plant: start }],
  [
    'another installation at the address',
    'address',
    'are not those of this database',
    {
      async plant(good) {
        await start(good);
        const { OSTIARY_DATA_DIR, PORT } = await environment();
        await deploy({ ...good, OSTIARY_DATA_DIR, PORT });
      },
    },
  ],
  [
    'the whole internet as trusted proxy',
    'proxies',
    'X-Forwarded-For is trusted',
    { settings: development({ OSTIARY_TRUSTED_PROXIES: '0.0.0.0/0' }) },
  ],
  [
    'a proxy that passes on what a stranger wrote',
    'proxies',
    'X-Forwarded-For is trusted (tried)',
    { front: { forwards: 'pass on' } },
  ],
  [
    'a proxy that the server does not know',
    'proxies',
    'does not list',
    { settings: (good) => ({ ...good, OSTIARY_TRUSTED_PROXIES: '' }) },
  ],
  [
    'plain http',
    'tls',
    'is plain http',
    { settings: (good) => development({ OSTIARY_AUTH_URL: `http://localhost:${good.PORT}` })(good) },
  ],
  [
    'a proxy that takes Strict-Transport-Security away',
    'tls',
    'sends no Strict-Transport-Security',
    { front: { answer: without('strict-transport-security') } },
  ],
  [
    'a certificate that has ended',
    'tls',
    'is not trusted (CERT_HAS_EXPIRED)',
    { trusts: [...trusted, expiredCertificate], front: { certificate: expiredCertificate } },
  ],
  ['a certificate of nobody', 'tls', 'is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)', { trusts: trusted }],
  [
    'a proxy that strips cookies',
    'cookies',
    'without its protection',
    { front: { answer: without('set-cookie', '; Secure') } },
  ],
  ['a clock that is two minutes ahead', 'clock', 'ahead of', { server: { now: () => Date.now() + 120_000 } }],
  [
    'another sealing key on one of two nodes',
    'sealing keys',
    'cannot be opened by',
    {
      async plant(good) {
        await deploy(good);
        const keys = `${randomBytes(32).toString('base64url')},${good.OSTIARY_SEALING_KEYS}`;
        await start({ ...good, PORT: String(await freePort()), OSTIARY_SEALING_KEYS: keys });
      },
    },
  ],
  [
    'private webhook targets',
    'settings',
    'webhooks may go to private addresses',
    { settings: development({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'on' }) },
  ],
  [
    'a data folder that everybody reads',
    'files',
    'other users of this machine',
    {
      async plant(good) {
        await deploy(good);
        const { OSTIARY_DATA_DIR = '' } = good;
        await chmod(OSTIARY_DATA_DIR, 0o755);
        await chmod(join(OSTIARY_DATA_DIR, 'ostiary.sqlite'), 0o644);
      },
    },
  ],
  [
    'a database in which two writers win',
    'atomicity',
    'concurrent writers of a row succeeded, not one',
    {
      sql: [
        `CREATE TRIGGER app_nodes_undo AFTER UPDATE ON app_nodes WHEN new.role = 'won'
         BEGIN UPDATE app_nodes SET role = 'scratch' WHERE id = new.id; END`,
      ],
    },
  ],
  [
    'work that nobody does',
    'jobs',
    '1 due, the oldest for',
    {
      sql: [
        "INSERT INTO jobs (id, kind, payload, due_at) VALUES ('j', 'x', '{}', :due)",
        { due: Date.now() - hour },
      ],
    },
  ],
  [
    'events that are kept for too long',
    'retention',
    'the oldest event is 40 days old',
    {
      sql: [
        `INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
         VALUES ('evt_x', 'kafe', 'live', 1, 'x.y', '{}', :at)`,
        { at: Date.now() - 40 * 24 * hour - 1_000 },
      ],
    },
  ],
];

/** Creates a deployment with this mistake, and returns the environment in which the doctor runs. */
async function make({ settings, front, server, trusts, sql, plant }: Mistake): Promise<Environment> {
  const good = await production();
  if (trusts !== undefined) {
    setDefaultCACertificates([...trusts]);
    onTestFinished(() => setDefaultCACertificates([...trusted, certificate]));
  }
  if (plant !== undefined) {
    await plant(good);
    return good;
  }
  const env = settings?.(good) ?? good;
  const { installation } = await deploy(env, { ...server, ...(front && { front }) });
  if (sql !== undefined) await change(installation.database, ...sql);
  return env;
}

describe('ostiary doctor', () => {
  test.each(['SQLite', 'PostgreSQL'] as const)(
    'finds nothing wrong with a sound one on %s',
    async (engine) => {
      const env = await production(engine);
      const server = await deploy(env);
      const findings = await findingsIn(env);
      expect(wrong(findings)).toEqual([]);
      const checked = new Set(findings.map(({ check }) => check));
      for (const check of 'address,tls,cookies,proxies,clock,sealing keys,database,workers'.split(','))
        expect(checked).toContain(check);
      // The doctor has removed its scratch row: only the server's process is listed.
      const { database } = server.installation;
      expect(await database.all('SELECT id FROM app_nodes')).toHaveLength(1);
    },
  );

  test.each(mistakes)('finds %s', async (_name, check, said, mistake) => {
    const found = wrong(await findingsIn(await make(mistake))).filter((finding) => finding.check === check);
    expect(found).toContainEqual(
      expect.objectContaining({ verdict: 'problem', what: expect.stringContaining(said) }),
    );
    for (const { why, mend } of found) expect([why, mend]).not.toContain(undefined);
  });

  test('reports that no worker runs, and settings with which PostgreSQL can lose data', async () => {
    const env: NodeJS.ProcessEnv = { ...(await production('PostgreSQL')), OSTIARY_ROLE: 'web' };
    await deploy(env);
    const client = new Client({ connectionString: env.DATABASE_URL });
    await client.connect();
    onTestFinished(() => client.end());
    const setFsync = async (value: 'on' | 'off'): Promise<void> => {
      await client.query(`ALTER SYSTEM SET fsync = ${value}`);
      await client.query('SELECT pg_reload_conf()');
      const shown = async () => (await client.query('SHOW fsync')).rows;
      await expect.poll(shown, { timeout: 20_000 }).toEqual([{ fsync: value }]);
    };
    await setFsync('off');
    try {
      const found = wrong(await findingsIn(env)).map(({ check, verdict, what }) => [check, verdict, what]);
      expect(found).toEqual([
        ['database', 'problem', 'PostgreSQL runs with fsync=off'],
        ['workers', 'problem', 'no worker runs'],
      ]);
      // A server would not start with these settings either.
      const again = { ...env, PORT: String(await freePort()) };
      await expect(start(again)).rejects.toThrow('runs with fsync=off');
    } finally {
      await setFsync('on');
    }
  });

  test('warns of a standby without synchronous commits', async () => {
    const env = await production('PostgreSQL');
    await deploy(env);
    // Connect as a standby does, so that the doctor finds a replication.
    const standby = new Client({ connectionString: `${env.DATABASE_URL}?replication=true` });
    await standby.connect();
    onTestFinished(() => standby.end());
    expect(wrong(await findingsIn(env))).toMatchObject([
      {
        check: 'database',
        verdict: 'warning',
        what: 'commits do not wait for the standby (synchronous_standby_names is empty)',
      },
    ]);
  });

  test('warns of a process that ended without unregistering, and of another version', async () => {
    const env = await production();
    const { database } = (await deploy(env)).installation;
    const [row] = await database.all<{ facts: string }>('SELECT facts FROM app_nodes');
    const facts = { ...JSON.parse(row?.facts ?? '{}'), name: 'gone:1' };
    const insert = `INSERT INTO app_nodes (id, role, facts, started_at, seen_at)
      VALUES (:id, 'worker', :facts, :at, :at)`;
    await change(database, insert, { id: 'a', facts: JSON.stringify(facts), at: Date.now() - 600_000 });
    const old = { ...facts, name: 'old:1', version: '0.0.9' };
    await change(database, insert, { id: 'b', facts: JSON.stringify(old), at: Date.now() });
    const found = wrong(await findingsIn(env));
    expect(found.map(({ check, verdict }) => [check, verdict])).toEqual([
      ['processes', 'warning'],
      ['processes', 'warning'],
    ]);
    expect(found[0]?.what).toContain('0.0.9');
    expect(found[1]?.what).toBe('gone:1 (worker) ended without unregistering');
  });

  test('tries a connection if it gets a target', async () => {
    const env = await production();
    await deploy(env);
    const tryOut = async (egress: string) =>
      (await diagnose(loadConfig(env), { egress })).filter(({ check }) => check === 'egress');
    expect(await tryOut(`https://127.0.0.1:${frontPort(env)}`)).toMatchObject([{ verdict: 'ok' }]);
    expect(await tryOut(`https://127.0.0.1:${await freePort()}`)).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('ECONNREFUSED') },
    ]);
  });

  test('does not connect to a private address for a partner’s host name', async () => {
    const env = await environment();
    const server = await start(env);
    const connections = vi.fn();
    const inside = createTcpServer(connections).listen(0, '127.0.0.1');
    onTestFinished(() => void inside.close());
    await once(inside, 'listening');
    const { port } = inside.address() as AddressInfo;
    const partner = await createPartner(server, 'kafe');
    const url = `https://127.0.0.1:${port}/`;
    expect((await partner.register(url)).status).toBe(201);
    await server.close();
    // If servers do not allow private targets, the doctor must not connect to one either: a partner's host
    // name may resolve to this network by now.
    const findings = await diagnose(loadConfig(env));
    expect(findings.filter(({ check }) => check === 'egress').map(({ what }) => what)).toEqual([
      `cannot be reached from here: 127.0.0.1:${port} (no address, or one that is not public)`,
    ]);
    expect(connections).not.toHaveBeenCalled();
  });

  test('explains why it has no endpoint to try', async () => {
    const env = await environment();
    const server = await start(env);
    const egress = async () =>
      (await diagnose(loadConfig(env))).filter(({ check }) => check === 'egress').map(({ what }) => what);
    expect(await egress()).toEqual([expect.stringContaining('not tried: no partner has an endpoint (')]);
    const partner = await createPartner(server, 'kafe');
    const { url } = await receiver();
    expect((await partner.register(url)).status).toBe(201);
    expect(await egress()).toEqual([expect.stringContaining('not tried: no https endpoint, partners have')]);
    // The https endpoint is tried, even if there were a hundred plain ones before it.
    expect((await partner.register('https://127.0.0.1:1/')).status).toBe(201);
    expect(await egress()).toEqual([expect.stringContaining('127.0.0.1:1 (ECONNREFUSED)')]);
  });

  test('does not start in production with the sealing key of a demo', async () => {
    const env = await production();
    const { OSTIARY_DATA_DIR = '', OSTIARY_SEALING_KEYS = '' } = env;
    await writeFile(join(OSTIARY_DATA_DIR, 'sealing-key'), `${OSTIARY_SEALING_KEYS}\n`);
    await expect(start(env)).rejects.toThrow('OSTIARY_SEALING_KEYS holds the key of a demo');
    // The same key is accepted in development: only the key was refused, and the refusal left nothing open.
    await start({ ...env, NODE_ENV: 'development' });
  });

  test('describes the problem with a missing database', async () => {
    expect(await findingsIn(await production())).toMatchObject([
      { check: 'database', verdict: 'problem', what: 'there is no database in OSTIARY_DATA_DIR' },
    ]);
  });

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'counts what a previous sealing key is still needed for, on %s',
    async (engine) => {
      const [old, next] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      const env = await environment(
        engine === 'PostgreSQL' ? { DATABASE_URL: await postgres.createDatabase('seals') } : {},
      );
      const open = async (keys: string) => {
        const config = loadConfig({ ...env, OSTIARY_SEALING_KEYS: keys });
        const installation = await openInstallation(config, createLogger('silent'), { passwordCost: cheap });
        onTestFinished(() => installation.close());
        return installation;
      };
      const secrets = async (keys: string) =>
        (await diagnose(loadConfig({ ...env, OSTIARY_SEALING_KEYS: keys })))
          .filter(({ check }) => check === 'secrets')
          .map(({ verdict, what }) => [verdict, what]);

      const { admin, staff, now } = await open(old);
      await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
      for (let index = 0; index < 4; index += 1)
        await admin.apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['webhooks'] });
      // Secrets of revoked keys need no sealing key, because they are never used again.
      const { apiKey } = await admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['webhooks'] });
      await admin.apiKeys.revoke(apiKey.id);
      // A staff member with an authenticator app, whose secret is in a table of the reference server.
      const app = { secret: Buffer.alloc(20, 1), code: codeOf('AEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIB', now()) };
      await staff.setPassword(await staff.invite('ana@example.com', 'owner'), password, app);
      expect(await secrets(old)).toEqual([
        ['ok', expect.stringMatching(/^all are sealed with the first sealing key \([0-9a-f]{12}\)$/)],
      ]);
      // State before the first restart, including the two signing keys.
      expect(await secrets(`${next},${old}`)).toEqual([
        ['warning', '7 secrets are sealed with a previous key'],
      ]);

      // The start reseals the signing keys. A worker would reseal the rest, but none runs.
      const { ostiary } = await open(`${next},${old}`);
      expect(await secrets(`${next},${old}`)).toEqual([
        ['warning', '5 secrets are sealed with a previous key'],
      ]);
      expect(await secrets(next)).toEqual([
        [
          'problem',
          expect.stringMatching(
            /^5 secrets are sealed with a key that is not in OSTIARY_SEALING_KEYS \([0-9a-f]{12}, unknown\)$/,
          ),
        ],
      ]);

      expect((await ostiary.admin.health()).sealing.sealedOtherwise).toBe(5);
      ostiary.worker.start();
      await expect
        .poll(() => secrets(`${next},${old}`), { timeout: 30_000, interval: 300 })
        .toEqual([['ok', expect.any(String)]]);
      expect((await secrets(next))[0]?.[0]).toBe('ok');
      expect((await ostiary.admin.health()).sealing.sealedOtherwise).toBe(0);
    },
    90_000,
  );
});
