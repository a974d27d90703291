import type { Adapter } from 'oidc-provider';
import { Pool } from 'pg';

/**
 * Makes a PostgreSQL adapter for the library `oidc-provider`, as an application would write it: a table of
 * payloads, and one prepared statement for each call of a model.
 */
export async function postgresAdapter(connectionString: string): Promise<(model: string) => Adapter> {
  const pool = new Pool({ connectionString, max: 10 });
  await pool.query(`
    CREATE TABLE payloads (
      model text, id text, payload json NOT NULL, grant_id text, consumed bigint, PRIMARY KEY (model, id)
    );
    CREATE INDEX ON payloads (grant_id) WHERE grant_id IS NOT NULL
  `);
  const statement = (name: string, text: string) => (values: readonly unknown[]) =>
    pool.query({ name, text, values: [...values] });
  const upsert = statement(
    'upsert',
    `INSERT INTO payloads (model, id, payload, grant_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id`,
  );
  const find = statement('find', 'SELECT payload, consumed FROM payloads WHERE model = $1 AND id = $2');
  const consume = statement('consume', 'UPDATE payloads SET consumed = $3 WHERE model = $1 AND id = $2');
  const destroy = statement('destroy', 'DELETE FROM payloads WHERE model = $1 AND id = $2');
  const revoke = statement('revoke', 'DELETE FROM payloads WHERE grant_id = $1');

  return (model) => ({
    async upsert(id, payload) {
      await upsert([model, id, JSON.stringify(payload), payload.grantId ?? null]);
    },
    async find(id) {
      const [row] = (await find([model, id])).rows;
      return row && { ...row.payload, ...(row.consumed === null ? {} : { consumed: Number(row.consumed) }) };
    },
    async consume(id) {
      await consume([model, id, Math.floor(Date.now() / 1000)]);
    },
    async destroy(id) {
      await destroy([model, id]);
    },
    async revokeByGrantId(grantId) {
      await revoke([grantId]);
    },
    // Leave these out: the measured flow has neither sessions nor devices.
    async findByUid() {
      return undefined;
    },
    async findByUserCode() {
      return undefined;
    },
  });
}
