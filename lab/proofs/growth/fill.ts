import type { Owner } from '@ostiary/core/storage';
import type { ProofServer } from '../../support/postgres/postgres-server.ts';
import { eachOf } from '../../support/proof.ts';

/** Newest time of all generated rows, in milliseconds since the Unix epoch. */
export const now = 1_800_000_000_000;

/** Time for which Ostiary keeps rows, in milliseconds. The oldest generated row has this age. */
export const spanMs = 30 * 24 * 3600_000;

/**
 * Partner that owns a fifth of all generated rows. 500 other partners share the rest with the partner `gone`.
 */
export const big = { partner: 'p1', mode: 'live' } as const;

/** Partner that owns a fifth of the older half of all generated rows, but none of the newer half. */
export const gone = { partner: 'p0', mode: 'live' } as const;

/**
 * Returns the number of the newest rows that are in their first state: codes not exchanged, transfers and
 * deliveries pending.
 */
export const recentOf = (size: number): number => Math.min(500, size / 10);

/** Returns the owner of a generated row, like the SQL expression `owner` below. */
export function ownerOf(row: number, size: number): Owner {
  if (row % 5 === 0) return big;
  if (row % 5 === 1 && row <= size / 2) return gone;
  return { partner: `p${2 + (Math.floor(row / 5) % 125) * 4 + (row % 5) - 1}`, mode: 'live' };
}

/** Returns the user and the client of a consent, like the SQL expressions `user` and `client` below. */
export const consentOf = (row: number) => {
  const user = Math.floor(row / 4);
  return { sub: `u${user}`, clientId: `c${(user * 7 + (row % 4) * 131) % 500}` };
};

const user = `'u' || i / 4`;
const client = `'c' || (i / 4 * 7 + i % 4 * 131) % 500`;

/**
 * SQL that creates partners with their clients, API keys and endpoints. Their number is the same for every
 * table size.
 */
const parties = `
  INSERT INTO partners SELECT 'p' || i, 'P', 'p ' || i, i, 1, NULL, 1 FROM generate_series(0, 501) AS i;
  INSERT INTO clients
    SELECT 'c' || i, 1, NULL, 'p' || i + 1, '{"secrets":[]}', false, 'c ' || i, i FROM generate_series(0, 499) AS i;
  INSERT INTO api_keys
    SELECT 'key_' || i, 'p' || i, 'live', 'n', 'n', 'svc_live_' || i, sha256(('key ' || i)::bytea), '{webhooks}', NULL, false, 's', 'q', i,
      NULL, NULL, NULL
    FROM generate_series(1, 501) AS i;
  INSERT INTO webhook_endpoints
    SELECT 'we_p' || i || kind, 'p' || i, 'live', 'https://example.com/', wanted::text[], true, repeat('s', 80), 1, 1, 1
    FROM generate_series(0, 501) AS i,
      (VALUES ('_a', '{payment.completed,payment.failed}'), ('_b', '{kyc.updated}')) AS one (kind, wanted);
  INSERT INTO endpoint_queues (endpoint_id, partner, mode) SELECT id, partner, mode FROM webhook_endpoints;
`;

/**
 * Returns the SQL that fills each growing table. Row `i` of one table belongs to row `i` of the other tables.
 */
