import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostTables } from '../src/cli/move.ts';
import { createLogger } from '../src/http/logging.ts';
import { loadConfig, startReferenceServer } from '../src/index.ts';
import { command } from './support/commands.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';
import { anaika, cheap, environment, jean, start, temporaryFolder } from './support/server.ts';
import { Visitor } from './support/visitor.ts';

let postgres: PostgresServer;
let last = 0;

beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);

afterAll(async () => {
  await postgres?.remove();
  await rm(folder, { recursive: true });
}, 60_000);

function newDatabase(): Promise<string> {
  last += 1;
  return postgres.createDatabase(`move_${last}`);
}

const folder = await mkdtemp(join(tmpdir(), 'reference-server-'));
let used: ReturnType<typeof makeUsed> | undefined;

/** Returns a copy of an installation that has been used: users, a session, a ledger, a partner with a key. */
async function usedInstallation() {
  used ??= makeUsed({ ...(await environment()), OSTIARY_DATA_DIR: folder });
  const installation = await used;
  const file = join(await temporaryFolder(), 'ostiary.sqlite');
  await copyFile(join(folder, 'ostiary.sqlite'), file);
  return { ...installation, file };
}

async function makeUsed(env: NodeJS.ProcessEnv) {
  const server = await startReferenceServer(loadConfig(env), {
    passwordCost: cheap,
    logger: createLogger('silent'),
  });
  const { accounts, ledger, ostiary } = server.installation;
  await accounts.create({ ...anaika, email: 'anaika@example.com', htgBalance: '1250.00' });
  await accounts.create(jean);
  await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  await ledger.fund('kafe', '500.00', 'HTG');
  const { key } = await ostiary.admin.apiKeys.issue({
    partner: 'kafe',
    mode: 'live',
    scopes: ['payments:write'],
  });
  const visitor = new Visitor(env.OSTIARY_AUTH_URL ?? '');
  await visitor.signIn(jean.handle, 'a wrong password');
  await visitor.signIn(anaika.handle, anaika.password);
  const funds = await ledger.funds('kafe');
  await server.close();
  return { env, key, funds, visitor };
}

function move(args: readonly string[], settings: Record<string, string> = {}) {
  return command('move', args, { NODE_ENV: 'test', ...settings });
}

/** Runs a query on PostgreSQL and returns the rows. */
async function rowsOf<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Row>(sql);
  await client.end();
  return rows;
}

const countOf = (url: string, table: string) =>
  rowsOf(url, `SELECT count(*)::integer AS count FROM ${table}`);

