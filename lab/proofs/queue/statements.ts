import { percentile } from '../../support/measure/table.ts';
import { publish, type Stage, setStage } from '../../support/processes/stage.ts';

/** Statements that workers sent, as the server counted them. */
export interface StatementCount {
  readonly what: string;
  readonly deliveries: number;
  readonly claims: number;
  readonly results: number;
  /** Everything else: the queue of jobs, beginnings and ends of transactions, clocks. */
  readonly others: number;
  readonly perDelivery: number;
}

/** Of workers only: everybody else has another role or is quiet meanwhile. */
const counted = `
  SELECT
    coalesce(sum(calls) FILTER (WHERE query ILIKE '%news AS MATERIALIZED%'), 0)::integer AS claims,
    coalesce(sum(calls) FILTER (WHERE query ILIKE '%WITH results AS%'), 0)::integer AS results,
    coalesce(sum(calls), 0)::integer AS statements
  FROM pg_stat_statements
  WHERE userid = 'ostiary'::regrole AND toplevel
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
`;

async function delivered({ server }: Stage): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline) {
    const { rows } = await server.app.query('SELECT FROM ostiary.pending_deliveries LIMIT 1');
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('deliveries stay pending');
}

/** Counts what a backlog costs two workers, and what a single delivery costs a worker that has nothing else to do. */
export async function countStatements(size: {
  readonly events: number;
  readonly singles: number;
  readonly fsync: boolean;
}): Promise<StatementCount[]> {
  const endpoints = 10;
  const stage = await setStage({
    webs: 0,
    workers: 2,
    endpoints,
    isWorking: false,
    fsync: size.fsync,
    settings: ['shared_preload_libraries=pg_stat_statements'],
    prepare: async ({ app }) => void (await app.query('CREATE EXTENSION pg_stat_statements')),
  });
  const { server, cluster, ostiary } = stage;
  const count = async (
    what: string,
    deliveries: number,
    work: () => Promise<void>,
  ): Promise<StatementCount> => {
    await server.app.query('SELECT pg_stat_statements_reset()');
    await work();
    const { rows } = await server.app.query<{ claims: number; results: number; statements: number }>(counted);
    const { claims = 0, results = 0, statements = 0 } = rows[0] ?? {};
    const others = statements - claims - results;
    return { what, deliveries, claims, results, others, perDelivery: statements / deliveries };
  };
  try {
    for (let published = 0; published < size.events; published += 50) {
      await publish(ostiary, Math.min(50, size.events - published));
    }
    const backlog = await count('a backlog, two workers', size.events * endpoints, async () => {
      await Promise.all(cluster.workers.map((worker) => worker.tell('startWorker')));
      await delivered(stage);
      await Promise.all(cluster.workers.map((worker) => worker.tell('stopWorker')));
    });

    const paths = await server.app.query<{ id: string }>(
      `SELECT id FROM ostiary.webhook_endpoints WHERE mode = 'live' ORDER BY id OFFSET 1`,
    );
    const others = paths.rows.map(({ id }) => id);
    await server.app.query('DELETE FROM ostiary.webhook_endpoints WHERE id = ANY ($1)', [others]);
    const [worker] = cluster.workers;
    let alone: StatementCount[] = [];
    for (let single = 0; single < size.singles; single += 1) {
      await publish(ostiary, 1);
      const one = await count('', 1, async () => void (await worker?.tell('runDue')));
      await delivered(stage);
      alone = [...alone, one];
    }
    const sum = (of: (one: StatementCount) => number) => alone.reduce((total, one) => total + of(one), 0);
    return [
      backlog,
      {
        what: 'one delivery at a time, median',
        deliveries: size.singles,
        claims: sum(({ claims }) => claims),
        results: sum(({ results }) => results),
        others: sum((one) => one.others),
        // Now and then the purge, or a look at the server's clock, comes in between.
        perDelivery: percentile(
          alone.map(({ perDelivery }) => perDelivery),
          0.5,
        ),
      },
    ];
  } finally {
    await stage.end();
  }
}
