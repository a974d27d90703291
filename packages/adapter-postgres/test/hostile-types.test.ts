import type { Storage } from '@ostiary/core/storage';
import { storageContract } from '@ostiary/testing/contract';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overrideTypes } from '../../../lab/support/postgres/hostile-types.ts';
import { postgresPool, postgresStorage, postgresTypes } from '../src/index.ts';
import { storagesInOneSchema } from './one-schema.ts';
import { hostPool, schemaNames, type TestServer, testServers } from './server.ts';

const [first] = testServers();

describe('a host that changed pg.types for its whole process', () => {
  let server: TestServer;
  let pool: Pool;
  let own: Pool;
  let restore: () => void = () => undefined;
  const schemas = schemaNames();

  beforeAll(async () => {
    if (first === undefined) throw new Error('there is no PostgreSQL');
    server = await first.start();
    restore = overrideTypes();
    pool = hostPool(server.url);
    own = new Pool({ connectionString: server.url, types: postgresTypes }).on('error', () => undefined);
  });

  afterAll(async () => {
    restore();
    await pool.end();
    await own.end();
    await server.remove();
  });

  test('reads something else for statements of its own', async () => {
    const { rows } = await pool.query("SELECT 1::bigint AS big, 'a' AS text, true AS yes");
    expect(rows).toEqual([
      { big: { oid: 20, text: '1' }, text: { oid: 25, text: 'a' }, yes: expect.anything() },
    ]);
  });

  const create = storagesInOneSchema(schemas(), () => ({ pool, own }));
  for (const { name, run } of storageContract(create, { rateLimits: true, time: true, wakeUps: true }))
    test(name, run);

  test('opens a pool of its own and tells the time', async () => {
    const opened = postgresPool({ connectionString: server.url });
    const storage: Storage = postgresStorage({ pool: opened, schema: schemas() });
    await storage.open();
    expect(Math.abs(((await storage.time?.()) ?? 0) - Date.now())).toBeLessThan(60_000);
    await storage.close();
    await opened.end();
  });

  test.each([['hex'], ['escape']])('reads bytes in the format %s', async (format) => {
    const client = new Client({ connectionString: server.url, types: postgresTypes });
    await client.connect();
    await client.query(`SET bytea_output = ${format}`);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { rows } = await client.query('SELECT $1::bytea AS one, ARRAY [$1::bytea, NULL] AS many', [bytes]);
    expect(rows).toEqual([{ one: bytes, many: [bytes, null] }]);
    await client.end();
  });
});
