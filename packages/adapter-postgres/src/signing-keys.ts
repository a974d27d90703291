import type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { statement } from './statement.ts';

function statementsIn(schema: string) {
  return {
    list: statement<object, SigningKeyRecord>(`
      SELECT
        kid, alg, public_jwk AS "publicJwk", nullif(sealed_private_jwk, '') AS "sealedPrivateJwk",
        created_at AS "createdAt", active_from AS "activeFrom"
      FROM ${schema}.signing_keys ORDER BY active_from, kid
    `),

    insert: statement<NewSigningKey>(`
      INSERT INTO ${schema}.signing_keys (kid, alg, public_jwk, sealed_private_jwk, created_at, active_from)
      VALUES (:kid, :alg, :publicJwk, :sealedPrivateJwk, :createdAt, :activeFrom)
    `),

    // Missing rows cannot be locked, so lock the table. Reads go on, and keys are rarely written.
    lock: statement<object>(`LOCK TABLE ${schema}.signing_keys IN SHARE ROW EXCLUSIVE MODE`),

    findAlgorithm: statement<{ alg: string }, { kid: string }>(`
      SELECT kid FROM ${schema}.signing_keys WHERE alg = :alg LIMIT 1
    `),

    reseal: statement<{ kid: string; sealedPrivateJwk: string }>(`
      UPDATE ${schema}.signing_keys SET sealed_private_jwk = :sealedPrivateJwk
      WHERE kid = :kid AND sealed_private_jwk <> ''
    `),

    // An empty text marks a deleted private key, because the column is NOT NULL since the first schema.
    retire: statement<{ kid: string }>(`
      UPDATE ${schema}.signing_keys SET sealed_private_jwk = '' WHERE kid = :kid
    `),

    remove: statement<{ kid: string }>(`
      DELETE FROM ${schema}.signing_keys WHERE kid = :kid
    `),
  };
}

export function postgresSigningKeys(database: Database): SigningKeyStore {
  const audits = postgresAudits(database);
  const storeJobs = postgresJobs(database);
  const sql = statementsIn(database.schema);

  return {
    list: () => database.all(sql.list, {}),

    async insertFirst(key) {
      const row = { ...key };
      return database.write(async (connection) => {
        await sql.lock.run(connection, {});
        if ((await sql.findAlgorithm.get(connection, { alg: row.alg })) !== undefined) return false;
        await sql.insert.run(connection, row);
        return true;
      });
    },

    async insert(key, audit, jobs = []) {
      const row = { ...key };
      const jobRows = jobs.map(jobRowOf);
      await audits.write(audit, async (connection) => {
        await sql.insert.run(connection, row);
        await storeJobs(connection, jobRows);
      });
    },

    async reseal(kid, sealedPrivateJwk) {
      await database.changes(sql.reseal, { kid, sealedPrivateJwk });
    },

    async retire(kid) {
      await database.changes(sql.retire, { kid });
    },

    async remove(kid) {
      await database.changes(sql.remove, { kid });
    },
  };
}
