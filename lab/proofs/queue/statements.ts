import { median } from '../../support/measure/statistics.ts';
import { drained, publish, setStage } from '../../support/processes/stage.ts';

/**
 * Statements of workers only, as the server counts them: everybody else has another role or is quiet meanwhile, but for the hint
 * that something was published.
 */
const counted = `
  SELECT coalesce(sum(calls), 0)::integer AS statements FROM pg_stat_statements
  WHERE userid = 'ostiary'::regrole AND toplevel AND query NOT LIKE '%pg_notify%'
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
`;

/** Counts what a backlog costs two workers, and what a single delivery costs a worker that has nothing else to do. */
export async function countStatements(size: {
  readonly events: number;
  readonly singles: number;
  readonly fsync: boolean;
}) {
  const endpoints = 10;
  await using ends = new AsyncDisposableStack();
  const stage = await setStage(ends, {
    ...{ webs: 0, workers: 2, endpoints, isWorking: false, fsync: size.fsync },
    settings: ['shared_preload_libraries=pg_stat_statements'],
    prepare: async ({ app }) => void (await app.query('CREATE EXTENSION pg_stat_statements')),
  });
  const { ostiary } = stage;
  const { app } = stage.server;
  const [worker] = stage.cluster.workers;
  const count = async (deliveries: number, work: () => Promise<unknown>): Promise<number> => {
    await app.query('SELECT pg_stat_statements_reset()');
    await work();
    const { rows } = await app.query<{ statements: number }>(counted);
    return (rows[0]?.statements ?? Number.NaN) / deliveries;
  };
  const drain = async (): Promise<void> => {
    if (!(await drained(stage))) throw new Error('deliveries stay pending');
  };
  for (let published = 0; published < size.events; published += 50)
    await publish(ostiary, Math.min(50, size.events - published));
  const backlog = await count(size.events * endpoints, async () => {
    await stage.cluster.tellWorkers('startWorker');
    await drain();
    await stage.cluster.tellWorkers('stopWorker');
  });

  await app.query(`
      DELETE FROM ostiary.webhook_endpoints
      WHERE id IN (SELECT id FROM ostiary.webhook_endpoints WHERE mode = 'live' ORDER BY id OFFSET 1)
    `);
  const alone: number[] = [];
  for (let single = 0; single < size.singles; single += 1) {
    await publish(ostiary, 1);
    alone.push(await count(1, async () => await worker?.ask('runDue')));
    await drain();
  }
  return [
    { what: 'a backlog, two workers', deliveries: size.events * endpoints, perDelivery: backlog },
    // Now and then the purge, or a look at the server's clock, comes in between.
    { what: 'one at a time, median', deliveries: size.singles, perDelivery: median(alone) },
  ];
}
