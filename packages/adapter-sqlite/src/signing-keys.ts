import type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Database } from './database.ts';
import { jobRowOf, jobsOn } from './queue.ts';

export function sqliteSigningKeys(database: Database): SigningKeyStore {
  const audits = sqliteAudits(database);
  const storeJob = database.prepare(jobsOn);
  const sql = database.prepare((connection) => ({
    list: connection.prepare<[], SigningKeyRecord>(`
      SELECT
        kid, alg, public_jwk AS publicJwk, nullif(sealed_private_jwk, '') AS sealedPrivateJwk,
        created_at AS createdAt, active_from AS activeFrom
      FROM signing_keys ORDER BY active_from, kid
    `),

    insert: connection.prepare<[NewSigningKey]>(`
      INSERT INTO signing_keys (kid, alg, public_jwk, sealed_private_jwk, created_at, active_from)
      VALUES (:kid, :alg, :publicJwk, :sealedPrivateJwk, :createdAt, :activeFrom)
    `),

    insertFirst: connection.prepare<[NewSigningKey]>(`
      INSERT INTO signing_keys (kid, alg, public_jwk, sealed_private_jwk, created_at, active_from)
      SELECT :kid, :alg, :publicJwk, :sealedPrivateJwk, :createdAt, :activeFrom
      WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE alg = :alg)
    `),

    reseal: connection.prepare<[{ kid: string; sealedPrivateJwk: string }]>(`
      UPDATE signing_keys SET sealed_private_jwk = :sealedPrivateJwk
      WHERE kid = :kid AND sealed_private_jwk <> ''
    `),

    // An empty text marks a deleted private key, because the column is NOT NULL since the first schema.
    retire: connection.prepare<[string]>(`
      UPDATE signing_keys SET sealed_private_jwk = '' WHERE kid = ?
    `),

    remove: connection.prepare<[string]>(`
      DELETE FROM signing_keys WHERE kid = ?
    `),
  }));

  return {
    list: () => database.read(() => sql().list.all()),

    async insertFirst(key) {
      const row = { ...key };
      return database.write(() => sql().insertFirst.run(row).changes === 1);
    },

    async insert(key, audit, jobs = []) {
      const row = { ...key };
      const jobRows = jobs.map(jobRowOf);
      await audits.change(audit, () => {
        sql().insert.run(row);
        for (const job of jobRows) storeJob()(job);
      });
    },

    async reseal(kid, sealedPrivateJwk) {
      await database.write(() => sql().reseal.run({ kid, sealedPrivateJwk }));
    },

    async retire(kid) {
      await database.write(() => sql().retire.run(kid));
    },

    async remove(kid) {
      await database.write(() => sql().remove.run(kid));
    },
  };
}
