import type { Hold } from '../../support/measure/claim-records.ts';
import { drained, publish, type Stage } from '../../support/processes/stage.ts';
import type { Claim } from '../../support/proof.ts';
import { race } from './race.ts';

interface LoggedDelivery {
  readonly id: string;
  readonly status: string;
  readonly event: string;
  readonly path: string;
  readonly attempts: readonly number[];
}

/** Number of the partner's endpoints, each of which gets every event. */
export const endpoints = 10;

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
 * Lets all workers process one backlog of deliveries, part of which needs a second attempt. Only one worker
 * at a time may hold a delivery.
 */
export function raceForDeliveries(
  stage: Stage,
  { runs, deliveries }: { readonly runs: number; readonly deliveries: number },
): Promise<Claim> {
  const { server, cluster, ostiary, receiver } = stage;
  const wanted = deliveries / endpoints;
  return race('deliveries', runs, async (expect) => {
    const events: { readonly id: string }[] = [];
    while (events.length < wanted)
      events.push(...(await publish(ostiary, Math.min(50, wanted - events.length))));
    await cluster.tellWorkers('startWorker');
    await drained(stage);
    await cluster.tellWorkers('stopWorker');
    const holds = await cluster.holds();
    const { rows } = await server.app.query<LoggedDelivery>(logged, [events.map(({ id }) => id)]);
    expect(rows.length === deliveries, `${rows.length} deliveries and not ${deliveries}`);
    for (const problem of [...overlaps(holds), ...mismatches(rows, holds)]) expect(false, problem);
    const uncertain = new Set(
      holds.filter(({ counted }) => counted !== true).map(({ delivery }) => delivery),
    );
    for (const { id, event, path, attempts } of rows) {
      const { accepted = 0, attempts: arrived = [] } = receiver.of(path, event) ?? {};
      const isOnce = accepted === 1 && arrived.join() === attempts.join();
      expect(uncertain.has(id) ? accepted > 0 : isOnce, `${id}: ${arrived} arrived, ${accepted} accepted`);
    }
    return {
      deliveries,
      attempts: holds.length,
      'of them anew, because a result could not be written': uncertain.size,
    };
  });
}

/** Finds deliveries that a worker claimed while a worker (the same or another) certainly held them. */
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

/**
 * Finds differences between the logged attempts and the workers' claims of deliveries: each claim must be one
 * attempt, logged once and numbered from 1. A claim without a known result may lack its attempt.
 */
function mismatches(log: readonly LoggedDelivery[], holds: readonly Hold[]): string[] {
  const held = Map.groupBy(holds, ({ delivery }) => delivery);
  return log.flatMap(({ id, status, attempts }) => {
    const own = held.get(id) ?? [];
    // Deliveries that were released without an attempt have no log entry.
    const numbers = own.flatMap(({ attempt, isHandedBack }) => (isHandedBack ? [] : [attempt]));
    const isKnown = own.every(({ counted }) => counted);
    const isLogged = attempts.every((number, index) =>
      isKnown ? number === index + 1 : number > (attempts[index - 1] ?? 0),
    );
    return [
      ...(status === 'delivered' ? [] : [`${id} is ${status}`]),
      ...(isLogged ? [] : [`${id}: attempts ${attempts}`]),
      // If the result could not be written because the database was too slow, the attempt may be logged or
      // not.
      ...(!isKnown || numbers.toSorted().join() === attempts.join()
        ? []
        : [`${id}: held for attempts ${numbers}, logged ${attempts}`]),
    ];
  });
}
