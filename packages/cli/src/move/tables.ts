import type { SqliteDatabase } from './sqlite.ts';
import type { ColumnKind } from './values.ts';

/** A table to move, under its PostgreSQL name. */
export interface TableMove {
  readonly name: string;
  /** Columns that are read back and compared: every column of the PostgreSQL table that is not generated. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /**
   * Columns by which rows are ordered when they are read, copied and digested. On both sides, numbers are
   * ordered by value, and texts and bytes byte by byte.
   */
  readonly key: readonly string[];
  /**
   * SQLite expression after `FROM` that returns the columns of the PostgreSQL table.
   * @defaultValue the table of the same name
   */
  readonly source?: string;
  /** Column whose numbers PostgreSQL generates. After the move it continues after the largest number. */
  readonly identity?: string;
}

/** Tables of Ostiary, each after the tables to which it refers. SQLite reports their columns. */
const tables: readonly Omit<TableMove, 'columns'>[] = [
  { name: 'clients', key: ['client_id'] },
  { name: 'client_documents', key: ['client_id'] },
  { name: 'client_logos', key: ['client_id'] },
  { name: 'client_origins', key: ['origin', 'client_id'] },
  { name: 'consents', key: ['id'], identity: 'id' },
  { name: 'grants', key: ['id'], identity: 'id' },
  { name: 'access_tokens', key: ['digest'] },
  { name: 'refresh_tokens', key: ['digest'] },
  { name: 'interactions', key: ['digest'] },
  { name: 'interaction_answers', key: ['digest'] },
  { name: 'pushed_requests', key: ['digest'] },
  { name: 'sandbox_records', key: ['digest'] },
  { name: 'used_ids', key: ['namespace', 'digest'] },
  { name: 'signing_keys', key: ['kid'] },
  { name: 'jobs', key: ['id'] },
  { name: 'partners', key: ['slug'] },
  { name: 'api_keys', key: ['id'] },
  { name: 'portal_sessions', key: ['id'] },
  { name: 'transfers', key: ['id'] },
  { name: 'logged_requests', key: ['id'] },
  { name: 'inbox_requests', key: ['id'] },
  { name: 'hourly_counts', key: ['hour', 'name', 'mode'] },
  { name: 'idempotency_records', key: ['partner', 'mode', 'key'] },
  { name: 'webhook_endpoints', key: ['id'] },
  { name: 'endpoint_failures', key: ['endpoint_id'] },
  // Mark all pending deliveries as claimed. PostgreSQL then finds them by the time at which they are ready.
  {
    name: 'endpoint_queues',
    key: ['endpoint_id'],
    source: `(
      SELECT
        id AS endpoint_id, partner, mode, served_at, 0 AS revision,
        (SELECT coalesce(max(number), 0) FROM deliveries) AS claimed_to,
        (SELECT min(ready_at) FROM deliveries WHERE status = 'pending' AND endpoint_id = endpoint.id) AS next_due
      FROM webhook_endpoints AS endpoint JOIN endpoint_queues ON endpoint_queues.endpoint_id = endpoint.id
    )`,
  },
  {
    name: 'event_sequences',
    key: ['partner', 'mode'],
    source: '(SELECT *, 1 AS news, 0 AS seen FROM event_sequences)',
  },
  { name: 'events', key: ['number'], identity: 'number' },
  {
    name: 'deliveries',
    key: ['number'],
    identity: 'number',
    source: `(
      SELECT
        number, id, event_number, endpoint_id, partner, mode, status, created_at, ended_at, final_at, final_duration_ms,
        final_http_status, final_error, final_response, CASE WHEN final_at IS NOT NULL THEN attempts END AS final_attempt,
        coalesce(failed_as = 'failing', 0) AS has_failed
      FROM deliveries
    )`,
  },
  // SQLite has these as columns of `deliveries`: due time and claim of pending deliveries.
  {
    name: 'pending_deliveries',
    key: ['number'],
    source: `(
      SELECT id, number, endpoint_id, event_number, due_at, ready_at, claim_id, attempts, cut_off
      FROM deliveries
      WHERE status = 'pending'
    )`,
  },
  { name: 'delivery_attempts', key: ['delivery_number', 'number'] },
  { name: 'audit', key: ['id'] },
  { name: 'audit_head', key: ['id'] },
];

/**
 * Columns that are `boolean` or `text[]` in PostgreSQL. In SQLite they hold 0 or 1, or the text of a JSON
 * array.
 */
const kinds: Readonly<Record<string, ColumnKind>> = {
  'clients.partner_disabled': 'boolean',
  'consents.scopes': 'list',
  'consents.declined': 'list',
  'grants.scopes': 'list',
  'grants.resources': 'list',
  'access_tokens.scopes': 'list',
  'access_tokens.resources': 'list',
  'api_keys.scopes': 'list',
  'api_keys.allowlist': 'list',
  'api_keys.require_signature': 'boolean',
  'deliveries.has_failed': 'boolean',
  'webhook_endpoints.events': 'list',
  'webhook_endpoints.enabled': 'boolean',
  'inbox_requests.taken': 'boolean',
};

const kindOf = (type: string | null): ColumnKind =>
  // Computed columns have no declared type. They are numbers.
  type === 'TEXT' ? 'text' : type === 'BLOB' ? 'bytes' : 'integer';

/** Lists Ostiary's tables in a SQLite file. */
export function ostiaryTables(from: SqliteDatabase): readonly TableMove[] {
  return tables.map((table) => {
    const { name, source = name } = table;
    const columns = from.prepare(`SELECT * FROM ${source}`).columns();
    return {
      ...table,
      columns: Object.fromEntries(
        columns.map((column) => [column.name, kinds[`${name}.${column.name}`] ?? kindOf(column.type)]),
      ),
    };
  });
}
