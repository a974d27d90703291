import type { AttemptRecord, ClaimedDelivery, DeliveryResult, DeliveryStore } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

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

// For the pluses, see `findToken` in grants.ts.
function claimsOn(connection: Connection) {
  return {
    // All of them: those without room are known to the caller only.
    dueEndpoints: connection.prepare<[now: number], { endpointId: string }>(`
      SELECT endpoint_id AS endpointId FROM endpoint_queues
      WHERE next_due <= +? ORDER BY served_at, endpoint_id
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

    visit: connection.prepare<[{ endpointId: string; servedAt: number | null }]>(`
      UPDATE endpoint_queues SET
        served_at = coalesce(:servedAt, served_at),
        next_due = (SELECT min(ready_at) FROM deliveries WHERE status = 'pending' AND endpoint_id = +:endpointId)
      WHERE endpoint_id = +:endpointId
    `),

    dueAgain: connection.prepare<[{ endpointId: string; dueAt: number }]>(`
      UPDATE endpoint_queues SET next_due = :dueAt
      WHERE endpoint_id = :endpointId AND (next_due IS NULL OR next_due > :dueAt)
    `),
  };
}

function resultsOn(connection: Connection) {
  return {
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
    handBack: connection.prepare<
      [Pick<ResultRow, 'id' | 'claimId' | 'status' | 'dueAt'> & { logged: number }],
      { deliveryNumber: number; endpointId: string }
    >(`
        UPDATE deliveries SET
          status = :status, claim_id = NULL, attempts = attempts + :logged,
          due_at = coalesce(:dueAt, due_at), ready_at = coalesce(:dueAt, ready_at),
          ended_at = CASE WHEN :status <> 'pending' THEN due_at END
        WHERE id = +:id AND claim_id = +:claimId AND status = 'pending'
        RETURNING number AS deliveryNumber, endpoint_id AS endpointId
      `),

    log: connection.prepare<[AttemptRecord & { deliveryNumber: number }]>(`
      INSERT INTO delivery_attempts (delivery_number, number, at, duration_ms, http_status, error, response)
      VALUES (:deliveryNumber, :number, :at, :durationMs, :httpStatus, :error, :response)
    `),
  };
}

/** The worker's hold on deliveries. */
export function sqliteDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim' | 'finish'> {
  const sql = database.prepare((connection) => ({ ...claimsOn(connection), ...resultsOn(connection) }));

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
    const back = sql().handBack.get({ id, claimId, status, dueAt, logged });
    if (back === undefined) return false;
    const { deliveryNumber, endpointId } = back;
    if (attempt !== null) sql().log.run({ ...attempt, deliveryNumber });
    if (dueAt !== null) sql().dueAgain.run({ endpointId, dueAt });
    return true;
  }

  return {
    async claim({ claimId, now, leaseMs, limit, room, rooms }) {
      const roomOf = new Map(rooms);
      // Results that never came would stay for ever.
      if (numbers.size > maxNumbers) numbers.clear();
      return await database.write(() => {
        const claimed: ClaimedDelivery[] = [];
        for (const { endpointId } of sql().dueEndpoints.all(now)) {
          const free = Math.min(roomOf.get(endpointId) ?? room, limit - claimed.length);
          const target = free > 0 ? sql().target.get(endpointId) : undefined;
          if (target === undefined) continue;
          const rows = sql().due.all({ endpointId, now, limit: free });
          for (const { number, ...row } of rows) {
            numbers.set(row.id, number);
            claimed.push({ ...row, ...target, claimId, endpointId });
          }
          const held = JSON.stringify(rows.map(({ number }) => number));
          sql().claim.run(claimId, now + leaseMs, held);
          sql().visit.run({ endpointId, servedAt: rows.length > 0 ? now : null });
        }
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
