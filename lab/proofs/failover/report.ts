import { audit, type Problem } from '../../support/clients/audit.ts';
import { type Client, Tally } from '../../support/clients/client.ts';
import { bearer, type Load } from '../../support/clients/load.ts';
import { drained, type Stage } from '../../support/processes/stage.ts';
import { type Claim, claim, eachOf } from '../../support/proof.ts';

/** Time limits of a failover, in milliseconds. */
export interface Limits {
  /** Maximum time of a response that is an error. */
  readonly errorMs: number;
  /** Maximum time from a promotion until every process works. */
  readonly againMs: number;
}

/** Servers, load and client of all rounds. */
export interface Run {
  readonly stage: Pick<Stage, 'cluster' | 'receiver'> & {
    readonly server: Pick<Stage['server'], 'app' | 'rail'>;
  };
  readonly load: Load;
  readonly client: Client;
}

/**
 * A round, and the times in milliseconds from the promotion until the last web process accepted a payment and
 * until the events of these payments arrived.
 */
interface Recovered {
  readonly name: string;
  readonly webMs: number;
  readonly deliveredMs: number;
}

/** Finds issued access tokens that a web process does not know. */
async function lostTokens({ load, client }: Run): Promise<Problem[]> {
  const answers = await eachOf(load.tokens, 4, (token) => client.send('/v1/oauth/userinfo', bearer(token)));
  return answers
    .filter(({ status }) => status !== 200)
    .map(({ status, text }) => ({ kind: 'lost', text: `a token: ${status} ${text}` }));
}

/** Describes the deliveries that are not done: their endpoints, and the results of their attempts. */
async function workLeftOver({ server }: Run['stage']): Promise<string> {
  const { rows } = await server.app.query(`
    SELECT deliveries.endpoint_id, deliveries.mode, count(*)::integer AS deliveries,
      count(*) FILTER (WHERE EXISTS (SELECT FROM ostiary.delivery_attempts WHERE delivery_attempts.delivery_number = deliveries.number))::integer AS tried,
      (SELECT to_jsonb(endpoint_queues) FROM ostiary.endpoint_queues WHERE endpoint_queues.endpoint_id = deliveries.endpoint_id) AS queue,
      (SELECT jsonb_agg(to_jsonb(one)) FROM (SELECT * FROM ostiary.pending_deliveries WHERE pending_deliveries.endpoint_id = deliveries.endpoint_id LIMIT 3) AS one) AS first
    FROM ostiary.deliveries WHERE status <> 'delivered' GROUP BY 1, 2
  `);
  return JSON.stringify({ now: Date.now(), rows }, null, 2);
}

/** Ends the load, waits until all work is done, and audits transfers, events and tokens. */
export async function reportOf<Round extends Recovered>(run: Run, rounds: readonly Round[]) {
  const { stage, load } = run;
  await load.stop();
  const isDrained = await drained(stage);
  if (!isDrained) console.log(await workLeftOver(stage));
  return {
    rounds: rounds.map((round) => ({ ...round, tally: load.tallies.get(round.name) ?? new Tally() })),
    problems: [...[...(await audit(stage, load)).values()].flat(), ...(await lostTokens(run))],
    isDrained,
    answered: {
      payments: load.payments.filter(({ id }) => id !== null).length,
      events: load.events.filter(({ id }) => id !== null).length,
      exchanges: load.tokens.length,
      revocations: load.revoked.length,
    },
    acceptedRevoked: load.acceptedRevoked,
    failures: stage.cluster.processes.flatMap(({ failure }) => failure ?? []),
  };
}

/** Returns a guarantee of every round, with the problems of all rounds. */
export function claimsOfRounds<Round extends { readonly name: string }>(
  rounds: readonly Round[],
  name: string,
  problemsIn: (round: Round) => readonly string[],
): Claim {
  const problems = rounds.flatMap((round) => problemsIn(round).map((problem) => `${round.name}: ${problem}`));
  return { name, problems };
}

/** Returns the guarantees of every failover with their results. */
export function claimsOfReport(
  { rounds, problems, isDrained, answered, acceptedRevoked, failures }: Awaited<ReturnType<typeof reportOf>>,
  limits: Limits,
): Claim[] {
  const of = (...kinds: readonly Problem['kind'][]) =>
    problems.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
  const { payments, events, exchanges, revocations } = answered;
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
    claim(
      'no revoked token is accepted',
      acceptedRevoked === 0,
      `${revocations} revoked, ${acceptedRevoked} accepted`,
    ),
    claimsOfRounds(rounds, 'every other answer is right, or 503 in time', ({ tally }) => [
      ...tally.wrong,
      ...(tally.slowestErrorMs > limits.errorMs
        ? [`an error took ${Math.round(tally.slowestErrorMs)} ms (${tally.slowestPath})`]
        : []),
    ]),
    claimsOfRounds(rounds, `every process works within ${limits.againMs} ms of the promotion`, (round) =>
      [round.webMs, round.deliveredMs]
        .filter((ms) => !(ms <= limits.againMs))
        .map((ms) => `after ${Math.round(ms)} ms`),
    ),
    { name: 'no process ended, or was started again', problems: failures },
  ];
}