function fillings(size: number): Readonly<Record<string, string>> {
  const rows = `generate_series(1, ${size}) AS i`;
  const isGone = `i % 5 = 1 AND i <= ${size / 2}`;
  const owner = `CASE WHEN i % 5 = 0 THEN 'p1' WHEN ${isGone} THEN 'p0' ELSE 'p' || 2 + i / 5 % 125 * 4 + i % 5 - 1 END`;
  const sequence = `CASE WHEN i % 5 = 0 THEN i / 5 WHEN ${isGone} THEN i / 5 + 1 ELSE i / 625 + 1 END`;
  const isKyc = 'i > 1000 AND i / 5 % 20 = 1';
  const type = `CASE WHEN i <= 1000 THEN 'payment.failed' WHEN ${isKyc} THEN 'kyc.updated' ELSE 'payment.completed' END`;
  const endpoint = `'we_' || ${owner} || CASE WHEN ${isKyc} THEN '_b' ELSE '_a' END`;
  const at = `${now} - (${size} - i)::bigint * ${spanMs} / ${size}`;
  const id = `lpad(to_hex(${at}), 12, '0') || left(md5(i::text), 20)`;
  const recent = size - recentOf(size);
  const day = 24 * 3600_000;
  // The newest rows are hours or days old in a small size. Their codes must still be valid there.
  const codeEnd = `CASE WHEN i > ${recent} THEN ${now} ELSE ${at} END + 600000`;
  const ended = `CASE WHEN i > ${recent} THEN ${now} + 600000 ELSE ${at} + ${spanMs - day} END`;
  return {
    consents: `(sub, client_id, scopes, granted_at, updated_at, revoked_at)
      SELECT ${user}, ${client}, '{openid,profile,kyc}', ${at}, ${at}, CASE i % 25 WHEN 3 THEN ${now} END FROM ${rows}`,
    // Tokens are valid for 29 days here, so that all kinds of rows become due for removal at the same rate.
    grants: `(code_digest, client_id, sub, scopes, redirect_uri, code_challenge, nonce, authenticated_at, issued_at,
        expires_at, ends_at, consumed_at, sid)
      SELECT sha256(('code ' || i)::bytea), ${client}, ${user}, '{openid,profile}', 'https://app.example/callback',
        repeat('c', 43), md5(i::text), ${at}, ${at}, ${codeEnd}, ${ended}, CASE WHEN i <= ${recent} THEN ${at} + 1000 END,
        md5('session ' || i)
      FROM ${rows}`,
    access_tokens: `SELECT sha256(('token ' || i)::bytea), i, ${at}, ${ended} FROM ${rows} WHERE i <= ${recent}`,
    transfers: `SELECT 'tr_' || ${id}, ${owner}, 'live',
        CASE WHEN i > ${recent} THEN 'pending' WHEN i / 5 % 50 = 1 THEN 'failed' ELSE 'completed' END, 1000 + i % 5000, 'HTG',
        'KID-' || i % 100000, 'Invoice ' || i, 'order ' || i, NULL,
        CASE WHEN i <= ${recent} AND i / 5 % 50 = 1 THEN 'insufficient_funds' END, NULL,
        ${at}, ${at} + 2000, CASE WHEN i <= ${recent} AND i / 5 % 50 <> 1 THEN ${at} + 2000 END
      FROM ${rows}`,
    idempotency_records: `SELECT ${owner}, 'live', 'key ' || i, sha256('f'), 201, repeat('b', 300),
        ${now} + i::bigint * ${spanMs} / ${size / 10}
      FROM generate_series(1, ${size / 10}) AS i`,
    events: `(id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || ${id}, ${owner}, 'live', ${sequence}, ${type}, repeat('x', 300), ${at} FROM ${rows}`,
    deliveries: `(id, event_number, endpoint_id, partner, mode, status, created_at, ended_at, final_attempt, final_at,
        final_duration_ms, final_http_status, final_response)
      SELECT 'dl_' || ${id} || '_1', i, ${endpoint}, ${owner}, 'live', status, ${at}, ended, attempt, ended, 40, 200,
        'ok'
      FROM ${rows}
      CROSS JOIN LATERAL (SELECT CASE WHEN i > ${recent} THEN 'pending' WHEN i / 5 % 50 = 7 THEN 'dropped' ELSE 'delivered' END)
        AS was (status)
      CROSS JOIN LATERAL (
        SELECT CASE WHEN status <> 'pending' THEN ${at} + 50 END, CASE status WHEN 'delivered' THEN 1 WHEN 'dropped' THEN 8 END
      ) AS made (ended, attempt)`,
    delivery_attempts: `SELECT i, 1, ${at}, 40, 500, NULL, '' FROM ${rows} WHERE i % 10 = 3`,
  };
}

/** SQL for table rows that are derived from the rows of other tables. */
const rest = `
  INSERT INTO event_sequences (partner, mode, last) SELECT partner, mode, max(sequence) FROM events GROUP BY partner, mode;
  INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, endpoint_id, event_number, created_at FROM deliveries WHERE status = 'pending';
  INSERT INTO jobs (id, kind, payload, due_at)
    SELECT 'execute ' || id, 'transfer', '{}', created_at FROM transfers WHERE status = 'pending';
`;

/**
 * Fills the tables of a schema with `size` rows each; idempotency records and delivery attempts have a tenth
 * of that. The indexes are built afterwards, which is several times as fast as an update row by row. Foreign
 * keys are not checked.
 */
export async function fill({ app }: ProofServer, schema: string, size: number): Promise<void> {
  const run = (sql: string) => app.query(`SET search_path TO "${schema}"; ${sql}; RESET search_path`);
  // Switch autovacuum off, so that it does not run while calls are measured; the purge switches it on again.
  await app.query('ALTER SYSTEM SET autovacuum = off');
  await app.query('SELECT pg_reload_conf()');
  await run(parties);
  await eachOf(Object.entries(fillings(size)), 2, async ([table, filling]) => {
    await run(`
      SET session_replication_role = replica;
      UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid = '${table}'::regclass;
      INSERT INTO ${table} ${filling};
      REINDEX TABLE ${table};
      RESET session_replication_role
    `);
  });
  await run(rest);
  await app.query('VACUUM (ANALYZE)');
  await app.query('CHECKPOINT');
}
