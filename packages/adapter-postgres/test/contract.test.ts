import { storageContract } from '@ostiary/testing/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { storagesInOneSchema } from './one-schema.ts';
import { hostPool, schemaNames, type TestServer, testServers } from './server.ts';

for (const { name, start } of testServers()) {
  describe(`PostgreSQL storage on ${name}`, () => {
    let server: TestServer;
    let pool: Pool;
    const schema = schemaNames()();

    beforeAll(async () => {
      server = await start();
      pool = hostPool(server.url);
    });

    afterAll(async () => {
      // Nothing to remove: the folder is removed with its server.
      if (!server.isTemporary) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.remove();
    });

    const create = storagesInOneSchema(schema, () => ({ pool, own: pool }));
    const parts = { rateLimits: true, time: true, wakeUps: true };
    for (const { name, run } of storageContract(create, parts)) test(name, run);
  });
}
