import type { Storage } from '@ostiary/core/storage';
import { everyCall } from '../../testing/test/adapters/every-call.ts';

/**
 * Sample calls of all storage methods. Calls that read the oldest rows find few, as on an installation with a
 * worker.
 */
export const calls = [
  ...everyCall.filter(([name]) => name !== 'purge'),
  ['purge', (storage: Storage) => storage.purge({ now: 9, before: 9, eventsBefore: 9, limit: 10 })],
] as const;

/** Number of rows in each table of clients, consents, grants and tokens that grows. */
const identities = 20_000;

/**
 * Turns off foreign key checks, which would take a fourth of the time. The setting ends with the transaction.
 */
const unchecked = 'SET LOCAL session_replication_role = replica';

/** SQL that fills the tables of clients, consents, grants and tokens. */
export const identityRows = `
  ${unchecked};
  INSERT INTO partners SELECT 'p' || i, 'p', 'p' || i, i, 1, NULL, 1 FROM generate_series(1, 5000) AS i;
  INSERT INTO clients
    SELECT 'c' || i, 1, NULL, 'p' || i % 500, '{"secrets":[]}', false, 'c' || i, i FROM generate_series(1, 2000) AS i;
  INSERT INTO client_origins SELECT 'https://o' || i, 'c' || i FROM generate_series(1, 2000) AS i;
  INSERT INTO api_keys
    SELECT 'key_' || i, 'p' || i % 500 + 1, 'live', 'n', 'n' || i, 'svc_live_' || i, sha256(('key ' || i)::bytea), '{webhooks}', NULL, false, 's',
      'q', i, NULL, NULL, NULL
    FROM generate_series(1, 2000) AS i;
  INSERT INTO portal_sessions
    SELECT 'ps_' || i, sha256(('portal ' || i)::bytea), 'p' || i % 500 + 1, 'view', 'ana', i, NULL, i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO consents (sub, client_id, scopes, granted_at, updated_at)
    SELECT 'u' || i / 3, 'c' || 1 + i % 2000, '{openid,kyc}', 1, i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO grants
      (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at, consumed_at, sid)
    SELECT sha256(i::text::bytea), 'c' || 1 + i % 2000, 'u' || i / 3, '{openid}', '', 1, i, i + 600, i + 3600, i, 's'
    FROM generate_series(1, ${identities}) AS i;
  INSERT INTO access_tokens SELECT sha256(('t' || id)::bytea), id, issued_at, ends_at FROM grants;
  INSERT INTO refresh_tokens
    SELECT sha256(('r' || id)::bytea), id, ends_at, NULL, NULL, sha256(('f' || id)::bytea) FROM grants;
  INSERT INTO interactions SELECT sha256(i::text::bytea), '{}', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO interaction_answers SELECT sha256(i::text::bytea), '{}', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO pushed_requests SELECT sha256(i::text::bytea), 'c1', '{}', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO sandbox_records SELECT sha256(i::text::bytea), '{}', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO used_ids SELECT 'dpop', sha256(i::text::bytea), i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO jobs (id, kind, payload, due_at)
    SELECT 'j' || i, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END, '{}', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO idempotency_records
    SELECT 'p', 'live', i::text, sha256('f'), 200, '', i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO hourly_counts
    SELECT i * 3600000::bigint, 'sign_ins', 'live', i, i FROM generate_series(1, ${identities}) AS i;
  INSERT INTO rate_limits SELECT 'b' || i, 1, 1, i FROM generate_series(1, ${identities}) AS i ON CONFLICT DO NOTHING;
`;

const transfers = 20_000;
const deliveries = 40_000;
const endpoints = 200;

/** SQL that fills the tables of transfers and webhooks: many rows of one partner, and a few of another. */
export const partnerRows = `
  ${unchecked};
  INSERT INTO partners SELECT p, p, p, 1, 1, NULL, 1 FROM unnest(ARRAY['acme', 'other']) AS p;
  INSERT INTO transfers
    SELECT 'tr_' || i, CASE WHEN i % 50 = 0 THEN 'other' ELSE 'acme' END, 'live',
      CASE WHEN i % 20 = 0 THEN 'pending' ELSE 'completed' END, i, 'USD', 'kid', NULL, 'order ' || i, NULL, NULL, NULL,
      i / 3, i / 2, i / 2
    FROM generate_series(1, ${transfers}) AS i;
  INSERT INTO logged_requests
    SELECT 'req ' || i, CASE WHEN i % 50 = 0 THEN 'other' ELSE 'acme' END, 'test', 'key', i / 3, 1, 'GET', '/v1/x',
      CASE WHEN i % 20 = 0 THEN 404 ELSE 200 END, NULL, repeat('x', 200), NULL
    FROM generate_series(1, ${transfers}) AS i;
  INSERT INTO inbox_requests
    SELECT 'in_' || i, CASE WHEN i % 50 = 0 THEN 'other' ELSE 'acme' END, 'test', 'we_' || i % 400, i / 3, '[]',
      repeat('x', 200), NULL, i % 2 = 0, NULL
    FROM generate_series(1, ${transfers}) AS i;
  INSERT INTO webhook_endpoints
    SELECT 'we_' || lpad(i::text, 4, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, 'sealed', 1, 1, 1
    FROM generate_series(1, ${endpoints}) AS i;
  INSERT INTO endpoint_queues (endpoint_id, partner, mode) SELECT id, partner, mode FROM webhook_endpoints;
  INSERT INTO event_sequences (partner, mode, last) VALUES ('acme', 'live', ${deliveries / 10});
  INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
    SELECT 'evt_' || i, 'acme', 'live', i, 'kyc.updated', repeat('x', 200), i
    FROM generate_series(1, ${deliveries / 10}) AS i;
  -- Half of them delivered, a few dropped, the others due; the first endpoint has most of the backlog.
  INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at, ended_at)
    SELECT 'dl_' || i, 1 + i / 10, 'we_' || lpad((CASE WHEN i % 4 = 0 THEN 1 ELSE 1 + i / 3 % ${endpoints} END)::text, 4, '0'),
      'acme', 'live', CASE WHEN i % 100 = 1 THEN 'dropped' WHEN i % 4 = 0 OR i % 8 = 1 THEN 'pending' ELSE 'delivered' END,
      1 + i / 10, 1 + i / 10
    FROM generate_series(1, ${deliveries - 10}) AS i;
  INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, endpoint_id, event_number, created_at FROM deliveries WHERE status = 'pending';
  INSERT INTO delivery_attempts SELECT number, 1, 1, 1, 200, NULL, 'ok' FROM deliveries WHERE status = 'delivered';
`;
