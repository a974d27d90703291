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

export function noFindings(): Findings {
  return { lostEvents: [], doubleTransfers: [], strayExecutions: [], others: [] };
}

/** What the parts of an audit share. */
interface Audit {
  readonly stage: Stage;
  readonly load: Load;
  /** Where findings of a fault are noted. */
  readonly at: (fault: string | undefined) => Findings;
  /** Whether every endpoint of the mode accepted the event. */
  readonly isDelivered: (mode: string, event: string) => boolean;
}

/** Transfers, by the key that each was asked for with. One pass over all events, rather than one for each transfer. */
async function auditTransfers({ stage, load, at, isDelivered }: Audit): Promise<void> {
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
    const own = byKey.get(key) ?? [];
    const { doubleTransfers, others } = at(fault);
    if (own.length > 1) doubleTransfers.push(`${key}: ${own.map((transfer) => transfer.id).join(', ')}`);
    if (id !== null && own[0]?.id !== id) others.push(`${id} was answered and is not there`);
  }
  for (const { id, key, status, events } of stored) {
    const { lostEvents, others } = at(asked.get(key)?.fault);
    if (!asked.has(key)) others.push(`nobody asked for ${id}`);
    if (status !== 'completed' || !done.has(id)) others.push(`${id} is ${status}, executed: ${done.has(id)}`);
    if (events?.length !== 1) lostEvents.push(`${id} has ${events?.length ?? 0} events`);
    else if (!events.every((event) => isDelivered('live', event)))
      lostEvents.push(`${events[0]} was not delivered`);
  }
  for (const { id, key } of executed) {
    if (!known.has(id)) at(asked.get(key)?.fault).strayExecutions.push(id);
  }
}

/** Test events, by the key that stands in each. */
async function auditTestEvents({ stage, load, at, isDelivered }: Audit): Promise<void> {
  const { rows } = await stage.server.app.query<{ id: string; key: string }>(
    `SELECT id, body::jsonb -> 'data' ->> 'message' AS key FROM ostiary.events WHERE mode = 'test'`,
  );
  const byKey = Map.groupBy(rows, ({ key }) => key);
  for (const { key, fault, id } of load.events) {
    const own = byKey.get(key) ?? [];
    const { lostEvents, others } = at(fault);
    if (own.length > 1) others.push(`${key} is ${own.length} events`);
    if (id !== null && own[0]?.id !== id) lostEvents.push(`${id} was answered and is not there`);
    for (const event of own)
      if (!isDelivered('test', event.id)) lostEvents.push(`${event.id} was not delivered`);
  }
}

/** What belongs to no fault, and must not be: how many there are of it, and what it is. */
const disorders = `
  SELECT count(*)::integer AS count, mode || ' events are not in the sequence' AS what
    FROM ostiary.events GROUP BY mode HAVING count(*) <> max(sequence)
  UNION ALL SELECT count(*), 'codes gave several tokens'
    FROM (SELECT FROM ostiary.access_tokens GROUP BY grant_id HAVING count(*) > 1) AS twice
  UNION ALL SELECT count(*), 'deliveries are not done' FROM ostiary.deliveries WHERE status <> 'delivered'
  UNION ALL SELECT count(*), 'jobs are not done' FROM ostiary.jobs WHERE id <> 'purge'
`;

/** Compares what clients were told with the transfers, the journal of the rail, the events and what the receiver saw. */
export async function audit(stage: Stage, load: Load): Promise<ReadonlyMap<string, Findings>> {
  const { app } = stage.server;
  const findings = new Map([...load.tallies.keys()].map((fault) => [fault, noFindings()]));
  const whole = findings.get('none') ?? noFindings();
  const { rows: endpoints } = await app.query<{ mode: string; path: string }>(
    `SELECT mode, regexp_replace(url, '^https?://[^/]*', '') AS path FROM ostiary.webhook_endpoints`,
  );
  const parts: Audit = {
    ...{ stage, load },
    at: (fault) => findings.get(fault ?? 'none') ?? whole,
    isDelivered: (mode, event) =>
      endpoints.every(
        (endpoint) => endpoint.mode !== mode || (stage.receiver.of(endpoint.path, event)?.accepted ?? 0) > 0,
      ),
  };
  await auditTransfers(parts);
  await auditTestEvents(parts);
  const { rows } = await app.query<{ count: number; what: string }>(disorders);
  whole.others.push(...rows.filter(({ count }) => count > 0).map(({ count, what }) => `${count} ${what}`));
  whole.others.push(...stage.receiver.rejected.map((reason) => `a delivery did not verify: ${reason}`));
  return findings;
}
