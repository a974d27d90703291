import type { ClientRecord, ClientStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { revokeGrantsWhere } from './grants.ts';
import { postgresSortedLists } from './sorted-lists.ts';
import { type Connection, lookup, statement } from './statement.ts';
import { callTimeoutMs, longTimeoutMs } from './timeouts.ts';

interface ClientRow {
  readonly clientId: string;
  readonly version: number;
  readonly disabledAt: number | null;
  readonly partner: string | null;
  /**
   * Name by which lists are sorted; `null` for a client with a metadata document, which these lists leave
   * out.
   */
  readonly searchName: string | null;
  readonly createdAt: number;
  readonly record: string;
}
type PartnerState = { readonly partnerDisabled: boolean };
type RevokedAt = { readonly clientId: string; readonly now: number };

function statementsIn(schema: string) {
  const partnerDisabled = `
    EXISTS (SELECT FROM ${schema}.partners WHERE slug = :partner AND partners.disabled_at IS NOT NULL)
  `;
  return {
    insert: statement<ClientRow>(`
      INSERT INTO ${schema}.clients (
        client_id, version, disabled_at, partner, partner_disabled, search_name, created_at, record
      )
      VALUES (
        :clientId, :version, :disabledAt, :partner, ${partnerDisabled}, :searchName, :createdAt, :record
      )
      ON CONFLICT (client_id) DO NOTHING
    `),

    // Lock the partner before a client is stored. A call that disables the partner then either comes first or
    // finds this client.
    holdPartner: statement<{ partner: string | null }>(`
      SELECT 1 FROM ${schema}.partners WHERE slug = :partner FOR SHARE
    `),

    find: lookup<{ clientId: string }, Pick<ClientRow, 'record'> & PartnerState>(
      { clientId: 'text' },
      `
      SELECT record, partner_disabled AS "partnerDisabled" FROM ${schema}.clients WHERE client_id = :clientId
    `,
    ),

    list: statement<{ after: string | null; limit: number }, Pick<ClientRow, 'record'>>(`
      SELECT record FROM ${schema}.clients
      WHERE (:after::text IS NULL OR client_id > :after)
        AND NOT EXISTS (SELECT FROM ${schema}.client_documents AS document WHERE document.client_id = clients.client_id)
      ORDER BY client_id LIMIT :limit
    `),

    replace: statement<ClientRow, PartnerState>(`
      UPDATE ${schema}.clients SET
        version = :version, disabled_at = :disabledAt, partner = :partner,
        partner_disabled = ${partnerDisabled}, search_name = :searchName, created_at = :createdAt, record = :record
      WHERE client_id = :clientId AND version = :version - 1
      RETURNING partner_disabled AS "partnerDisabled"
    `),

    removeOrigins: statement<{ clientId: string }>(`
      DELETE FROM ${schema}.client_origins WHERE client_id = :clientId
    `),

    insertOrigins: statement<{ origins: readonly string[]; clientId: string }>(`
      INSERT INTO ${schema}.client_origins (origin, client_id)
      SELECT origin, :clientId FROM unnest(:origins::text[]) AS origin
    `),

    findOrigin: lookup<{ origin: string }, unknown>(
      { origin: 'text' },
      `
      SELECT 1 FROM ${schema}.client_origins JOIN ${schema}.clients USING (client_id)
      WHERE origin = :origin AND disabled_at IS NULL AND NOT partner_disabled
      LIMIT 1
    `,
    ),

    findLogo: statement<{ clientId: string }, { readonly png: Uint8Array }>(`
      SELECT png FROM ${schema}.client_logos WHERE client_id = :clientId
    `),

    storeLogo: statement<{ clientId: string; png: Uint8Array }>(`
      INSERT INTO ${schema}.client_logos (client_id, png) VALUES (:clientId, :png)
      ON CONFLICT (client_id) DO UPDATE SET png = excluded.png
    `),

    removeLogo: statement<{ clientId: string }>(`
      DELETE FROM ${schema}.client_logos WHERE client_id = :clientId
    `),

    revokeConsents: statement<RevokedAt>(`
      UPDATE ${schema}.consents SET revoked_at = :now WHERE client_id = :clientId AND revoked_at IS NULL
    `),

    revokeGrants: statement<RevokedAt>(revokeGrantsWhere(schema, 'client_id = :clientId')),
  };
}

/** Rows that are inserted for a new client. */
interface ClientRows {
  readonly row: ClientRow;
  readonly origins: readonly string[];
}

/** Converts a client to the rows in which it is stored. */
export const clientRowsOf = (client: ClientRecord): ClientRows => ({
  row: rowOf(client),
  origins: originsOf(client),
});

/** Returns the function that stores new clients inside a transaction. It returns `false` if the id is taken. */
export function postgresClientInsertion(
  schema: string,
): (connection: Connection, rows: ClientRows) => Promise<boolean> {
  const sql = statementsIn(schema);
  return async (connection, { row, origins }) => {
    await sql.holdPartner.run(connection, row);
    if ((await sql.insert.run(connection, row)) === 0) return false;
    await sql.insertOrigins.run(connection, { clientId: row.clientId, origins });
    return true;
  };
}

export function postgresClients(database: Database): ClientStore {
  const audits = postgresAudits(database);
  const insert = postgresClientInsertion(database.schema);
  const sql = statementsIn(database.schema);
  const sorted = postgresSortedLists<Pick<ClientRow, 'record'>>(database, {
    ...{ columns: 'record', table: 'clients', id: 'client_id', where: 'search_name IS NOT NULL' },
  });

  return {
    async insert(client, audit) {
      const rows = clientRowsOf(client);
      return audits.write(audit, (connection) => insert(connection, rows));
    },

    async find(clientId) {
      const row = await database.get(sql.find, { clientId });
      return row && { ...clientOf(row), partnerDisabled: row.partnerDisabled };
    },

    list: async ({ after, limit }) => (await database.all(sql.list, { after, limit })).map(clientOf),

    sorted: async (page) => (await sorted.page(page, {})).map(clientOf),

    named: async ({ words, searched, limit }) =>
      (await sorted.named({ words, searched, limit }, {})).map(clientOf),

    count: (limit) => sorted.count(limit, {}),

    async replace(client, audit, logo) {
      const row = rowOf(client);
      const png = logo ? Buffer.from(logo) : logo;
      const origins = originsOf(client);
      const { clientId, disabledAt } = row;
      const { updatedAt } = client;
      return audits.write(
        audit,
        async (connection) => {
          await sql.holdPartner.run(connection, row);
          const replaced = await sql.replace.get(connection, row);
          if (replaced === undefined) return false;
          await sql.removeOrigins.run(connection, { clientId });
          await sql.insertOrigins.run(connection, { clientId, origins });
          if (png === null) await sql.removeLogo.run(connection, { clientId });
          else if (png !== undefined) await sql.storeLogo.run(connection, { clientId, png });
          // A call that issues a grant locks the client until its commit, so its grant is visible now.
          if (disabledAt !== null) await sql.revokeConsents.run(connection, { clientId, now: disabledAt });
          if (disabledAt !== null || replaced.partnerDisabled)
            await sql.revokeGrants.run(connection, { clientId, now: disabledAt ?? updatedAt });
          return true;
        },
        disabledAt === null ? callTimeoutMs : longTimeoutMs,
      );
    },

    findLogo: async (clientId) => (await database.get(sql.findLogo, { clientId }))?.png ?? null,

    originRegistered: async (origin) => (await database.get(sql.findOrigin, { origin })) !== null,
  };
}

/** Converts a client to its stored form: JSON, with digests as base64url. */
function rowOf(client: ClientRecord): ClientRow {
  const secrets = client.secrets.map((secret) => ({
    ...secret,
    digest: Buffer.from(secret.digest).toString('base64url'),
  }));
  const { clientId, version, disabledAt, partner, createdAt } = client;
  const searchName = client.document === undefined ? (client.searchName ?? '') : null;
  const record = JSON.stringify({ ...client, secrets });
  return { clientId, version, disabledAt, partner, searchName, createdAt, record };
}

export function clientOf({ record }: Pick<ClientRow, 'record'>): ClientRecord {
  const client = JSON.parse(record);
  for (const secret of client.secrets) secret.digest = Buffer.from(secret.digest, 'base64url');
  return client;
}

/**
 * Returns the origin of a redirect URI as browsers send it in the header `Origin` (RFC 6454); `null` if it
 * has none. Web views send the origin of a private-use scheme with a host, such as `capacitor://localhost`,
 * which `URL` does not support.
 */
function originOf({ origin, protocol, host }: URL): string | null {
  if (origin !== 'null') return origin;
  return host === '' ? null : `${protocol}//${host}`;
}

/**
 * Returns the distinct origins of a client's redirect URIs, with `*` for the port of a loopback URI that may
 * have any port.
 */
function originsOf({ redirectUris, loopbackPorts }: ClientRecord): readonly string[] {
  const urls = redirectUris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri));
  const origins = urls.map(originOf).filter((origin) => origin !== null);
  const loopback = loopbackPorts === 'any' ? urls.filter(({ protocol }) => protocol === 'http:') : [];
  const anyPort = loopback.map(({ hostname }) => `http://${hostname}:*`);
  return [...new Set([...origins, ...anyPort])];
}
