import type { ConsentRecord, ConsentStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { revokeGrantsWhere } from './grants.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { lookup, prepared, statement } from './statement.ts';

type OfClient = { readonly sub: string; readonly clientId: string };

const columns =
  'sub, client_id AS "clientId", scopes, declined, granted_at AS "grantedAt", updated_at AS "updatedAt", used_at AS "usedAt"';

function statementsIn(schema: string) {
  return {
    find: lookup<OfClient, ConsentRecord>(
      { sub: 'text', clientId: 'text' },
      `
      SELECT ${columns} FROM ${schema}.consents
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
    `,
    ),

    list: statement<{ sub: string }, ConsentRecord>(`
      SELECT ${columns} FROM ${schema}.consents WHERE sub = :sub AND revoked_at IS NULL
      ORDER BY updated_at DESC, client_id
    `),

    // Locks the client until the commit. A call that disables it either comes first or finds this consent.
    // The unique index of unrevoked consents decides between parallel calls.
    remember: prepared<OfClient & { scopes: readonly string[]; declined: readonly string[]; now: number }>(`
      INSERT INTO ${schema}.consents (sub, client_id, scopes, declined, granted_at, updated_at)
      SELECT :sub, client_id, :scopes, :declined, :now, :now FROM ${schema}.clients
      WHERE client_id = :clientId AND disabled_at IS NULL AND NOT partner_disabled
      FOR SHARE
      ON CONFLICT (sub, client_id) WHERE revoked_at IS NULL DO UPDATE SET
        scopes = ARRAY (
          SELECT scope FROM unnest(consents.scopes || ARRAY (
            SELECT added FROM unnest(excluded.scopes) WITH ORDINALITY AS given (added, number)
            WHERE added <> ALL (consents.scopes) ORDER BY number
          )) WITH ORDINALITY AS known (scope, number)
          WHERE scope <> ALL (excluded.declined) ORDER BY number
        ),
        declined = ARRAY (
          SELECT scope FROM unnest(consents.declined) WITH ORDINALITY AS known (scope, number)
          WHERE scope <> ALL (excluded.scopes || excluded.declined) ORDER BY number
        ) || excluded.declined,
        updated_at = excluded.updated_at
    `),

    adopt: statement<{ consents: string }>(`
      INSERT INTO ${schema}.consents (sub, client_id, scopes, granted_at, updated_at)
      SELECT given.sub, client.client_id, given.scopes, given."grantedAt", given."grantedAt"
      FROM ROWS FROM (
        jsonb_to_recordset(:consents::jsonb) AS (sub text, "clientId" text, scopes text[], "grantedAt" bigint)
      ) WITH ORDINALITY AS given (sub, "clientId", scopes, "grantedAt", number)
      CROSS JOIN LATERAL (
        SELECT client_id FROM ${schema}.clients
        WHERE client_id = given."clientId" AND disabled_at IS NULL AND NOT partner_disabled
        LIMIT 1
        FOR SHARE
      ) AS client
      WHERE NOT EXISTS (
        SELECT FROM ${schema}.consents AS known
        WHERE known.sub = given.sub AND known.client_id = given."clientId" AND revoked_at IS NOT NULL
      )
      ORDER BY number
      ON CONFLICT (sub, client_id) WHERE revoked_at IS NULL DO NOTHING
    `),

    // Lock the consent before the grants. A call that issues a grant locks the consent until its commit, so
    // its grant is visible then.
    revoke: statement<OfClient & { now: number }>(`
      UPDATE ${schema}.consents SET revoked_at = :now
      WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
    `),

    // Keeps calls of `remember` out until the commit, so that they and `restore` see each other's consent.
    lockClient: statement<{ clientId: string }>(`
      SELECT client_id FROM ${schema}.clients
      WHERE client_id = :clientId AND disabled_at IS NULL AND NOT partner_disabled
      FOR NO KEY UPDATE
    `),

    restore: statement<OfClient & { revokedSince: number }>(`
      UPDATE ${schema}.consents SET revoked_at = NULL
      WHERE id = (
          SELECT id FROM ${schema}.consents
          WHERE sub = :sub AND client_id = :clientId AND revoked_at >= :revokedSince
          ORDER BY revoked_at DESC, id DESC LIMIT 1
        )
        AND NOT EXISTS (
          SELECT FROM ${schema}.consents WHERE sub = :sub AND client_id = :clientId AND revoked_at IS NULL
        )
    `),

    revokeDeclined: statement<OfClient & { declined: readonly string[]; now: number }>(
      revokeGrantsWhere(schema, 'sub = :sub AND client_id = :clientId AND scopes && :declined::text[]'),
    ),

    revokeGrants: statement<OfClient & { now: number }>(
      revokeGrantsWhere(schema, 'sub = :sub AND client_id = :clientId'),
    ),

    // `OFFSET 0` makes PostgreSQL read the user's consents first: without good statistics it would begin with
    // the partner's clients, and read the consents of all their users.
    partnerHolds: lookup<{ partner: string; sub: string; scope: string }, unknown>(
      { partner: 'text', sub: 'text', scope: 'text' },
      `
      SELECT 1
      FROM (
        SELECT client_id, scopes FROM ${schema}.consents
        WHERE consents.sub = :sub AND revoked_at IS NULL OFFSET 0
      ) AS own
      JOIN ${schema}.clients USING (client_id)
      WHERE :scope = ANY (own.scopes)
        AND clients.partner = :partner AND disabled_at IS NULL AND NOT partner_disabled
      LIMIT 1
    `,
    ),

    endUser: statement<{ sub: string; now: number }>(`
      UPDATE ${schema}.consents SET revoked_at = :now WHERE sub = :sub AND revoked_at IS NULL
    `),

    endUserGrants: statement<{ sub: string; now: number }>(revokeGrantsWhere(schema, 'sub = :sub')),
  };
}

export function postgresConsents(database: Database): ConsentStore {
  const audits = postgresAudits(database);
  const storeJobs = postgresJobs(database);
  const sql = statementsIn(database.schema);

  return {
    find: (sub, clientId) => database.get(sql.find, { sub, clientId }),

    list: (sub) => database.all(sql.list, { sub }),

    remember({ sub, clientId, scopes, declined = [], jobs = [], now }) {
      const names = { scopes: [...new Set(scopes)], declined: [...new Set(declined)] };
      const consent = { sub, clientId, ...names, now };
      const jobRows = jobs.map(jobRowOf);
      if (declined.length === 0 && jobs.length === 0) return database.changes(sql.remember, consent);
      return database.write(async (connection) => {
        // After the lock, at most one of parallel calls finds no consent.
        const isFirst =
          jobs.length > 0 &&
          (await sql.lockClient.run(connection, { clientId })) === 1 &&
          (await sql.find.get(connection, { sub, clientId })) === undefined;
        const stored = await sql.remember.run(connection, consent);
        if (isFirst) await storeJobs(connection, jobRows);
        if (declined.length > 0)
          await sql.revokeDeclined.run(connection, { sub, clientId, declined: names.declined, now });
        return stored === 1;
      });
    },

    adopt: (consents, audit) =>
      audits.write(audit, (connection) => sql.adopt.run(connection, { consents: JSON.stringify(consents) })),

    revoke: (sub, clientId, now) =>
      database.write(async (connection) => {
        const revoked = await sql.revoke.run(connection, { sub, clientId, now });
        await sql.revokeGrants.run(connection, { sub, clientId, now });
        return revoked === 1;
      }),

    restore: (consent) =>
      database.write(async (connection) => {
        const enabled = await sql.lockClient.run(connection, consent);
        return enabled === 1 && (await sql.restore.run(connection, consent)) === 1;
      }),

    partnerHolds: async ({ partner, sub, scope }) =>
      (await database.get(sql.partnerHolds, { partner, sub, scope })) !== null,

    async endUser(sub, now, jobs, audit) {
      const rows = jobs.map(jobRowOf);
      await audits.write(audit, async (connection) => {
        await sql.endUser.run(connection, { sub, now });
        await sql.endUserGrants.run(connection, { sub, now });
        await storeJobs(connection, rows);
      });
    },
  };
}
