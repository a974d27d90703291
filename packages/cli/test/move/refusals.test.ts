import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type PostgresPool, postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import Sqlite from 'better-sqlite3';
import type { PoolClient } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { hostPool } from '../../../adapter-postgres/test/server.ts';
import { checkSqlite, type MoveOptions, moveFromSqlite } from '../../src/move/index.ts';
import { change, filledFile } from './samples.ts';
import { check, move, nextSchema, postgres, usePostgres } from './stage.ts';

usePostgres();

/** Makes a PostgreSQL schema as a server leaves it after its first start, without data. */
async function emptySchema(): Promise<string> {
  const schema = nextSchema();
  const storage = postgresStorage({ pool: postgres.pool, schema });
  await storage.open();
  await storage.close();
  return schema;
}

/** Returns the content of a PostgreSQL schema: its objects, numbers of rows, and next values of sequences. */
async function stateOf(schema: string) {
  const objects = await postgres.pool.query(
    `SELECT relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = to_regnamespace($1)
     ORDER BY relname`,
    [schema],
  );
  const counts: Record<string, number> = {};
  const next: Record<string, unknown> = {};
  for (const { name, kind } of objects.rows) {
    if (kind === 'r') {
      const { rows } = await postgres.pool.query(
        `SELECT count(*)::integer AS count FROM "${schema}"."${name}"`,
      );
      counts[name] = rows[0].count;
    }
    if (kind === 'S') {
      next[name] = (
        await postgres.pool.query(`SELECT last_value, is_called FROM "${schema}"."${name}"`)
      ).rows[0];
    }
  }
  return { objects: objects.rows, counts, next };
}

/**
 * Checks that a failed move leaves PostgreSQL unchanged, and that the move succeeds once the fault is gone.
 */
async function movesAfter(file: string, schema: string, fail: () => Promise<unknown>): Promise<void> {
  const before = await stateOf(schema);
  await fail();
  expect(await stateOf(schema)).toEqual(before);
  await move(file, schema);
}

/**
 * Wraps the host application's pool, and runs a function before the first statement that matches a pattern.
 */
function interrupted(pattern: RegExp, happen: (client: PoolClient) => Promise<unknown>): PostgresPool {
  let isOver = false;
  return {
    async connect() {
      const client = await postgres.pool.connect();
      return {
        async query(statement) {
          if (!isOver && pattern.test(statement.text)) {
            isOver = true;
            await happen(client);
          }
          return client.query({ ...statement, values: [...(statement.values ?? [])] });
        },
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      };
    },
  };
}

const processOf = (client: PoolClient) => Reflect.get(client, 'processID');

test('a file that a running server has open is refused, even if the server is idle', async () => {
  const file = await filledFile();
  const schema = nextSchema();
  const running = sqliteStorage({ file });
  await running.open();
  await expect(move(file, schema)).rejects.toMatchObject({
    code: 'MOVE_FAILED',
    message: expect.stringContaining('stop every process that has it open'),
  });
  // The server was not affected.
  await running.ping();
  await running.interactions.save(Buffer.alloc(32, 1), {}, 1);
  await running.close();
  expect(await stateOf(schema)).toMatchObject({ objects: [] });
  await move(file, schema);
});

test('no process can start on the file while it is moved, and it can be opened again afterwards', async () => {
  const file = await filledFile();
  const tried: unknown[] = [];
  await move(file, nextSchema(), {
    onProgress() {
      if (tried.length > 0) return;
      const other = new Sqlite(file, { timeout: 0 });
      try {
        tried.push(other.prepare('SELECT count(*) FROM clients').get());
      } catch (error) {
        tried.push(error);
      } finally {
        other.close();
      }
    },
  });
  expect(tried).toMatchObject([{ code: 'SQLITE_BUSY' }]);
  const storage = sqliteStorage({ file });
  await storage.open();
  expect(await storage.partners.list({ after: null, limit: 1 })).toHaveLength(1);
  await storage.close();
});

