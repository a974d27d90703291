import { setTimeout } from 'node:timers/promises';
import { seeded } from '../../support/arguments.ts';
import { Client, Tally } from '../../support/clients/client.ts';
import { Load, type LoadSize } from '../../support/clients/load.ts';
import { recovery } from '../../support/clients/recovery.ts';
import { haproxy, startHaproxy } from '../../support/postgres/haproxy.ts';
import { findPatroni, type Patroni, startPatroni } from '../../support/postgres/patroni.ts';
import { type PgBouncer, pgbouncer, startPgBouncer } from '../../support/postgres/pgbouncer.ts';
import { startServer, superusers } from '../../support/postgres/postgres-server.ts';
import { stageOn } from '../../support/processes/stage.ts';
import { type Claim, until } from '../../support/proof.ts';
import { claimsOfReport, claimsOfRounds, type Limits, type Run, reportOf } from './report.ts';

/** Settings of a run behind Patroni. Times are in milliseconds. */
interface Plan extends LoadSize {
  readonly seed: number;
  /** Number of rounds of each fault. */
  readonly rounds: number;
  /** Average time between a whole cluster and the next fault. */
  readonly quietMs: number;
  /** Average time without a pooler. */
  readonly awayMs: number;
}

/** Servers of a round behind Patroni, in addition to those of {@link Run}. */
interface Servers {
  readonly patroni: Patroni;
  readonly pooler: PgBouncer;
  /** Average time without a pooler, in milliseconds. */
  readonly awayMs: number;
}

/**
 * Faults. Each function resolves when the database can be used again: when another server is promoted, or when the
 * pooler is back. The returned function repairs what the fault left behind.
 */
const faults = {
  async 'primary killed'({ patroni }: Servers) {
    const primary = await patroni.whole();
    await primary.kill();
    await patroni.promotedAfter(primary);
    return async () => primary.start();
  },
  async 'primary frozen'({ patroni }: Servers) {
    const primary = await patroni.whole();
    await primary.freeze();
    await patroni.promotedAfter(primary);
    return () => primary.thaw();
  },
  async switchover({ patroni }: Servers) {
    const primary = await patroni.whole();
    const switched = primary.switchOver();
    await Promise.all([patroni.promotedAfter(primary), switched]);
    return async () => undefined;
  },
  async 'pooler killed'({ patroni, pooler, awayMs }: Servers) {
    await patroni.whole();
    await pooler.kill();
    await setTimeout(awayMs);
    await pooler.restart();
    return async () => undefined;
  },
};

/** Programs of a run behind Patroni; `null` if one of them is not installed. */
export function findPrograms() {
  const patroni = findPatroni();
  if (patroni === null || haproxy === undefined || pgbouncer === undefined) return null;
  return { patroni, haproxy, pgbouncer };
}

/** Causes one fault, and measures the recovery. */
async function meet(
  cause: (servers: Servers) => Promise<() => unknown>,
  servers: Servers,
  { stage, load }: Run,
) {
  const started = performance.now();
  const repair = await cause(servers);
  const awayMs = performance.now() - started;
  const recovered = await recovery(stage, load);
  await repair();
  const primary = await servers.patroni.whole();
  const standbys = servers.patroni.nodes.filter((node) => node !== primary);
  const counts = await Promise.all(standbys.map((node) => node.connections()));
  return { awayMs, ...recovered, strayConnections: counts.reduce((sum, count) => sum + count, 0) };
}

/**
 * Causes one fault after the other under constant load. Web processes connect to PgBouncer, PgBouncer and the worker
 * to HAProxy, and HAProxy to the primary of Patroni. At the end transfers, events and tokens are audited.
 */
export async function proveBehindPatroni(
  programs: NonNullable<ReturnType<typeof findPrograms>>,
  plan: Plan,
  onRound: (name: string) => void = () => {},
) {
  await using ends = new AsyncDisposableStack();
  const patroni = await startPatroni(programs.patroni);
  ends.defer(() => patroni.stop());
  const front = await startHaproxy(programs.haproxy, patroni.nodes);
  ends.defer(() => front.stop());
  const pooler = await startPgBouncer(programs.pgbouncer, front.port);
  ends.defer(() => pooler.stop());
  // The outside world is simulated on its own server, which no fault affects.
  const outside = await startServer({ fsync: false });
  ends.defer(() => outside.remove());
  const app = superusers(`postgres://postgres:postgres@127.0.0.1:${front.port}/app`);
  ends.defer(() => app.end());
  const direct = `postgres://ostiary:ostiary@127.0.0.1:${front.port}/app`;
  const server = {
    ...{ app, rail: outside.rail },
    url: (database: 'app' | 'rail') => (database === 'app' ? direct : outside.url('rail')),
  };
  const wanted = { webs: 2, workers: 1, endpoints: 2 };
  const stage = await stageOn(ends, server, wanted, pooler.url, direct);
  const load = new Load(stage, plan.seed, plan);
  ends.defer(() => load.abandon());
  const random = seeded(plan.seed);
  const about = (ms: number) => ms * (0.5 + random());
  let name = 'start';
  const tally = (): Tally => load.tallies.get(name) ?? new Tally();
  const client = new Client(stage.cluster.webs, tally, 0, AbortSignal.timeout(3_600_000));
  const run: Run = { stage, load, client };
  load.begin(name);
  await load.start();
  await until(() => load.revoked.length > 0);
  const made: ({ readonly name: string } & Awaited<ReturnType<typeof meet>>)[] = [];
  for (let number = 1; number <= plan.rounds; number += 1) {
    for (const [fault, cause] of Object.entries(faults)) {
      await setTimeout(about(plan.quietMs));
      name = `${fault} ${number}`;
      load.begin(name);
      made.push({ name, ...(await meet(cause, { patroni, pooler, awayMs: about(plan.awayMs) }, run)) });
      onRound(name);
    }
  }
  await setTimeout(plan.quietMs);
  // Awaited, because the servers are removed at the return.
  return await reportOf(run, made);
}

/** Returns the guarantees behind Patroni with their results. */
export function claimsBehindPatroni(
  report: Awaited<ReturnType<typeof proveBehindPatroni>>,
  limits: Limits,
): Claim[] {
  const own = claimsOfRounds(
    report.rounds,
    'no process stays connected to a server that is no longer the primary',
    ({ strayConnections }) => (strayConnections > 0 ? [`${strayConnections} connections`] : []),
  );
  return [...claimsOfReport(report, limits), own].map((claim) => ({
    ...claim,
    name: `Patroni: ${claim.name}`,
  }));
}
