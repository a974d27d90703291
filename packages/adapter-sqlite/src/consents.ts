import type { ConsentRecord, ConsentStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { jobRowOf, jobsOn } from './queue.ts';

type ConsentRow = Omit<ConsentRecord, 'scopes' | 'declined'> & {
  readonly scopes: string;
  readonly declined: string;
};
type Remembered = { sub: string; clientId: string; scopes: string; declined: string; now: number };

const columns =
  'sub, client_id AS clientId, scopes, declined, granted_at AS grantedAt, updated_at AS updatedAt, used_at AS usedAt';

function statementsOn(connection: Connection) {
  return {
    find: connection.prepare<[{ sub: string; clientId: string }], ConsentRow>(`
      SELECT ${columns} FROM consents WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
    `),

    list: connection.prepare<[string], ConsentRow>(`
      SELECT ${columns} FROM consents WHERE sub = ? AND revoked_at IS NULL
      ORDER BY updated_at DESC, client_id
    `),

    start: connection.prepare<[Remembered]>(`
      INSERT INTO consents (sub, client_id, scopes, declined, granted_at, updated_at)
      SELECT :sub, client_id, :scopes, :declined, :now, :now
      FROM clients WHERE client_id = :clientId AND disabled_at IS NULL AND partner_disabled = 0
    `),

    adopt: connection.prepare<[{ sub: string; clientId: string; scopes: string; grantedAt: number }]>(`
      INSERT INTO consents (sub, client_id, scopes, granted_at, updated_at)
      SELECT :sub, client_id, :scopes, :grantedAt, :grantedAt
      FROM clients WHERE client_id = :clientId AND disabled_at IS NULL AND partner_disabled = 0
        AND NOT EXISTS (
          SELECT 1 FROM consents WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NOT NULL
        )
      ON CONFLICT DO NOTHING
    `),

    // Consents of a disabled client are revoked, but those of a disabled partner's client are not.
    extend: connection.prepare<[Remembered]>(`
      UPDATE consents SET scopes = :scopes, declined = :declined, updated_at = :now
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
        AND EXISTS (SELECT 1 FROM clients WHERE client_id = :clientId AND partner_disabled = 0)
    `),

    revoke: connection.prepare<[{ sub: string; clientId: string; now: number }]>(`
      UPDATE consents SET revoked_at = :now
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
    `),

    restore: connection.prepare<[{ sub: string; clientId: string; revokedSince: number }]>(`
      UPDATE consents SET revoked_at = NULL
      WHERE id = (
        SELECT id FROM consents
        WHERE sub = :sub AND client_id = :clientId AND revoked_at >= :revokedSince
        ORDER BY revoked_at DESC, id DESC LIMIT 1
      )
        AND NOT EXISTS (
          SELECT 1 FROM consents WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
        )
        AND EXISTS (
          SELECT 1 FROM clients WHERE client_id = :clientId AND disabled_at IS NULL AND partner_disabled = 0
        )
    `),

    revokeDeclined: connection.prepare<[{ sub: string; clientId: string; declined: string; now: number }]>(`
      UPDATE grants SET revoked_at = :now
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL AND EXISTS (
        SELECT value FROM json_each(grants.scopes) INTERSECT SELECT value FROM json_each(:declined)
      )
    `),

    revokeGrants: connection.prepare<[{ sub: string; clientId: string; now: number }]>(`
      UPDATE grants SET revoked_at = :now
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
    `),

    // Runs on every lookup of a user, hence without json_each or a list of clients, which cost several times
    // as much. Quotes inside an element are escaped, so that a quoted name matches whole elements only. The
    // plus signs keep SQLite from planning again for every value, which it does with a partial index.
    partnerHolds: connection.prepare<[sub: string, quotedScope: string, partner: string], { 1: 1 }>(`
      SELECT 1 FROM consents
      WHERE sub = +? AND revoked_at IS NULL AND instr(scopes, +?) > 0
        AND EXISTS (
          SELECT 1 FROM clients
          WHERE clients.client_id = consents.client_id AND partner = +? AND disabled_at IS NULL
            AND partner_disabled = 0
        )
      LIMIT 1
    `),

    endUser: connection.prepare<[{ sub: string; now: number }]>(`
      UPDATE consents SET revoked_at = :now WHERE sub = :sub AND revoked_at IS NULL
    `),

    endUserGrants: connection.prepare<[{ sub: string; now: number }]>(`
      UPDATE grants SET revoked_at = :now WHERE sub = :sub AND revoked_at IS NULL
    `),
  };
}

export function sqliteConsents(database: Database): ConsentStore {
  const audits = sqliteAudits(database);
  const storeJob = database.prepare(jobsOn);
  const sql = database.prepare(statementsOn);

  return {
    find: (sub, clientId) => database.find(() => sql().find.get({ sub, clientId }), consentOf),

    list: (sub) => database.read(() => sql().list.all(sub).map(consentOf)),

    async remember({ sub, clientId, scopes, declined = [], jobs = [], now }) {
      const [added, leftOut] = [[...scopes], [...new Set(declined)]];
      const jobRows = jobs.map(jobRowOf);
      return database.write(() => {
        const row = sql().find.get({ sub, clientId });
        const known = row === undefined ? { scopes: [], declined: [] } : consentOf(row);
        const names = {
          scopes: JSON.stringify(without([...known.scopes, ...added], leftOut)),
          declined: JSON.stringify([...without(known.declined, [...added, ...leftOut]), ...leftOut]),
        };
        const isStored =
          (row === undefined ? sql().start : sql().extend).run({ sub, clientId, ...names, now }).changes ===
          1;
        if (isStored && row === undefined) for (const job of jobRows) storeJob()(job);
        if (isStored && leftOut.length > 0)
          sql().revokeDeclined.run({ sub, clientId, declined: JSON.stringify(leftOut), now });
        return isStored;
      });
    },

    adopt: (consents, audit) =>
      audits.change(audit, () => {
        let stored = 0;
        for (const { sub, clientId, scopes, grantedAt } of consents)
          stored += sql().adopt.run({ sub, clientId, scopes: JSON.stringify(scopes), grantedAt }).changes;
        return stored;
      }),

    revoke: (sub, clientId, now) =>
      database.write(() => {
        sql().revokeGrants.run({ sub, clientId, now });
        return sql().revoke.run({ sub, clientId, now }).changes === 1;
      }),

    restore: (consent) => database.write(() => sql().restore.run(consent).changes === 1),

    partnerHolds: ({ partner, sub, scope }) =>
      database.read(() => sql().partnerHolds.get(sub, JSON.stringify(scope), partner) !== undefined),

    async endUser(sub, now, jobs, audit) {
      const rows = jobs.map(jobRowOf);
      await audits.change(audit, () => {
        sql().endUserGrants.run({ sub, now });
        sql().endUser.run({ sub, now });
        for (const row of rows) storeJob()(row);
      });
    },
  };
}

/** Returns a list of scope names without duplicates and without the names in `removed`. */
const without = (names: readonly string[], removed: readonly string[]): string[] => [
  ...new Set(names.filter((name) => !removed.includes(name))),
];

function consentOf(row: ConsentRow): ConsentRecord {
  return { ...row, scopes: JSON.parse(row.scopes), declined: JSON.parse(row.declined) };
}
