import { seeded } from '../../support/arguments.ts';
import { audit } from '../../support/clients/audit.ts';
import { Tally } from '../../support/clients/client.ts';
import { Load, type LoadSize } from '../../support/clients/load.ts';
import { recovery } from '../../support/clients/recovery.ts';
import { type Disk, smallDisk } from '../../support/postgres/small-disk.ts';
import { drained, setStage } from '../../support/processes/stage.ts';
import type { Claim } from '../../support/proof.ts';
import { type FaultSize, faults } from './faults.ts';

/** Settings of a run of the fault proof. */
interface Plan extends FaultSize, LoadSize {
  readonly seed: number;
  /** Factor by which the processes' time runs faster than the machine's, so that leases end sooner. */
  readonly speed: number;
  readonly diskMegabytes: number;
  readonly fsync: boolean;
}

/**
 * Injects every fault, one after the other, under constant load and with an open transaction; then audits
 * transfers and events.
 */
export async function prove(plan: Plan, told: (name: string) => void = () => {}) {
  await using ends = new AsyncDisposableStack();
  let disk: Disk | string = 'not tried';
  const stage = await setStage(ends, {
    ...{ webs: 2, workers: 2, endpoints: 2, speed: plan.speed, fsync: plan.fsync },
    settings: ['max_prepared_transactions=2'],
    async prepare(server) {
      disk = await smallDisk(server, ends, plan.diskMegabytes);
    },
  });
  const load = new Load(stage, plan.seed, plan);
  ends.defer(() => load.abandon());
  const { app } = stage.server;
  // Keep a transaction open that keeps PostgreSQL from cleaning up. It is prepared, so that it survives a
  // restart of the server.
  const client = await app.connect();
  await client.query(`BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'long'`);
  client.release();
  const random = seeded(plan.seed);
  const made: ({ name: string; skipped: string | null } & Awaited<ReturnType<typeof recovery>>)[] = [];
  load.begin('none');
  await load.start();
  for (const fault of faults) {
    load.begin(fault.name);
    const context = { stage, size: plan, random, disk };
    const skipped = fault.skipped?.(context) ?? null;
    if (skipped === null) await fault.make(context);
    made.push({ name: fault.name, skipped, ...(await recovery(stage, load)) });
    told(fault.name);
  }
  await app.query(`ROLLBACK PREPARED 'long'`);
  await load.stop();
  await drained(stage);
  const problems = await audit(stage, load);
  return {
    faults: made.map((report) => ({
      ...report,
      tally: load.tallies.get(report.name) ?? new Tally(),
      /** Problems that the audit found. */
      problems: (problems.get(report.name) ?? []).map(({ text }) => text),
    })),
    payments: load.payments.length,
    events: load.events.length,
    exchanges: load.tokens.length,
    failures: stage.cluster.processes.flatMap(({ failure }) => failure ?? []),
  };
}

/** Returns the problems by fault. @param limitMs - time limit of the slowest error, in milliseconds */
export function claimsOf(
  { faults: made, failures }: Awaited<ReturnType<typeof prove>>,
  limitMs: number,
): Claim[] {
  return [
    ...made.map(({ name, skipped, tally, problems, webMs, deliveredMs }) => ({
      name,
      ...(skipped === null ? {} : { found: `skipped: ${skipped}` }),
      problems: [
        ...tally.wrong.map((answer) => `answered ${answer}`),
        ...(tally.slowestErrorMs > limitMs
          ? [`an error took ${Math.round(tally.slowestErrorMs)} ms (${tally.slowestPath})`]
          : []),
        ...(Number.isFinite(webMs) && Number.isFinite(deliveredMs) ? [] : ['not everything works again']),
        ...problems,
      ],
    })),
    { name: 'no process ended by itself', problems: failures },
  ];
}
