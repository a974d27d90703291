import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A schema for one run of the tests, in the database of `DATABASE_URL`. */
export function openDatabase() {
  const { DATABASE_URL = '' } = process.env;
  if (DATABASE_URL === '') throw new Error('the tests need a PostgreSQL: set DATABASE_URL, see .env.example');
  const schema = `test_${randomBytes(8).toString('hex')}`;
  return {
    env: { DATABASE_SCHEMA: schema },
    async remove() {
      const client = new Client({ connectionString: DATABASE_URL });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    },
  };
}
