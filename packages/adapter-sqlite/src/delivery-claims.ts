import type { AttemptRecord, ClaimedDelivery, DeliveryResult, DeliveryStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

/** A part of the circle of endpoints: after one, up to and including another. */
interface Walk {
  readonly after: string;
  readonly until: string | null;
  readonly now: number;
  readonly limit: number;
}
type Target = Pick<ClaimedDelivery, 'url' | 'sealedSecret'>;
type DueRow = Omit<ClaimedDelivery, 'claimId' | 'endpointId' | keyof Target> & { readonly number: number };
interface ResultRow {
  readonly id: string;
  readonly claimId: string;
  readonly attempt: AttemptRecord | null;
  readonly status: DeliveryResult['next']['status'];
  readonly dueAt: number | null;
}

const maxNumbers = 100_000;

/** The worker's hold on deliveries. */
export function sqliteDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim' | 'finish'> {
  // For the pluses, see `findToken` in grants.ts.
  const sql = database.prepare((connection) => ({
    // Jumps from endpoint to endpoint along the index of what is pending, and looks at the first delivery of each:
    // however many an endpoint has, they are not read here.
    dueEndpoints: connection.prepare<[Walk], { endpointId: string }>(`
      WITH RECURSIVE walk (endpoint_id) AS (
        SELECT min(endpoint_id) FROM deliveries WHERE status = 'pending' AND endpoint_id > +:after
        UNION ALL
        SELECT (
          SELECT min(endpoint_id) FROM deliveries
          WHERE status = 'pending' AND deliveries.endpoint_id > walk.endpoint_id
        )
        FROM walk WHERE walk.endpoint_id IS NOT NULL AND (+:until IS NULL OR walk.endpoint_id < +:until)
      )
      SELECT endpoint_id AS endpointId FROM walk
      WHERE endpoint_id IS NOT NULL AND (+:until IS NULL OR endpoint_id <= +:until)
        AND (
          SELECT min(ready_at) FROM deliveries
          WHERE status = 'pending' AND deliveries.endpoint_id = walk.endpoint_id
        ) <= +:now
      LIMIT +:limit
    `),

    due: connection.prepare<[{ endpointId: string; now: number; limit: number }], DueRow>(`
      SELECT
        deliveries.number AS number, deliveries.id AS id, deliveries.partner AS partner,
        deliveries.mode AS mode, events.id AS eventId, type AS eventType, body, attempts + 1 AS attempt,
        due_at AS dueAt
      FROM deliveries CROSS JOIN events ON events.number = event_number
      WHERE status = 'pending' AND endpoint_id = +:endpointId AND ready_at <= +:now
      ORDER BY ready_at, deliveries.number LIMIT +:limit
    `),

    target: connection.prepare<[string], Target>(`
      SELECT url, sealed_secret AS sealedSecret FROM webhook_endpoints WHERE id = ?
    `),

    claim: connection.prepare<[claimId: string, leaseEndsAt: number, numbers: string]>(`
      UPDATE deliveries SET claim_id = ?, ready_at = ? WHERE number IN (SELECT value FROM json_each(?))
    `),

    // How nearly every attempt ends: one statement, in which nothing depends on a parameter's value.
    end: connection.prepare<
      [
        status: string,
        endedAt: number,
        at: number,
        durationMs: number,
        httpStatus: number | null,
        error: string | null,
        response: string | null,
        number: number,
        claimId: string,
        attempts: number,
      ]
    >(`
      UPDATE deliveries SET
        status = ?, claim_id = NULL, attempts = attempts + 1, ended_at = ?,
        final_at = ?, final_duration_ms = ?, final_http_status = ?, final_error = ?, final_response = ?
      WHERE number = ? AND claim_id = +? AND status = 'pending' AND attempts = +?
    `),

    numberOf: connection.prepare<[string], number>('SELECT number FROM deliveries WHERE id = ?').pluck(),

    isHeld: connection
      .prepare<[number: number, claimId: string], 1>(`
        SELECT 1 FROM deliveries WHERE number = ? AND claim_id = +? AND status = 'pending'
      `)
      .pluck(),

    // What is pending again is due at another time; what is final was due when it was.
    handBack: connection
      .prepare<[Pick<ResultRow, 'id' | 'claimId' | 'status' | 'dueAt'> & { logged: number }], number>(`
        UPDATE deliveries SET
          status = :status, claim_id = NULL, attempts = attempts + :logged,
          due_at = coalesce(:dueAt, due_at), ready_at = coalesce(:dueAt, ready_at),
          ended_at = CASE WHEN :status <> 'pending' THEN due_at END
        WHERE id = +:id AND claim_id = +:claimId AND status = 'pending'
        RETURNING number
      `)
      .pluck(),

    log: connection.prepare<[AttemptRecord & { deliveryNumber: number }]>(`
      INSERT INTO delivery_attempts (delivery_number, number, at, duration_ms, http_status, error, response)
      VALUES (:deliveryNumber, :number, :at, :durationMs, :httpStatus, :error, :response)
    `),
  }));

  /**
   * Endpoints with something due, in turn. Only those that a claim names can be without room, so that a limit
   * which leaves space for them is enough.
   */
  function dueEndpoints({
    after,
    ...walk
  }: Pick<Walk, 'now' | 'limit'> & { after: string | null }): string[] {
    const found = sql().dueEndpoints.all({ ...walk, after: after ?? '', until: null });
    if (after !== null && found.length < walk.limit) {
      found.push(...sql().dueEndpoints.all({ ...walk, after: '', until: after }));
    }
    return found.map(({ endpointId }) => endpointId);
  }

  /** Rows of deliveries that were claimed here: the id is looked up only for those that were not. */
  const numbers = new Map<string, number>();

  /** @throws Error when an attempt of this number is logged already */
  function end(attempt: AttemptRecord, { id, claimId, status }: ResultRow): boolean {
    const number = numbers.get(id) ?? sql().numberOf.get(id);
    if (number === undefined) return false;
    const { at, durationMs, httpStatus, error, response } = attempt;
    const values = [at + durationMs, at, durationMs, httpStatus, error, response] as const;
    if (sql().end.run(status, ...values, number, claimId, attempt.number - 1).changes === 1) return true;
    if (sql().isHeld.get(number, claimId) === undefined) return false;
    throw new Error(`${id} has other attempts than those before number ${attempt.number}`);
  }

  function finish(row: ResultRow): boolean {
    const { attempt, id, claimId, status, dueAt } = row;
    if (attempt !== null && status !== 'pending') return end(attempt, row);
    const logged = attempt === null ? 0 : 1;
    const deliveryNumber = sql().handBack.get({ id, claimId, status, dueAt, logged });
    if (deliveryNumber === undefined) return false;
    if (attempt !== null) sql().log.run({ ...attempt, deliveryNumber });
    return true;
  }

  return {
    async claim({ claimId, now, leaseMs, limit, perEndpoint, slots, after }) {
      const free = new Map(slots);
      // Results that never came would stay for ever.
      if (numbers.size > maxNumbers) numbers.clear();
      return await database.write(() => {
        const found =
          perEndpoint > 0
            ? dueEndpoints({ after, now, limit: limit + free.size })
            : inTurn([...free.keys()], after);
        const claimed: ClaimedDelivery[] = [];
        const held: number[] = [];
        for (const endpointId of found) {
          const room = Math.min(free.get(endpointId) ?? perEndpoint, limit - claimed.length);
          const target = room > 0 ? sql().target.get(endpointId) : undefined;
          if (target === undefined) continue;
          const { url, sealedSecret } = target;
          for (const row of sql().due.all({ endpointId, now, limit: room })) {
            const { number, id, partner, mode, eventId, eventType, body, attempt, dueAt } = row;
            held.push(number);
            numbers.set(id, number);
            const delivery = { id, claimId, endpointId, partner, mode, eventId, eventType };
            claimed.push({ ...delivery, body, attempt, dueAt, url, sealedSecret });
          }
        }
        if (held.length > 0) sql().claim.run(claimId, now + leaseMs, JSON.stringify(held));
        return claimed;
      });
    },

    async finish(results) {
      const rows = results.map(resultRowOf);
      const written = await database.write(() => rows.map(finish));
      for (const { id } of rows) numbers.delete(id);
      return written;
    },
  };
}

function resultRowOf({ id, claimId, attempt, next }: DeliveryResult): ResultRow {
  return {
    id,
    claimId,
    attempt: attempt && { ...attempt },
    status: next.status,
    dueAt: next.status === 'pending' ? next.dueAt : null,
  };
}

/** Sorted, beginning after `after` and going round. */
function inTurn(endpointIds: string[], after: string | null): string[] {
  const sorted = endpointIds.sort();
  const isLater = (id: string) => after === null || id > after;
  return [...sorted.filter(isLater), ...sorted.filter((id) => !isLater(id))];
}