describe('ostiary move', () => {
  test('an installation continues with its sessions, passwords, keys and ledger', async () => {
    const { env, file, key, funds, visitor } = await usedInstallation();
    const url = await newDatabase();
    const shown = (await move(['--from', file, '--check'])).output;
    expect(shown).toMatch(/^TABLE +ROWS +SHA-256\n/);
    expect(shown).toMatch(/^app\.users +2 +[0-9a-f]{16}$/m);
    expect(shown).toContain('can be moved');
    const told = (await move(['--from', file, '--to', await newDatabase()])).output;
    expect(told).toContain('Start the servers with DATABASE_URL');
    const checked = await move(['--from', file, '--check', '--json']);
    expect(checked).toMatchObject({ code: 0, errors: '' });
    // Pass the URL in the environment, so that its password is not in the list of processes.
    const moved = await move(['--from', file, '--json'], { DATABASE_URL: url });
    expect(moved).toMatchObject({ code: 0, errors: '' });
    const { tables } = JSON.parse(moved.output);
    expect(JSON.parse(moved.output)).toEqual({ moved: true, tables });
    expect(JSON.parse(checked.output)).toEqual({ moved: false, tables });
    const rows = Object.fromEntries(
      tables.map((each: { table: string; rows: number }) => [each.table, each.rows]),
    );
    expect(rows).toMatchObject({
      ...{ 'app.users': 2, 'app.sessions': 1, 'app.throttle': 4, 'app.accounts': 3, 'app.movements': 2 },
      ...{ 'app.postings': 4, partners: 1, api_keys: 1, signing_keys: 2 },
    });

    const server = await start({ ...env, DATABASE_URL: url });
    const { accounts, ledger, ostiary } = server.installation;
    // The session from before the move is still valid.
    expect((await visitor.get('/')).html).toContain(anaika.name);
    expect(await accounts.verify('ANAIKA', anaika.password)).toMatchObject({
      ...{ handle: 'anaika', email: 'anaika@example.com' },
    });
    expect(await ledger.funds('kafe')).toEqual(funds);
    const { kid } = (await accounts.get('jean')) ?? { kid: '' };
    const paid = await fetch(new URL('/v1/partner/payments', env.OSTIARY_AUTH_URL), {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount: '100.00', currency: 'HTG', recipient: { kid } }),
    });
    expect(paid.status).toBe(201);
    await ostiary.worker.stop();
    await ostiary.worker.runDue();
    expect((await ledger.funds('kafe')).HTG).toBe(funds.HTG - 10_000n);
    // Account numbers continue after the move.
    expect(await countOf(url, 'app.accounts')).toEqual([{ count: 4 }]);
    const again = await move(['--from', file], { DATABASE_URL: url });
    expect(again).toMatchObject({ code: 1, output: '' });
    expect(again.errors).toContain('has rows already');
    // Every column of every table of this server was moved.
    const columns = await rowsOf<{ name: string }>(
      url,
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'app' AND table_name NOT IN ('migrations', 'nodes')`,
    );
    const from = new Sqlite(file);
    const known = hostTables(from).tables.flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    from.close();
    expect(known.toSorted()).toEqual(columns.map(({ name }) => name).toSorted());
  });

  test('a failed move leaves PostgreSQL as it was', async () => {
    const { file } = await usedInstallation();
    new Sqlite(file).exec("UPDATE app_users SET name = 'a' || char(0)").close();
    const url = await newDatabase();
    const { code, errors } = await move(['--from', file], { DATABASE_URL: url });
    expect([code, errors]).toEqual([1, expect.stringContaining('app.users')]);
    const schemas = "SELECT nspname FROM pg_namespace WHERE nspname IN ('app', 'ostiary')";
    expect(await rowsOf(url, schemas)).toEqual([]);
  });

  test('wrong arguments are refused', async () => {
    for (const [args, code, message] of [
      [[], 2, '--from is missing'],
      [['--from', 'x', '--to', 'mysql://x'], 2, 'must begin with postgres://'],
      [['--from', '/nowhere/ostiary.sqlite', '--check'], 1, 'cannot be opened'],
    ] as const)
      expect(await move(args)).toMatchObject({ code, output: '', errors: expect.stringContaining(message) });
  });

  test.each(['postgres://me:hush-hush@127.0.0.1:1/x', 'postgres://me:hush-hush@[x/y'])(
    'a database that cannot be reached is told without its password: %s',
    async (url) => {
      const { file } = await usedInstallation();
      const { code, output, errors } = await move(['--from', file], { DATABASE_URL: url });
      expect([code, output, errors]).toEqual([1, '', expect.stringMatching(/^[^\n]+\n$/)]);
      expect(errors).not.toContain('hush');
    },
  );

  test('a file of another version of this server is refused', async () => {
    const { file } = await usedInstallation();
    const change = (sql: string): void => void new Sqlite(file).exec(sql).close();
    change('DELETE FROM app_migrations WHERE number = (SELECT max(number) FROM app_migrations)');
    expect((await move(['--from', file, '--check'])).errors).toContain('older version of this server');
    change("INSERT INTO app_migrations VALUES (98, 'x', 'x', 1), (99, 'y', 'y', 1)");
    expect((await move(['--from', file, '--check'])).errors).toContain('newer version of this server');
    change('DROP TABLE app_migrations');
    expect((await move(['--from', file, '--check'])).errors).toContain('no installation of this server');
  });
});
