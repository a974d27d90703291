import { setTimeout } from 'node:timers/promises';
import { seeded } from '../../support/arguments.ts';
import { percentile } from '../../support/measure/table.ts';
import { type Stage, setStage } from '../../support/processes/stage.ts';
import { audit, type Findings } from './audit.ts';
import { type Disk, smallDisk } from './disk.ts';
import { type Fault, type FaultSize, faults } from './faults.ts';
import { Load, type LoadSize } from './load.ts';
import { type Bloat, holdSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';

/** How a run is made. */
export interface Plan extends FaultSize, LoadSize {
  readonly seed: number;
  /** How much faster than the machine's the time of the processes runs: leases end sooner. */
  readonly speed: number;
  readonly diskMegabytes: number;
  readonly fsync: boolean;
}

/** What one fault led to. */
export interface FaultReport {
  readonly name: string;
  /** Why it was not made. */
  readonly skipped: string | null;
  readonly tally: Tally;
  /** From the end of the fault to the first payment at the last web process that took one, in milliseconds. */
  readonly webMs: number;
  /** … until such a payment was executed, and its event had arrived. */
  readonly deliveredMs: number;
  readonly findings: Findings;
}

export interface Report {
  readonly faults: readonly FaultReport[];
  readonly payments: number;
  readonly events: number;
  readonly exchanges: number;
  readonly bloat: Bloat;
  /** Of the claims of all workers, in milliseconds. */
  readonly claimP99: number;
  readonly failures: readonly string[];
}

/** What does not work again within this time is broken. */
const patienceMs = 90_000;

const none: Findings = { lostEvents: [], doubleTransfers: [], strayExecutions: [], others: [] };

async function until(holds: () => boolean | Promise<boolean>, everyMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds()) && performance.now() < deadline) await setTimeout(everyMs);
}

/** How long it takes until everything works again. */
async function recovery(
  stage: Stage,
  load: Load,
): Promise<{ readonly webMs: number; readonly deliveredMs: number }> {
  const started = performance.now();
  const keys = await Promise.all(
    stage.cluster.webs.map(async ({ origin }) => {
      let key: string | null = null;
      await until(async () => {
        key = await load.payOnce(origin);
        return key !== null;
      }, 20);
      return key;
    }),
  );
  const isPaid = keys.every((key) => key !== null);
  const webMs = isPaid ? performance.now() - started : Number.POSITIVE_INFINITY;
  const hasArrived = () => keys.every((key) => key !== null && stage.receiver.seen.has(key));
  await until(hasArrived, 20);
  return { webMs, deliveredMs: hasArrived() ? performance.now() - started : Number.POSITIVE_INFINITY };
}

/** Resolves when workers have done everything that there is. */
async function drained({ server }: Stage): Promise<void> {
  await until(async () => {
    const { rows } = await server.app.query(`
      SELECT FROM ostiary.transfers WHERE status = 'pending'
      UNION ALL SELECT FROM ostiary.pending_deliveries
      UNION ALL SELECT FROM ostiary.jobs WHERE id <> 'purge' LIMIT 1
    `);
    return rows.length === 0;
  }, 200);
}

/**
 * Makes every fault, one after the other, under a load that never stops and with a transaction open all the time; then
 * looks at the books.
 */
export async function prove(plan: Plan, told: (name: string) => void = () => {}): Promise<Report> {
  let disk: Disk | string = 'not tried';
  const stage = await setStage({
    webs: 2,
    workers: 2,
    endpoints: 2,
    speed: plan.speed,
    fsync: plan.fsync,
    settings: ['max_prepared_transactions=2'],
    async prepare(server) {
      disk = await smallDisk(server, plan.diskMegabytes);
    },
  });
  const load = new Load(stage, plan.seed, plan);
  try {
    const snapshot = await holdSnapshot(stage.server);
    const random = seeded(plan.seed);
    const made: Omit<FaultReport, 'tally' | 'findings'>[] = [];
    load.begin('none');
    load.start();
    for (const fault of faults) {
      load.begin(fault.name);
      const skipped = await fault.make({ stage, size: plan, random, disk });
      made.push({ name: fault.name, skipped, ...(await recovery(stage, load)) });
      told(fault.name);
    }
    const { bloat, claimP99, ...last } = await endSnapshot(stage, load, snapshot, plan);
    made.push({ name: longTransaction, skipped: null, ...last });
    await load.stop();
    await drained(stage);
    const findings = await audit(stage, load);
    return {
      faults: made.map((report) => ({
        ...report,
        tally: load.tallies.get(report.name) ?? new Tally(),
        findings: findings.get(report.name) ?? none,
      })),
      payments: load.payments.length,
      events: load.events.length,
      exchanges: load.exchanges,
      bloat,
      claimP99,
      failures: stage.cluster.processes.flatMap(({ failure }) => failure ?? []),
    };
  } finally {
    await load.abandon();
    await stage.end();
  }
}

/** The fault that lasts from the beginning to the end. */
const longTransaction: Fault['name'] = 'a long transaction';

/** Measures while nothing else is wrong, then lets the transaction go. */
async function endSnapshot(
  stage: Stage,
  load: Load,
  snapshot: Awaited<ReturnType<typeof holdSnapshot>>,
  { quietSeconds }: Plan,
) {
  load.begin(longTransaction);
  await Promise.all(stage.cluster.workers.map((worker) => worker.report()));
  await setTimeout(quietSeconds * 1000);
  const reports = await Promise.all(stage.cluster.workers.map((worker) => worker.report()));
  const times = reports.flatMap(({ claims }) => claims.map(({ ms }) => ms));
  const bloat = await snapshot.end();
  return { bloat, claimP99: percentile(times, 0.99), ...(await recovery(stage, load)) };
}

/** Everything that must not be. @param limitMs - for the slowest error */
export function violationsOf(report: Report, limitMs: number): string[] {
  const perFault = report.faults.flatMap(({ name, tally, findings, webMs, deliveredMs }) => [
    ...tally.wrong.map((answer) => `${name}: answered ${answer}`),
    ...(tally.slowestErrorMs > limitMs
      ? [`${name}: an error took ${Math.round(tally.slowestErrorMs)} ms (${tally.slowestPath})`]
      : []),
    ...(Number.isFinite(webMs) && Number.isFinite(deliveredMs)
      ? []
      : [`${name}: not everything works again`]),
    ...Object.entries(findings).flatMap(([kind, problems]: [string, string[]]) =>
      problems.map((problem) => `${name}: ${kind}: ${problem}`),
    ),
  ]);
  return [
    ...perFault,
    ...report.failures,
    ...(report.bloat.deadAfter > report.bloat.dead / 2 + 1000 ? ['VACUUM left dead rows'] : []),
  ];
}
