import type { Meter } from '@opentelemetry/api';
import { readWaiting } from '@ostiary/cli/doctor';
import type { Database } from '../database/database.ts';
import { inTime } from '../http/in-time.ts';
import { readableBy } from '../operations/nodes.ts';

/** How long a look at the metrics waits for the database, in milliseconds. */
const patienceMs = 1_000;

/** Work that waits, in all processes together, and the connections of this one. Read when somebody looks. */
export function observeDatabase(meter: Meter, database: Database, now: () => number): void {
  const readable = readableBy(database);
  const gauge = (name: string, description: string, unit: string) =>
    meter.createObservableGauge(name, { description, unit });
  const jobs = gauge(
    'ostiary.jobs.due',
    'Jobs that are due and that nobody works on, 10,000 at most.',
    '{job}',
  );
  const jobAge = gauge('ostiary.jobs.oldest.age', 'For how long the oldest of them has been due.', 's');
  const deliveries = gauge(
    'ostiary.deliveries.due',
    'Deliveries that are due and that nobody makes, 10,000 at most.',
    '{delivery}',
  );
  const deliveryAge = gauge(
    'ostiary.deliveries.oldest.age',
    'For how long the oldest of them has been due.',
    's',
  );
  meter.addBatchObservableCallback(
    async (result) => {
      const waiting = await inTime(readWaiting(readable, now()), patienceMs);
      // The database is away, or slow: there is nothing to tell then, and nothing is told.
      if (waiting === null) return;
      result.observe(jobs, waiting.jobs);
      result.observe(jobAge, waiting.oldestJobMs / 1_000);
      result.observe(deliveries, waiting.deliveries);
      result.observe(deliveryAge, waiting.oldestDeliveryMs / 1_000);
    },
    [jobs, jobAge, deliveries, deliveryAge],
  );

  if (database.connections === undefined) return;
  const counts = database.connections;
  const connections = gauge(
    'db.client.connection.count',
    'Connections to the database, by state.',
    '{connection}',
  );
  const pending = gauge(
    'db.client.connection.pending_requests',
    'Calls that wait for a connection.',
    '{request}',
  );
  meter.addBatchObservableCallback(
    (result) => {
      const { idle, used, waiting } = counts();
      result.observe(connections, idle, { state: 'idle' });
      result.observe(connections, used, { state: 'used' });
      result.observe(pending, waiting);
    },
    [connections, pending],
  );
}
