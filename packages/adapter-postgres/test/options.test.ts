import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { statement } from '../src/statement.ts';

/** Calls a function with arguments of any type, as a host application without TypeScript might. */
const withOptions = (options: unknown) => () => Reflect.apply(postgresStorage, undefined, [options]);

const connectionString = 'postgres://user:hunter2@db.example/ostiary';

test('options that are missing, wrong or unknown are a TypeError that names them', () => {
  const pool = { connect: () => undefined };
  const wrong: [unknown, string][] = [
    [undefined, 'must be an object'],
    [connectionString, 'must be an object'],
    [{}, 'either options.pool or options.connectionString'],
    [{ pool, connectionString }, 'either options.pool or options.connectionString'],
    [{ pool: {} }, 'options.pool'],
    [{ pool: null }, 'options.pool'],
    [
      { connectionString: '' },
      'options.connectionString must begin with postgres:// or postgresql://, and is empty',
    ],
    [
      { connectionString: undefined },
      'options.connectionString, which is undefined; is its environment variable',
    ],
    [{ connectionString: 7 }, 'options.connectionString'],
    [{ connectionString: 'mysql://user:hunter2@db.example/ostiary' }, 'options.connectionString'],
    [{ connectionString, max: 5 }, 'unknown option "max"; there are pool, connectionString, schema'],
  ];
  const badSchemas = [
    '',
    'Ostiary',
    '1st',
    'a-b',
    'a"b',
    'a b',
    'pg_catalog',
    'é',
    `a${'b'.repeat(63)}`,
    null,
    7,
  ];
  wrong.push(
    ...badSchemas.map((schema): [unknown, string] => [{ connectionString, schema }, 'options.schema']),
  );
  for (const [options, message] of wrong) {
    expect(withOptions(options), JSON.stringify(options)).toThrow(TypeError);
    expect(withOptions(options), JSON.stringify(options)).toThrow(message);
  }
});

test('what is refused does not show the password', () => {
  for (const options of [{ connectionString, schema: 'A' }, { connectionString: `x${connectionString}` }]) {
    expect(withOptions(options)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    );
  }
});

test('making a storage connects to nothing', async () => {
  for (const schema of [undefined, 'a', '_', 'user', `a${'b'.repeat(62)}`]) {
    expect(withOptions({ connectionString: 'postgresql://127.0.0.1:1/x', schema })).not.toThrow();
  }
  const pool = new Pool({ connectionString: 'postgres://127.0.0.1:1/x' });
  postgresStorage({ pool });
  expect(pool.totalCount).toBe(0);
  await pool.end();
});

test('named parameters are numbered, each once, and casts are left alone', async () => {
  const sent: unknown[] = [];
  const connection = {
    async query(text: string, values: readonly unknown[]) {
      sent.push([text, values]);
      return { rows: [{ n: 1 }], count: 3 };
    },
  };
  const sql = statement<{ a: number; b1: string | null }, { n: number }>(
    'UPDATE t SET n = :b1::text, m = x::int[], k = :a, l = :b1 WHERE y = :a::bigint RETURNING n',
  );
  expect(await sql.get(connection, { a: 7, b1: null })).toEqual({ n: 1 });
  expect(await sql.run(connection, { a: 7, b1: null })).toBe(3);
  expect(sent[0]).toEqual([
    'UPDATE t SET n = $1::text, m = x::int[], k = $2, l = $1 WHERE y = $2::bigint RETURNING n',
    [null, 7],
  ]);
});

test('a file of TLS that cannot be used is a TypeError that names the file and the setting', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tls-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [missing, empty] = [join(folder, 'missing.pem'), join(folder, 'empty.pem')];
  await writeFile(empty, 'no certificate');
  const withTls = (parameters: string) =>
    withOptions({ connectionString: `postgres://a:hunter2@db-1,db-2/app?sslmode=verify-full&${parameters}` });
  for (const name of ['sslrootcert', 'sslcert', 'sslkey'])
    expect(withTls(`${name}=${missing}`)).toThrow(
      new TypeError(
        `postgresStorage: options.connectionString: ${name} names the file ${missing}, which is not there`,
      ),
    );
  expect(withTls(`sslrootcert=${folder}`)).toThrow(`names the file ${folder}, which is a folder`);
  expect(withTls(`sslrootcert=${empty}`)).toThrow(`${empty}, which has no certificate (PEM) in it`);
  expect(withTls(`sslkey=${empty}`)).toThrow(`${empty}, which has no private key (PEM) in it`);
  expect(withTls('sslrootcert=system')).toThrow('set NODE_OPTIONS=--use-system-ca');
});
