import type { Stage } from '../../support/processes/stage.ts';
import type { Load } from './load.ts';

/** What was found in the books of one fault. */
export interface Findings {
  readonly lostEvents: string[];
  readonly doubleTransfers: string[];
  readonly strayExecutions: string[];
  /** Everything else that must not be. */
  readonly others: string[];
}

interface TransferRow {
  readonly id: string;
  readonly status: string;
  readonly key: string;
  readonly events: readonly string[] | null;
}
interface TestEventRow {
  readonly id: string;
  readonly key: string;
}

/** One pass over all events, rather than one for each transfer. */
const transfersWithEvents = `
  WITH told AS MATERIALIZED (
    SELECT body::jsonb -> 'data' ->> 'id' AS transfer_id, array_agg(id) AS events
    FROM ostiary.events WHERE type LIKE 'payment.%' GROUP BY 1
  )
  SELECT transfers.id, status, description AS key, told.events
  FROM ostiary.transfers LEFT JOIN told ON told.transfer_id = transfers.id
`;

/** What the parts of an audit share. */
interface Audit {
  readonly stage: Stage;
  readonly load: Load;
  /** Where findings of a fault are noted. */
  readonly at: (fault: string | undefined) => Findings;
  /** Whether every endpoint of the mode accepted the event. */
  readonly isDelivered: (mode: string, event: string) => boolean;
}

/** Transfers, by the key that each was asked for with. */
async function auditTransfers({ stage, load, at, isDelivered }: Audit): Promise<void> {
  const { app, rail } = stage.server;
  const stored = (await app.query<TransferRow>(transfersWithEvents)).rows;
  const executed = (
    await rail.query<{ id: string; key: string }>(
      'SELECT transfer_id AS id, description AS key FROM executions',
    )
  ).rows;
  const byKey = Map.groupBy(stored, ({ key }) => key);
  const asked = new Map(load.payments.map((payment) => [payment.key, payment]));
  const done = new Set(executed.map(({ id }) => id));
  for (const { key, fault, transferId } of load.payments) {
    const own = byKey.get(key) ?? [];
    const { doubleTransfers, others } = at(fault);
    if (own.length > 1) doubleTransfers.push(`${key}: ${own.map(({ id }) => id).join(', ')}`);
    if (transferId !== null && own[0]?.id !== transferId)
      others.push(`${transferId} was answered and is not there`);
  }
  for (const { id, key, status, events } of stored) {
    const { lostEvents, others } = at(asked.get(key)?.fault);
    if (!asked.has(key)) others.push(`nobody asked for ${id}`);
    if (status !== 'completed' || !done.has(id)) others.push(`${id} is ${status}, executed: ${done.has(id)}`);
    if (events?.length !== 1) lostEvents.push(`${id} has ${events?.length ?? 0} events`);
    else if (!events.every((event) => isDelivered('live', event)))
      lostEvents.push(`${events[0]} was not delivered`);
  }
  const known = new Set(stored.map(({ id }) => id));
  for (const { id, key } of executed) {
    if (!known.has(id)) at(asked.get(key)?.fault).strayExecutions.push(id);
  }
}

/** Test events, by the key that stands in each. */
async function auditTestEvents({ stage, load, at, isDelivered }: Audit): Promise<void> {
  const { app } = stage.server;
  const tested = (
    await app.query<TestEventRow>(
      `SELECT id, body::jsonb -> 'data' ->> 'message' AS key FROM ostiary.events WHERE mode = 'test'`,
    )
  ).rows;
  const testsByKey = Map.groupBy(tested, ({ key }) => key);
  for (const { key, fault, eventId } of load.events) {
    const own = testsByKey.get(key) ?? [];
    const { lostEvents, others } = at(fault);
    if (own.length > 1) others.push(`${key} is ${own.length} events`);
    if (eventId !== null && own[0]?.id !== eventId)
      lostEvents.push(`${eventId} was answered and is not there`);
    for (const { id } of own) if (!isDelivered('test', id)) lostEvents.push(`${id} was not delivered`);
  }
}

/** What belongs to no fault: sequences, tokens, work that is left. */
async function auditWhole({ stage, at }: Audit): Promise<void> {
  const { app } = stage.server;
  const whole = at('none').others;
  const gaps = await app.query<{ mode: string; count: number; last: number }>(
    'SELECT mode, count(*)::integer AS count, max(sequence)::integer AS last FROM ostiary.events GROUP BY mode',
  );
  for (const { mode, count, last } of gaps.rows) {
    if (count !== last) whole.push(`${mode}: ${count} events in a sequence up to ${last}`);
  }
  const tokens = await app.query(
    'SELECT grant_id FROM ostiary.access_tokens GROUP BY grant_id HAVING count(*) > 1',
  );
  if (tokens.rows.length > 0) whole.push(`${tokens.rows.length} codes gave several tokens`);
  const unfinished = await app.query(
    `SELECT id FROM ostiary.deliveries WHERE status <> 'delivered' UNION ALL SELECT id FROM ostiary.jobs WHERE id <> 'purge'`,
  );
  if (unfinished.rows.length > 0) whole.push(`${unfinished.rows.length} deliveries and jobs are not done`);
  if (stage.receiver.rejected.length > 0)
    whole.push(`${stage.receiver.rejected.length} deliveries with a wrong signature`);
}

/** Compares what clients were told with the transfers, the journal of the rail, the events and what the receiver saw. */
export async function audit(stage: Stage, load: Load): Promise<ReadonlyMap<string, Findings>> {
  const { app } = stage.server;
  const findings = new Map<string, Findings>();
  const at = (fault: string | undefined): Findings => {
    const name = fault ?? 'none';
    const found = findings.get(name) ?? {
      lostEvents: [],
      doubleTransfers: [],
      strayExecutions: [],
      others: [],
    };
    findings.set(name, found);
    return found;
  };
  for (const fault of load.tallies.keys()) at(fault);
  const endpoints = (
    await app.query<{ mode: string; path: string }>(
      `SELECT mode, regexp_replace(url, '^https?://[^/]*', '') AS path FROM ostiary.webhook_endpoints`,
    )
  ).rows;
  const isDelivered = (mode: string, event: string) =>
    endpoints.every(
      (endpoint) => endpoint.mode !== mode || (stage.receiver.of(endpoint.path, event)?.accepted ?? 0) > 0,
    );
  const parts: Audit = { stage, load, at, isDelivered };
  await auditTransfers(parts);
  await auditTestEvents(parts);
  await auditWhole(parts);
  return findings;
}
