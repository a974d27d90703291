import { setTimeout } from 'node:timers/promises';
import { seeded } from '../../support/arguments.ts';
import { type Pair, startPair } from '../../support/postgres/pair.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { drained, type Stage, stageOn } from '../../support/processes/stage.ts';
import { type Claim, claim, eachOf, until } from '../../support/proof.ts';
import { Client, Tally } from '../client.ts';
import { audit, type Problem } from '../faults/audit.ts';
import { bearer, Load, type LoadSize } from '../faults/load.ts';
import { recovery } from '../faults/recovery.ts';

/** Settings of a run of the failover proof. Times are in real milliseconds. */
interface Plan extends LoadSize {
  readonly seed: number;
  readonly rounds: number;
  /** Average time between the start of a standby and the kill of the primary. */
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
interface Round {
  readonly pair: Pair;
  readonly stage: Pick<Stage, 'cluster' | 'receiver'>;
  readonly load: Load;
  readonly client: Client;
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
  // Commits from here on are lost even if a client gets a response, because the standby no longer receives
  // them.
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

/** Finds issued access tokens that a web process does not know. */
async function lostTokens({ load, client }: Round): Promise<Problem[]> {
  const answers = await eachOf(load.tokens, 4, (token) => client.send(userinfo, bearer(token)));
  return answers
    .filter(({ status }) => status !== 200)
    .map(({ status, text }) => ({ kind: 'lost', text: `a token: ${status} ${text}` }));
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
  await load.stop();
  const isDrained = await drained(stage);
  return {
    rounds: made.map((one) => ({ ...one, tally: load.tallies.get(one.name) ?? new Tally() })),
    problems: [...[...(await audit(stage, load)).values()].flat(), ...(await lostTokens(round))],
    isDrained,
    answered: {
      payments: load.payments.filter(({ id }) => id !== null).length,
      events: load.events.filter(({ id }) => id !== null).length,
      exchanges: load.tokens.length,
    },
    failures: stage.cluster.processes.flatMap(({ failure }) => failure ?? []),
  };
}

/**
 * Returns the guarantees of the failover proof with their results. @param limits - time limits of an error,
 * and from a promotion until everything works, in milliseconds
 */
export function claimsOf(
  { rounds, problems, isDrained, answered, failures }: Awaited<ReturnType<typeof prove>>,
  limits: { readonly errorMs: number; readonly againMs: number },
): Claim[] {
  const of = (...kinds: readonly Problem['kind'][]) =>
    problems.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
  const ofRounds = (name: string, look: (round: (typeof rounds)[number]) => readonly string[]): Claim => ({
    name,
    problems: rounds.flatMap((round) => look(round).map((problem) => `${round.name}: ${problem}`)),
  });
  const { payments, events, exchanges } = answered;
  return [
    {
      name: 'no answered write is lost',
      problems: of('lost'),
      found: `${payments} payments, ${events} events, ${exchanges} tokens`,
    },
    { name: 'no transfer is made or executed twice, no event published twice', problems: of('twice') },
    { name: 'every event arrives', problems: of('undelivered') },
    { name: 'the books add up', problems: of('other') },
    claim('no work is left over', isDrained, `drained: ${isDrained}`),
    ofRounds('a standby that is not promoted answers nothing', ({ tooEarly }) => tooEarly),
    ofRounds('every other answer is right, or 503 in time', ({ tally }) => [
      ...tally.wrong,
      ...(tally.slowestErrorMs > limits.errorMs
        ? [`an error took ${Math.round(tally.slowestErrorMs)} ms (${tally.slowestPath})`]
        : []),
    ]),
    ofRounds(`every process works within ${limits.againMs} ms of the promotion`, ({ webMs, deliveredMs }) =>
      [webMs, deliveredMs].filter((ms) => !(ms <= limits.againMs)).map((ms) => `after ${Math.round(ms)} ms`),
    ),
    { name: 'no process ended, or was started again', problems: failures },
  ];
}
