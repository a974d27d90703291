import type { ClientRecord, ClientStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { sortedListsOn } from './sorted-lists.ts';

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

const partnerDisabled =
  'EXISTS (SELECT 1 FROM partners WHERE slug = :partner AND partners.disabled_at IS NOT NULL)';

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[ClientRow]>(`
      INSERT INTO clients (
        client_id, version, disabled_at, partner, partner_disabled, search_name, created_at, record
      )
      VALUES (
        :clientId, :version, :disabledAt, :partner, ${partnerDisabled}, :searchName, :createdAt, :record
      )
      ON CONFLICT (client_id) DO NOTHING
    `),

    find: connection.prepare<[string], Pick<ClientRow, 'record'> & { readonly partnerDisabled: 0 | 1 }>(`
      SELECT record, partner_disabled AS partnerDisabled FROM clients WHERE client_id = ?
    `),

    list: connection.prepare<[{ after: string | null; limit: number }], Pick<ClientRow, 'record'>>(`
      SELECT record FROM clients
      WHERE (:after IS NULL OR client_id > :after)
        AND NOT EXISTS (SELECT 1 FROM client_documents WHERE client_documents.client_id = clients.client_id)
      ORDER BY client_id LIMIT :limit
    `),

    sorted: sortedListsOn<Pick<ClientRow, 'record'>>(connection, {
      ...{ columns: 'record', table: 'clients', id: 'client_id', where: 'search_name IS NOT NULL' },
    }),

    replace: connection.prepare<[ClientRow], { readonly partnerDisabled: 0 | 1 }>(`
      UPDATE clients SET
        version = :version, disabled_at = :disabledAt, partner = :partner,
        partner_disabled = ${partnerDisabled}, search_name = :searchName, created_at = :createdAt, record = :record
      WHERE client_id = :clientId AND version = :version - 1
      RETURNING partner_disabled AS partnerDisabled
    `),

    removeOrigins: connection.prepare<[string]>(`
      DELETE FROM client_origins WHERE client_id = ?
    `),

    insertOrigin: connection.prepare<[{ origin: string; clientId: string }]>(`
      INSERT INTO client_origins (origin, client_id) VALUES (:origin, :clientId)
    `),

    // The plus sign is explained at `findToken` in grants.ts.
    findOrigin: connection.prepare<[string], { 1: 1 }>(`
      SELECT 1 FROM client_origins JOIN clients USING (client_id)
      WHERE origin = +? AND disabled_at IS NULL AND partner_disabled = 0
      LIMIT 1
    `),

    findLogo: connection.prepare<[string], { readonly png: Uint8Array }>(`
      SELECT png FROM client_logos WHERE client_id = ?
    `),

    storeLogo: connection.prepare<[{ clientId: string; png: Uint8Array }]>(`
      INSERT INTO client_logos (client_id, png) VALUES (:clientId, :png)
      ON CONFLICT (client_id) DO UPDATE SET png = excluded.png
    `),

    removeLogo: connection.prepare<[string]>('DELETE FROM client_logos WHERE client_id = ?'),

    revokeConsents: connection.prepare<[{ clientId: string; now: number }]>(`
      UPDATE consents SET revoked_at = :now WHERE client_id = :clientId AND revoked_at IS NULL
    `),

    revokeGrants: connection.prepare<[{ clientId: string; now: number }]>(`
      UPDATE grants SET revoked_at = :now WHERE client_id = :clientId AND revoked_at IS NULL
    `),
  };
}

/** Rows that are inserted for a new client. */
interface ClientRows {
  readonly row: ClientRow;
  readonly origins: ReadonlySet<string>;
}

/** Converts a client to the rows in which it is stored. */
export const clientRowsOf = (client: ClientRecord): ClientRows => ({
  row: rowOf(client),
  origins: originsOf(client),
});

/** Returns the function that stores new clients inside a transaction. It returns `false` if the id is taken. */
export function sqliteClientInsertion(database: Database): (rows: ClientRows) => boolean {
  const sql = database.prepare(statementsOn);
  return ({ row, origins }) => {
    if (sql().insert.run(row).changes === 0) return false;
    for (const origin of origins) sql().insertOrigin.run({ origin, clientId: row.clientId });
    return true;
  };
}

export function sqliteClients(database: Database): ClientStore {
  const audits = sqliteAudits(database);
  const insert = sqliteClientInsertion(database);
  const sql = database.prepare(statementsOn);

  return {
    async insert(client, audit) {
      const rows = clientRowsOf(client);
      return audits.change(audit, () => insert(rows));
    },

    find: (clientId) =>
      database.find(
        () => sql().find.get(clientId),
        (row) => ({ ...clientOf(row), partnerDisabled: row.partnerDisabled === 1 }),
      ),

    list: ({ after, limit }) => database.read(() => sql().list.all({ after, limit }).map(clientOf)),

    sorted: (page) => database.read(() => sql().sorted.page(page, {}).map(clientOf)),

    named: ({ words, searched, limit }) =>
      database.read(() => sql().sorted.named({ words, searched, limit }, {}).map(clientOf)),

    count: (limit) => database.read(() => sql().sorted.count(limit, {})),

    async replace(client, audit, logo) {
      const row = rowOf(client);
      const png = logo ? Buffer.from(logo) : logo;
      const { updatedAt } = client;
      const origins = originsOf(client);
      return audits.change(audit, () => {
        const { clientId, disabledAt } = row;
        const replaced = sql().replace.get(row);
        if (replaced === undefined) return false;
        sql().removeOrigins.run(clientId);
        for (const origin of origins) sql().insertOrigin.run({ origin, clientId });
        if (png === null) sql().removeLogo.run(clientId);
        else if (png !== undefined) sql().storeLogo.run({ clientId, png });
        if (disabledAt !== null) sql().revokeConsents.run({ clientId, now: disabledAt });
        if (disabledAt !== null || replaced.partnerDisabled === 1)
          sql().revokeGrants.run({ clientId, now: disabledAt ?? updatedAt });
        return true;
      });
    },

    findLogo: (clientId) =>
      database.find(
        () => sql().findLogo.get(clientId),
        ({ png }) => png,
      ),

    originRegistered: (origin) => database.read(() => sql().findOrigin.get(origin) !== undefined),
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
function originsOf({ redirectUris, loopbackPorts }: ClientRecord): ReadonlySet<string> {
  const urls = redirectUris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri));
  const origins = urls.map(originOf).filter((origin) => origin !== null);
  const loopback = loopbackPorts === 'any' ? urls.filter(({ protocol }) => protocol === 'http:') : [];
  const anyPort = loopback.map(({ hostname }) => `http://${hostname}:*`);
  return new Set([...origins, ...anyPort]);
}
