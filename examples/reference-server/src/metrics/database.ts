import type { Meter } from '@opentelemetry/api';
import { readWaiting } from '@ostiary/cli/doctor';
import type { Database } from '../database/database.ts';
import { inTime } from '../http/in-time.ts';
import { readableBy } from '../operations/nodes.ts';
import { observe } from './observed.ts';

/** Time limit of the database queries for a Prometheus scrape, in milliseconds. */
const patienceMs = 1_000;

const waitingWork = {
  'ostiary.jobs.due': ['Jobs that are due and not claimed by a worker, 10,000 at most.', '{job}'],
  'ostiary.jobs.oldest.age': ['For how long the oldest of them has been due.', 's'],
  'ostiary.deliveries.due': [
    'Deliveries that are due and not claimed by a worker, 10,000 at most.',
    '{delivery}',
  ],
  'ostiary.deliveries.oldest.age': ['For how long the oldest of them has been due.', 's'],
} as const;

const connections = {
  'db.client.connection.count': ['Connections to the database, by state.', '{connection}'],
  'db.client.connection.max': [
    'Most connections to the database that this process may open.',
    '{connection}',
  ],
  'db.client.connection.pending_requests': ['Calls that wait for a connection.', '{request}'],
} as const;

/**
 * Adds metrics of the waiting work in all processes together, and of this process's connections. The metrics
 * are read at each scrape.
 */
export function observeDatabase(meter: Meter, database: Database, now: () => number): void {
  const { connections: counts } = database;
  // Before the query for waiting work, which would be counted as a call that waits for a connection.
  if (counts !== undefined) observeConnections(meter, counts);
  const readable = readableBy(database);
  observe(meter, waitingWork, async () => {
    const waiting = await inTime(readWaiting(readable, now()), patienceMs);
    // Leave the gauges out if the database is unreachable or slow.
    return (
      waiting && {
        'ostiary.jobs.due': waiting.jobs,
        'ostiary.jobs.oldest.age': waiting.oldestJobMs / 1_000,
        'ostiary.deliveries.due': waiting.deliveries,
        'ostiary.deliveries.oldest.age': waiting.oldestDeliveryMs / 1_000,
      }
    );
  });
}

/** Adds metrics of the connections of this process to PostgreSQL. */
function observeConnections(meter: Meter, counts: NonNullable<Database['connections']>): void {
  // Without the host and the name of the database, of which the convention would make the pool's name.
  const pool = { 'db.client.connection.pool.name': 'ostiary' };
  observe(meter, connections, () => {
    const { idle, used, waiting, max } = counts();
    return {
      'db.client.connection.count': [
        [idle, { ...pool, 'db.client.connection.state': 'idle' }],
        [used, { ...pool, 'db.client.connection.state': 'used' }],
      ],
      'db.client.connection.max': [[max, pool]],
      'db.client.connection.pending_requests': [[waiting, pool]],
    };
  });
}
