import type { ColumnKind } from './values.ts';

/** A table that is moved, by its name in PostgreSQL. */
export interface TableMove {
  readonly name: string;
  /** What is read back and compared: every column of the table in PostgreSQL that is not computed there. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Columns by which the rows are read, copied and digested, on both sides in the same order: bytes, or numbers. */
  readonly key: readonly string[];
  /**
   * What stands after `FROM` on SQLite: something with these columns.
   * @defaultValue the table of the same name
   */
  readonly source?: string;
  /** The column that PostgreSQL numbers itself, and goes on with after the largest. */
  readonly identity?: string;
}

/** Ostiary's tables, each after those that it refers to. */
export const ostiaryTables: readonly TableMove[] = [
  {
    name: 'clients',
    columns: {
      client_id: 'text',
      version: 'integer',
      disabled_at: 'integer',
      partner: 'text',
      partner_disabled: 'boolean',
      record: 'text',
    },
    key: ['client_id'],
  },
  {
    name: 'client_origins',
    columns: { origin: 'text', client_id: 'text' },
    key: ['origin', 'client_id'],
  },
  {
    name: 'consents',
    columns: {
      id: 'integer',
      sub: 'text',
      client_id: 'text',
      scopes: 'list',
      granted_at: 'integer',
      updated_at: 'integer',
      revoked_at: 'integer',
    },
    key: ['id'],
    identity: 'id',
  },
  {
    name: 'grants',
    columns: {
      id: 'integer',
      code_digest: 'bytes',
      client_id: 'text',
      sub: 'text',
      scopes: 'list',
      redirect_uri: 'text',
      code_challenge: 'text',
      nonce: 'text',
      authenticated_at: 'integer',
      issued_at: 'integer',
      expires_at: 'integer',
      ends_at: 'integer',
      consumed_at: 'integer',
      revoked_at: 'integer',
      failed_verifiers: 'integer',
    },
    key: ['id'],
    identity: 'id',
  },
  {
    name: 'access_tokens',
    columns: {
      digest: 'bytes',
      grant_id: 'integer',
      issued_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
    },
    key: ['digest'],
  },
  {
    name: 'interactions',
    columns: { digest: 'bytes', payload: 'text', expires_at: 'integer' },
    key: ['digest'],
  },
  {
    name: 'signing_keys',
    columns: {
      kid: 'text',
      alg: 'text',
      public_jwk: 'text',
      sealed_private_jwk: 'text',
      created_at: 'integer',
      active_from: 'integer',
    },
    key: ['kid'],
  },
  {
    name: 'jobs',
    columns: {
      id: 'text',
      kind: 'text',
      payload: 'text',
      due_at: 'integer',
      attempt: 'integer',
      claim_id: 'text',
      lease_ends_at: 'integer',
      last_error: 'text',
    },
    key: ['id'],
  },
  {
    name: 'partners',
    columns: {
      slug: 'text',
      name: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      disabled_at: 'integer',
      version: 'integer',
    },
    key: ['slug'],
  },
  {
    name: 'api_keys',
    columns: {
      id: 'text',
      partner: 'text',
      mode: 'text',
      name: 'text',
      digest: 'bytes',
      scopes: 'list',
      allowlist: 'list',
      require_signature: 'boolean',
      sealed_signing_secret: 'text',
      quota_id: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
    },
    key: ['id'],
  },
  {
    name: 'transfers',
    columns: {
      id: 'text',
      partner: 'text',
      mode: 'text',
      status: 'text',
      amount: 'integer',
      currency: 'text',
      recipient_kid: 'text',
      description: 'text',
      reference: 'text',
      metadata: 'text',
      failure_code: 'text',
      failure_message: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      completed_at: 'integer',
    },
    key: ['id'],
  },
  {
    name: 'idempotency_records',
    columns: {
      partner: 'text',
      mode: 'text',
      key: 'text',
      fingerprint: 'bytes',
      status: 'integer',
      body: 'text',
      ends_at: 'integer',
    },
    key: ['partner', 'mode', 'key'],
  },
  {
    name: 'webhook_endpoints',
    columns: {
      id: 'text',
      partner: 'text',
      mode: 'text',
      url: 'text',
      events: 'list',
      enabled: 'boolean',
      sealed_secret: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      version: 'integer',
    },
    key: ['id'],
  },
  // What is pending has all been claimed before, as far as PostgreSQL knows: it is found by the time at which it is ready.
  {
    name: 'endpoint_queues',
    columns: {
      endpoint_id: 'text',
      partner: 'text',
      mode: 'text',
      claimed_to: 'integer',
      next_due: 'integer',
      served_at: 'integer',
      revision: 'integer',
    },
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
    columns: { partner: 'text', mode: 'text', last: 'integer', news: 'integer', seen: 'integer' },
    key: ['partner', 'mode'],
    source: '(SELECT *, 1 AS news, 0 AS seen FROM event_sequences)',
  },
  {
    name: 'events',
    columns: {
      number: 'integer',
      id: 'text',
      partner: 'text',
      mode: 'text',
      sequence: 'integer',
      type: 'text',
      body: 'text',
      created_at: 'integer',
    },
    key: ['number'],
    identity: 'number',
  },
  {
    name: 'deliveries',
    columns: {
      number: 'integer',
      id: 'text',
      event_number: 'integer',
      endpoint_id: 'text',
      partner: 'text',
      mode: 'text',
      status: 'text',
      created_at: 'integer',
      ended_at: 'integer',
      final_attempt: 'integer',
      final_at: 'integer',
      final_duration_ms: 'integer',
      final_http_status: 'integer',
      final_error: 'text',
      final_response: 'text',
    },
    key: ['number'],
    identity: 'number',
    source: '(SELECT *, CASE WHEN final_at IS NOT NULL THEN attempts END AS final_attempt FROM deliveries)',
  },
  // On SQLite these are columns of the deliveries: when a pending one is due, and who holds it until when.
  {
    name: 'pending_deliveries',
    columns: {
      id: 'text',
      number: 'integer',
      endpoint_id: 'text',
      event_number: 'integer',
      due_at: 'integer',
      ready_at: 'integer',
      claim_id: 'text',
      attempts: 'integer',
    },
    key: ['number'],
    source: "(SELECT * FROM deliveries WHERE status = 'pending')",
  },
  {
    name: 'delivery_attempts',
    columns: {
      delivery_number: 'integer',
      number: 'integer',
      at: 'integer',
      duration_ms: 'integer',
      http_status: 'integer',
      error: 'text',
      response: 'text',
    },
    key: ['delivery_number', 'number'],
  },
  {
    name: 'audit',
    columns: {
      id: 'text',
      at: 'integer',
      actor: 'text',
      action: 'text',
      target: 'text',
      details: 'text',
      number: 'integer',
      chain: 'bytes',
    },
    key: ['id'],
  },
  {
    name: 'audit_head',
    columns: { id: 'integer', number: 'integer', chain: 'bytes', before: 'integer' },
    key: ['id'],
  },
];
