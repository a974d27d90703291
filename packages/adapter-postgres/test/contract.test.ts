import { storageContract } from '@ostiary/core/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { hostPool, schemaNames, type TestServer, testServers } from './server.ts';

for (const { name, start } of testServers()) {
  describe(`PostgreSQL storage on ${name}`, () => {
    let server: TestServer;
    let pool: Pool;
    const nextSchema = schemaNames();
    const schemas: string[] = [];

    beforeAll(async () => {
      server = await start();
      pool = hostPool(server.url);
    });

    afterAll(async () => {
      // What is removed with its server needs no time.
      if (!server.isTemporary)
        for (const schema of schemas) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.remove();
    });

    const create = async () => {
      const schema = nextSchema();
      const storage = postgresStorage({ pool, schema });
      await storage.open();
      schemas.push(schema);
      return storage;
    };
    for (const { name, run } of storageContract(create, { rateLimits: true, time: true })) test(name, run);
  });
}
