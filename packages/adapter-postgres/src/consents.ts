import type { ConsentRecord, ConsentStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { revokeGrantsWhere } from './grants.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { lookup, prepared, statement } from './statement.ts';

type OfClient = { readonly sub: string; readonly clientId: string };

const columns =
  'sub, client_id AS "clientId", scopes, granted_at AS "grantedAt", updated_at AS "updatedAt", used_at AS "usedAt"';

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
    remember: prepared<OfClient & { scopes: readonly string[]; now: number }>(`
      INSERT INTO ${schema}.consents (sub, client_id, scopes, granted_at, updated_at)
      SELECT :sub, client_id, :scopes, :now, :now FROM ${schema}.clients
      WHERE client_id = :clientId AND disabled_at IS NULL AND NOT partner_disabled
      FOR SHARE
      ON CONFLICT (sub, client_id) WHERE revoked_at IS NULL DO UPDATE SET
        scopes = consents.scopes || ARRAY (
          SELECT scope FROM unnest(excluded.scopes) WITH ORDINALITY AS added (scope, number)
          WHERE scope <> ALL (consents.scopes) ORDER BY number
        ),
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

    remember: ({ sub, clientId, scopes, now }) =>
      database.changes(sql.remember, { sub, clientId, scopes: [...new Set(scopes)], now }),

    adopt: (consents, audit) =>
      audits.write(audit, (connection) => sql.adopt.run(connection, { consents: JSON.stringify(consents) })),

    revoke: (sub, clientId, now) =>
      database.write(async (connection) => {
        const revoked = await sql.revoke.run(connection, { sub, clientId, now });
        await sql.revokeGrants.run(connection, { sub, clientId, now });
        return revoked === 1;
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