test('data in the write-ahead log of a killed server is moved, too', async () => {
  const file = await filledFile();
  const script = `
    const Sqlite = require('better-sqlite3');
    const database = new Sqlite(process.argv[1]);
    database.exec("UPDATE partners SET name = 'written last'");
    process.kill(process.pid, 'SIGKILL');
  `;
  const child = spawn(process.execPath, ['-e', script, file], { cwd: import.meta.dirname, stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  expect(existsSync(`${file}-wal`)).toBe(true);
  const schema = nextSchema();
  await move(file, schema);
  const { rows } = await postgres.pool.query(`SELECT name FROM "${schema}".partners`);
  expect(rows).toEqual([{ name: 'written last' }]);
});

test('a file with another schema, of another program, or that is no database is refused', async () => {
  const file = await filledFile();
  change(file, "INSERT INTO schema_migrations VALUES (99, '0099_future.sql', 'x')");
  await expect(move(file, nextSchema())).rejects.toThrow(
    /has schema \d+ \(0099_future\.sql\).*@ostiary\/cli can move \d+: upgrade/,
  );
  change(file, "UPDATE schema_migrations SET checksum = 'x' WHERE number = 1");
  await expect(move(file, nextSchema())).rejects.toThrow('another migration 0001_initial.sql');
  change(file, 'DELETE FROM schema_migrations');
  await expect(move(file, nextSchema())).rejects.toThrow(
    /has schema 0 and \d+ is needed: start this version/,
  );
  change(file, 'DROP TABLE schema_migrations');
  await expect(move(file, nextSchema())).rejects.toThrow('no data of Ostiary');
  writeFileSync(file, 'not a database, but a text that is long enough to look like something'.repeat(99));
  for (const refused of [move(file, nextSchema()), check(file)])
    await expect(refused).rejects.toMatchObject({
      code: 'MOVE_FAILED',
      message: 'the file is not an SQLite database',
    });
});

test('a file whose rows refer to missing ones is refused', async () => {
  const file = await filledFile();
  change(file, 'PRAGMA foreign_keys = OFF', 'DELETE FROM events');
  await expect(move(file, nextSchema())).rejects.toThrow('damaged: a row of deliveries');
});

const tr = (description: string) => `transfers SET description = ${description} WHERE id = 'tr_A'`;

test.each([
  ['U+0000', tr('char(97, 0, 98)'), /row "tr_A", column description holds U\+0000/],
  ['a lone surrogate', tr("CAST(x'61eda080' AS TEXT)"), /row "tr_A", column description is not UTF-8/],
  [
    'bytes that are no text',
    "deliveries SET final_response = CAST(x'ff' AS TEXT) WHERE number = 5",
    /row 5, column final_response is not UTF-8/,
  ],
  [
    'half a pair in a list',
    String.raw`consents SET scopes = '["\ud83d"]' WHERE revoked_at IS NULL`,
    /column scopes holds a lone surrogate/,
  ],
  [
    'U+0000 in a list',
    String.raw`api_keys SET scopes = '["a\u0000"]'`,
    /row "key_0", column scopes holds U\+0000/,
  ],
  ['a list that is none', "webhook_endpoints SET events = '{}'", /row "we_1", column events is no list/],
  ['a key of bytes', 'interactions SET payload = char(0)', /row x'0b0b(0b)*', column payload/],
])('%s is refused, by the name of the table and the key of the row', async (_what, sql, message) => {
  const file = await filledFile();
  change(file, `UPDATE ${sql}`);
  const schema = nextSchema();
  const failure = await move(file, schema).catch((error: unknown) => error);
  const table = `table ${sql.split(' ')[0]}`;
  expect(failure).toMatchObject({ code: 'MOVE_FAILED', message: expect.stringContaining(table) });
  expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  expect(await stateOf(schema)).toMatchObject({ objects: [] });
  // The same problem is found without PostgreSQL.
  await expect(check(file)).rejects.toThrow(message);
});

test('tables with rows are refused by name, and keep their rows; a second move is refused, too', async () => {
  const file = await filledFile();
  const schema = await emptySchema();
  await move(file, schema);
  await postgres.pool.query(`TRUNCATE "${schema}".clients CASCADE`);
  await expect(move(file, schema)).rejects.toThrow(`table "${schema}"."grants" has rows already`);
  const { rows } = await postgres.pool.query(`SELECT slug FROM "${schema}".partners`);
  expect(rows).toEqual([{ slug: 'acme' }]);
});

test.each([
  [
    'a table that PostgreSQL stores otherwise than it was sent is named',
    (schema: string) => `
      CREATE FUNCTION "${schema}".meddle() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN NEW.amount := NEW.amount - 1; RETURN NEW; END $$;
      CREATE TRIGGER meddle BEFORE INSERT ON "${schema}".transfers
        FOR EACH ROW EXECUTE FUNCTION "${schema}".meddle();
    `,
    /rows of table transfers are not the same/,
    (schema: string) => `DROP TRIGGER meddle ON "${schema}".transfers`,
  ],
  [
    'a row that PostgreSQL swallows is missed',
    (schema: string) => `CREATE RULE swallow AS ON INSERT TO "${schema}".jobs DO INSTEAD NOTHING`,
    /table jobs has 6 rows in SQLite and 0 in PostgreSQL/,
    (schema: string) => `DROP RULE swallow ON "${schema}".jobs`,
  ],
])('%s, and nothing is kept', async (_what, plant, message, remove) => {
  const file = await filledFile();
  const schema = await emptySchema();
  await postgres.pool.query(plant(schema));
  await movesAfter(file, schema, async () => {
    await expect(move(file, schema)).rejects.toThrow(message);
    await postgres.pool.query(remove(schema));
  });
});

test('an error leaves PostgreSQL unchanged, without the schema', async () => {
  const file = await filledFile();
  const schema = nextSchema();
  const onProgress: MoveOptions['onProgress'] = ({ table }) => {
    if (table === 'delivery_attempts') throw new Error('the operator changed their mind');
  };
  await movesAfter(file, schema, () =>
    expect(move(file, schema, { onProgress })).rejects.toThrow('nothing was moved: the operator changed'),
  );
});

test.each([
  ['the middle', /INSERT INTO .*"delivery_attempts"/s, /nothing was moved/],
  ['the commit', /^COMMIT$/, /during the commit/],
])(
  'a connection that the server ends in %s leaves PostgreSQL as it was',
  async (_where, pattern, message) => {
    const file = await filledFile();
    const schema = await emptySchema();
    const broken = interrupted(pattern, (client) =>
      postgres.pool.query('SELECT pg_terminate_backend($1, 10000)', [processOf(client)]),
    );
    await movesAfter(file, schema, () =>
      expect(move(file, schema, { pool: broken })).rejects.toMatchObject({
        code: 'MOVE_FAILED',
        message: expect.stringMatching(message),
      }),
    );
  },
);

test.each(['signing_keys', 'deliveries', 'delivery_attempts'])(
  'kill -9 while %s is copied leaves PostgreSQL as it was',
  async (table) => {
    const file = await filledFile();
    const schema = await emptySchema();
    await movesAfter(file, schema, async () => {
      const child = fork(new URL('children/move.ts', import.meta.url), [file, postgres.url, schema, table], {
        execArgv: ['--conditions=ostiary-source'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const ended = once(child, 'exit');
      expect(await Promise.race([once(child, 'message'), ended])).toEqual(['in the middle', undefined]);
      const { rows } = await postgres.pool.query(
        "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE state = 'idle in transaction'",
      );
      expect(rows).toEqual([{ count: 1 }]);
      child.kill('SIGKILL');
      await ended;
    });
  },
);

test('a server that starts on the schema during the move waits, and has all data', async () => {
  const file = await filledFile();
  const schema = nextSchema();
  const storage = postgresStorage({ pool: postgres.pool, schema });
  onTestFinished(() => storage.close());
  let opening: Promise<void> | null = null;
  let isOpen = false;
  await move(file, schema, {
    pool: interrupted(/^COMMIT$/, async () => {
      opening = storage.open().then(() => {
        isOpen = true;
      });
      // Wait until the server waits for the lock that the move holds.
      for (;;) {
        const { rows } = await postgres.pool.query(
          "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'",
        );
        if (rows.length > 0) break;
      }
      expect(isOpen).toBe(false);
    }),
  });
  await opening;
  expect(await storage.partners.list({ after: null, limit: 9 })).toHaveLength(1);
});

test('the move is refused while a server uses the tables', async () => {
  const file = await filledFile();
  const schema = await emptySchema();
  const client = await postgres.pool.connect();
  await client.query(
    `BEGIN; INSERT INTO "${schema}".partners VALUES ('acme', 'Acme', 'acme', 1, 1, NULL, 1)`,
  );
  // Wait only briefly for the lock.
  const impatient = interrupted(/^LOCK TABLE/, (other) => other.query("SET LOCAL lock_timeout = '50ms'"));
  await expect(move(file, schema, { pool: impatient })).rejects.toMatchObject({ cause: { code: '55P03' } });
  await client.query('ROLLBACK');
  client.release();
  await move(file, schema);
});

test('wrong options are refused by name', async () => {
  const file = await filledFile();
  const { pool } = postgres;
  const readonly = new Sqlite(file, { readonly: true });
  const from = new Sqlite(file);
  const refused = async (options: object, message: RegExp) =>
    expect(moveFromSqlite(options as MoveOptions)).rejects.toThrow(message);
  await refused({ from: readonly, pool }, /options\.from must not be opened read-only/);
  await refused({ from: null, pool }, /options\.from must be an open Database/);
  await refused({}, /options\.from must be an open Database/);
  await refused({ from }, /moveFromSqlite: options\.pool must have a method connect/);
  await refused({ from, pool, schema: 'No!' }, /moveFromSqlite: options\.schema must match/);
  await refused({ from, pool, force: true }, /moveFromSqlite: unknown option "force"/);
  await expect(checkSqlite({ from: readonly })).rejects.toThrow(
    /^checkSqlite: options\.from must not be opened read-only/,
  );
  from.exec('BEGIN');
  await refused({ from, pool }, /^moveFromSqlite: options\.from must be in no transaction/);
  for (const database of [readonly, from]) database.close();
  await refused({ from, pool }, /must be an open Database/);
});

test('an unreachable server gives a clear error', async () => {
  const nowhere = hostPool('postgres://nobody@127.0.0.1:1/nothing');
  await expect(move(await filledFile(), nextSchema(), { pool: nowhere })).rejects.toMatchObject({
    code: 'MOVE_FAILED',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  await nowhere.end();
});
