import type { Hold } from '../../support/measure/claim-records.ts';
import { delivered, publish, type Stage } from '../../support/processes/stage.ts';
import type { RaceReport } from './race.ts';

interface LoggedDelivery {
  readonly id: string;
  readonly status: string;
  readonly event: string;
  readonly path: string;
  readonly attempts: readonly number[];
}

const patienceMs = 180_000;

const logged = `
  SELECT deliveries.id, status, events.id AS event, regexp_replace(url, '^https?://[^/]*', '') AS path,
    coalesce((
      SELECT array_agg(attempts.number ORDER BY attempts.number) FROM (
        SELECT number FROM ostiary.delivery_attempts WHERE delivery_number = deliveries.number
        UNION ALL SELECT final_attempt WHERE final_attempt IS NOT NULL
      ) AS attempts
    ), '{}') AS attempts
  FROM ostiary.deliveries
  JOIN ostiary.events ON events.number = event_number
  JOIN ostiary.webhook_endpoints ON webhook_endpoints.id = endpoint_id
  WHERE events.id = ANY ($1)
`;

/**
 * All workers at once on one backlog, of which a part has to be tried twice: each delivery is in one pair of hands at a
 * time.
 */
export async function raceForDeliveries(
  stage: Stage,
  { runs, deliveries }: { readonly runs: number; readonly deliveries: number },
): Promise<RaceReport> {
  const { server, cluster, ostiary, receiver } = stage;
  const problems: string[] = [];
  const shares = cluster.workers.map(() => 0);
  let [claims, attempts, anew, handedBack, twice, milliseconds] = [0, 0, 0, 0, 0, 0];
  const { rows } = await server.app.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ostiary.webhook_endpoints WHERE mode = 'live'`,
  );
  const endpoints = rows[0]?.count ?? 1;
  for (let run = 0; run < runs; run += 1) {
    const events: { readonly id: string }[] = [];
    const wanted = deliveries / endpoints;
    while (events.length < wanted)
      events.push(...(await publish(ostiary, Math.min(50, wanted - events.length))));
    const started = performance.now();
    await cluster.tellWorkers('startWorker');
    await delivered(stage, patienceMs);
    milliseconds += performance.now() - started;
    await cluster.tellWorkers('stopWorker');
    const reports = await cluster.reports();
    for (const [index, { holds }] of reports.entries()) shares[index] = (shares[index] ?? 0) + holds.length;
    const holds = reports.flatMap((report) => report.holds);
    claims += reports.reduce((sum, report) => sum + report.claims.filter(({ count }) => count > 0).length, 0);
    attempts += holds.length;
    const log = await server.app.query<LoggedDelivery>(logged, [events.map(({ id }) => id)]);
    const heldTwice = overlaps(holds);
    twice += heldTwice.length;
    const uncertain = new Set(
      holds.filter(({ counted }) => counted !== true).map(({ delivery }) => delivery),
    );
    anew += uncertain.size;
    handedBack += holds.filter(({ isHandedBack }) => isHandedBack).length;
    const found = [
      ...(log.rows.length === deliveries ? [] : [`${log.rows.length} deliveries and not ${deliveries}`]),
      ...heldTwice,
      ...mismatches(log.rows, holds),
      ...log.rows.flatMap(({ id, event, path, attempts: numbers }) => {
        const arrived = receiver.of(path, event);
        const isOnce = arrived?.accepted === 1 && arrived.attempts.join() === numbers.join();
        const isRight = uncertain.has(id) ? (arrived?.accepted ?? 0) > 0 : isOnce;
        return isRight
          ? []
          : [`${id}: ${arrived?.attempts.join() ?? 'nothing'} arrived, ${arrived?.accepted} accepted`];
      }),
    ];
    problems.push(...found.map((problem) => `run ${run}: ${problem}`));
  }
  const isLarge = runs * deliveries >= 10_000;
  if (isLarge && shares.some((share) => share === 0))
    problems.push(`a worker had nothing to do: ${shares.join(', ')}`);
  const perSecond = Math.round((runs * deliveries * 1000) / milliseconds);
  return {
    name: 'deliveries',
    found:
      `${deliveries} over ${cluster.workers.length} workers: ${attempts} attempts in ${claims} claims, ${twice} held twice at a time, ` +
      `${anew} tried anew because a result could not be written, ${handedBack} handed back untried, ` +
      `shares ${shares.map((share) => `${Math.round((100 * share) / attempts)} %`).join(', ')}, ${perSecond}/s`,
    unavailable: 0,
    problems,
  };
}

/** Where a worker got a delivery while another one (or itself) held it for certain. */
function overlaps(holds: readonly Hold[]): string[] {
  const problems: string[] = [];
  for (const [delivery, own] of Map.groupBy(holds, (hold) => hold.delivery)) {
    const sorted = own.toSorted((a, b) => (BigInt(a.from) < BigInt(b.from) ? -1 : 1));
    for (const [index, next] of sorted.entries()) {
      const before = sorted[index - 1];
      if (before === undefined) continue;
      const isOver = before.to !== '' && BigInt(before.to) <= BigInt(next.from);
      if (!isOver) problems.push(`${delivery} was with ${before.worker} and given to ${next.worker}`);
      if (before.claim === next.claim) problems.push(`${delivery} was given twice to one claim`);
    }
  }
  return problems;
}

/** How often each value is there. */
function timesOf(values: readonly number[]): ReadonlyMap<number, number> {
  return new Map([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));
}

/** Whether each value is in `all` at least as often. */
function isPart(values: readonly number[], all: readonly number[]): boolean {
  const times = timesOf(all);
  return [...timesOf(values)].every(([value, count]) => count <= (times.get(value) ?? 0));
}

/**
 * Where the log says something else than the workers. What they know for certain is logged, once each and numbered from
 * 1; a result that could not be written, on a database that was too slow, may be logged or not.
 */
function mismatches(log: readonly LoggedDelivery[], holds: readonly Hold[]): string[] {
  const held = Map.groupBy(holds, ({ delivery }) => delivery);
  return log.flatMap(({ id, status, attempts }) => {
    // What was given back without an attempt has nothing to log.
    const own = (held.get(id) ?? []).filter(({ isHandedBack }) => !isHandedBack);
    const numbers = own.map(({ attempt }) => attempt);
    const certain = own.filter(({ counted }) => counted === true).map(({ attempt }) => attempt);
    const problems: string[] = [];
    if (status !== 'delivered') problems.push(`${id} is ${status}`);
    if (attempts.some((number, index) => number !== index + 1)) problems.push(`${id}: attempts ${attempts}`);
    if (!isPart(certain, attempts) || !isPart(attempts, numbers)) {
      problems.push(`${id}: held for attempts ${numbers}, logged ${attempts}`);
    }
    return problems;
  });
}
