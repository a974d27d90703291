import { setTimeout } from 'node:timers/promises';
import { seeded } from '../../support/arguments.ts';
import { Client, Tally } from '../../support/clients/client.ts';
import { bearer, Load, type LoadSize } from '../../support/clients/load.ts';
import { recovery } from '../../support/clients/recovery.ts';
import { type Pair, startPair } from '../../support/postgres/pair.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { stageOn } from '../../support/processes/stage.ts';
import { type Claim, until } from '../../support/proof.ts';
import { claimsOfReport, claimsOfRounds, type Limits, type Run, reportOf } from './report.ts';

/** Settings of a run of the failover proof. Times are in real milliseconds. */
interface Plan extends LoadSize {
  readonly seed: number;
  readonly rounds: number;
  /**
   * Average time between the start of a standby and the moment at which the standby receives nothing more.
   */
  readonly quietMs: number;
  /** Average time before the kill during which the standby receives nothing from the primary. */
  readonly cutMs: number;
  /** Average time without a primary database server. */
  readonly awayMs: number;
  /** Factor by which simulated time is faster than real time, so that leases expire sooner. */
  readonly speed: number;
  readonly fsync: boolean;
}

const userinfo = '/v1/oauth/userinfo';

/** Servers, load and client of a failover round. */
interface Round extends Run {
  readonly pair: Pair;
  /** Returns a random value between 50 % and 150 % of a given value. */
  readonly about: (ms: number) => number;
}

/** Sends reading requests to every web process for some time. @returns the responses, except 503 */
async function readFor(ms: number, { stage, load, client }: Round): Promise<string[]> {
  const found: string[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    for (const { origin } of stage.cluster.webs) {
      const answer = await client.once(origin, userinfo, bearer(load.tokens[0] ?? ''));
      if (answer?.status !== 503) found.push(`userinfo: ${answer?.status}`);
    }
    await setTimeout(50);
  }
  return found;
}

/** Makes a standby, kills the primary, and promotes the standby. */
async function failOver(round: Round, { quietMs, cutMs, awayMs }: Plan) {
  const { pair, stage, load, about } = round;
  await pair.addStandby();
  await until(() => load.tokens.length > 0);
  await setTimeout(about(quietMs));
  // Commits from now on wait for the standby, which no longer receives them. If a client got a response to
  // one, it would be lost.
  await pair.cut();
  await setTimeout(about(cutMs));
  await pair.kill();
  const started = performance.now();
  // Query the standby: it responds to reads before it is promoted.
  await pair.standby?.query('SELECT FROM ostiary.access_tokens LIMIT 1');
  const tooEarly = await readFor(about(awayMs), round);
  const asked = performance.now();
  await pair.promote();
  const promoted = performance.now();
  return {
    tooEarly,
    awayMs: asked - started,
    promotionMs: promoted - asked,
    ...(await recovery(stage, load)),
  };
}

/** Kills one primary after the other under constant load, and then audits transfers, events and tokens. */
export async function prove(plan: Plan, told: (round: string) => void = () => {}) {
  await using ends = new AsyncDisposableStack();
  const pair = await startPair({ fsync: plan.fsync });
  ends.defer(() => pair.remove());
  // The outside world is simulated on its own server, which no failover affects.
  const outside = await startServer({ fsync: false });
  ends.defer(() => outside.remove());
  const server = {
    get app() {
      return pair.app;
    },
    rail: outside.rail,
    url: (database: 'app' | 'rail') => (database === 'app' ? pair.url() : outside.url('rail')),
  };
  const wanted = { webs: 2, workers: 1, endpoints: 2, speed: plan.speed };
  const stage = await stageOn(ends, server, wanted, pair.url());
  const load = new Load(stage, plan.seed, plan);
  ends.defer(() => load.abandon());
  const random = seeded(plan.seed);
  let name = 'round 1';
  const tally = (): Tally => load.tallies.get(name) ?? new Tally();
  const round: Round = {
    ...{ pair, stage, load },
    client: new Client(stage.cluster.webs, tally, 0, AbortSignal.timeout(3_600_000)),
    about: (ms) => ms * (0.5 + random()),
  };
  load.begin(name);
  await load.start();
  const made: ({ readonly name: string } & Awaited<ReturnType<typeof failOver>>)[] = [];
  for (let number = 1; number <= plan.rounds; number += 1) {
    name = `round ${number}`;
    load.begin(name);
    made.push({ name, ...(await failOver(round, plan)) });
    told(name);
  }
  await setTimeout(plan.quietMs);
  // Awaited, because the servers are removed at the return.
  return await reportOf(round, made);
}

/** Returns the guarantees of the failover proof with their results. */
export function claimsOf(report: Awaited<ReturnType<typeof prove>>, limits: Limits): Claim[] {
  const { rounds } = report;
  return [
    ...claimsOfReport(report, limits),
    claimsOfRounds(rounds, 'a standby that is not promoted answers nothing', ({ tooEarly }) => tooEarly),
  ];
}
