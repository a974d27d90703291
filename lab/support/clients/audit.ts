import type { Stage } from '../processes/stage.ts';
import type { Load } from './load.ts';

/** Servers and webhook receiver whose records are audited. */
interface AuditedStage extends Pick<Stage, 'receiver'> {
  readonly server: Pick<Stage['server'], 'app' | 'rail'>;
}

/**
 * A problem found by the audit: a record that was lost after its response, done twice, not delivered, or
 * otherwise wrong.
 */
export interface Problem {
  readonly kind: 'lost' | 'twice' | 'undelivered' | 'other';
  readonly text: string;
}

/** Data that all parts of an audit share. */
interface Audit {
  readonly stage: AuditedStage;
  readonly load: Load;
  /** Records a problem, with the fault that was active when the request was made. */
  readonly complain: (fault: string | undefined, kind: Problem['kind'], text: string) => void;
  /** True if every endpoint of the mode accepted the event. */
  readonly isDelivered: (mode: string, event: string) => boolean;
}

/**
 * Checks that no idempotency key made two transfers, that every transfer that a response named exists, and
 * that every transfer was completed, executed, and has exactly one event, which was delivered. Reads all
 * events in one pass instead of once per transfer.
 */
async function auditTransfers({ stage, load, complain, isDelivered }: Audit): Promise<void> {
  const { app, rail } = stage.server;
  const { rows: stored } = await app.query<{
    id: string;
    status: string;
    key: string;
    events: string[] | null;
  }>(`
    WITH told AS MATERIALIZED (
      SELECT body::jsonb -> 'data' ->> 'id' AS transfer_id, array_agg(id) AS events
      FROM ostiary.events WHERE type LIKE 'payment.%' GROUP BY 1
    )
    SELECT transfers.id, status, description AS key, told.events
    FROM ostiary.transfers LEFT JOIN told ON told.transfer_id = transfers.id
  `);
  const { rows: executed } = await rail.query<{ id: string; key: string }>(
    'SELECT transfer_id AS id, description AS key FROM executions',
  );
  const byKey = Map.groupBy(stored, ({ key }) => key);
  const asked = new Map(load.payments.map((payment) => [payment.key, payment]));
  const done = new Set(executed.map(({ id }) => id));
  const known = new Set(stored.map(({ id }) => id));
  for (const { key, fault, id } of load.payments) {
    const own = (byKey.get(key) ?? []).map((transfer) => transfer.id);
    if (own.length > 1) complain(fault, 'twice', `${key} made several transfers: ${own.join(', ')}`);
    if (id !== null && own[0] !== id) complain(fault, 'lost', `${id} was answered and is not there`);
  }
  for (const { id, key, status, events } of stored) {
    const fault = asked.get(key)?.fault;
    if (fault === undefined) complain(fault, 'other', `nobody asked for ${id}`);
    if (status !== 'completed' || !done.has(id))
      complain(fault, 'other', `${id} is ${status}, executed: ${done.has(id)}`);
    if (events?.length !== 1) complain(fault, 'other', `${id} has ${events?.length ?? 0} events`);
    else if (!isDelivered('live', events[0] ?? ''))
      complain(fault, 'undelivered', `${events[0]} was not delivered`);
  }
  for (const { id, key } of executed) {
    if (!known.has(id)) complain(asked.get(key)?.fault, 'twice', `${id} was executed and is no transfer`);
  }
}

/** Audits the test events, by the idempotency key that each event contains. */
async function auditTestEvents({ stage, load, complain, isDelivered }: Audit): Promise<void> {
  const { rows } = await stage.server.app.query<{ id: string; key: string }>(
    `SELECT id, body::jsonb -> 'data' ->> 'message' AS key FROM ostiary.events WHERE mode = 'test'`,
  );
  const byKey = Map.groupBy(rows, ({ key }) => key);
  for (const { key, fault, id } of load.events) {
    const own = byKey.get(key) ?? [];
    if (own.length > 1) complain(fault, 'twice', `${key} is ${own.length} events`);
    if (id !== null && own[0]?.id !== id) complain(fault, 'lost', `${id} was answered and is not there`);
    for (const event of own)
      if (!isDelivered('test', event.id)) complain(fault, 'undelivered', `${event.id} was not delivered`);
  }
}

/** Query for the database errors that belong to no particular fault, with the number of each. */
const disorders = `
  SELECT count(*)::integer AS count, mode || ' events are not in the sequence' AS what
    FROM ostiary.events GROUP BY mode HAVING count(*) <> max(sequence)
  UNION ALL SELECT count(*), 'codes gave several tokens'
    FROM (SELECT FROM ostiary.access_tokens GROUP BY grant_id HAVING count(*) > 1) AS twice
  UNION ALL SELECT count(*), 'deliveries are not done' FROM ostiary.deliveries WHERE status <> 'delivered'
  UNION ALL SELECT count(*), 'jobs are not done' FROM ostiary.jobs WHERE id <> 'purge'
`;

/**
 * Compares the responses that clients got with the transfers, the journal of the rail, the events, and the
 * received webhooks.
 * @returns problems by fault; those without a fault are under `none`
 */
export async function audit(
  stage: AuditedStage,
  load: Load,
): Promise<ReadonlyMap<string, readonly Problem[]>> {
  const { app } = stage.server;
  const problems = new Map<string, Problem[]>();
  const complain = (fault = 'none', kind: Problem['kind'], text: string): void => {
    problems.set(fault, [...(problems.get(fault) ?? []), { kind, text }]);
  };
  const { rows: endpoints } = await app.query<{ mode: string; path: string }>(
    `SELECT mode, regexp_replace(url, '^https?://[^/]*', '') AS path FROM ostiary.webhook_endpoints`,
  );
  const isDelivered = (mode: string, event: string): boolean =>
    endpoints.every(
      (endpoint) => endpoint.mode !== mode || (stage.receiver.of(endpoint.path, event)?.accepted ?? 0) > 0,
    );
  await auditTransfers({ stage, load, complain, isDelivered });
  await auditTestEvents({ stage, load, complain, isDelivered });
  const { rows } = await app.query<{ count: number; what: string }>(disorders);
  for (const { count, what } of rows) if (count > 0) complain('none', 'other', `${count} ${what}`);
  for (const reason of stage.receiver.rejected)
    complain('none', 'other', `a delivery did not verify: ${reason}`);
  return problems;
}
