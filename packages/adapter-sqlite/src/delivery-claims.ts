import type {
  AttemptRecord,
  ClaimedDelivery,
  DeliveryResult,
  DeliveryStore,
  OwnerName,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { shareOfOwners } from './shares.ts';

type Target = Pick<ClaimedDelivery, 'url' | 'sealedSecret'>;
type DueRow = Omit<ClaimedDelivery, 'claimId' | 'endpointId' | keyof Target> & { readonly number: number };
/** Columns of a delivery with the attempt that ended it. */
type FinalAttempt = { readonly [Field in keyof Omit<AttemptRecord, 'number'>]: AttemptRecord[Field] | null };
type Result = FinalAttempt &
  Pick<DeliveryResult, 'id' | 'claimId'> & {
    readonly status: DeliveryResult['next']['status'];
    readonly dueAt: number | null;
    readonly logged: number;
    readonly cutOff: number;
  };

const noAttempt: FinalAttempt = { at: null, durationMs: null, httpStatus: null, error: null, response: null };

// Creates the statements for claims. The plus signs are explained at `findToken` in grants.ts.
function claimsOn(connection: Connection) {
  return {
    // Returns all endpoints that may have due deliveries, test mode last, because only the caller knows which
    // have free places.
    dueEndpoints: connection.prepare<[now: number], Target & { endpointId: string; owner: OwnerName }>(`
      SELECT endpoint_id AS endpointId, mode || ':' || partner AS owner, url, sealed_secret AS sealedSecret
      FROM endpoint_queues CROSS JOIN webhook_endpoints ON id = endpoint_id
      WHERE next_due <= +? ORDER BY mode = 'test', served_at, endpoint_id
    `),

    due: connection.prepare<[{ endpointId: string; now: number; limit: number }], DueRow>(`
      SELECT
        deliveries.number AS number, deliveries.id AS id, deliveries.partner AS partner,
        deliveries.mode AS mode, events.id AS eventId, type AS eventType, body, traceparent,
        attempts + (claim_id IS NOT NULL) + 1 AS attempt, attempts - cut_off AS failures, due_at AS dueAt
      FROM deliveries CROSS JOIN events ON events.number = event_number
      WHERE status = 'pending' AND endpoint_id = +:endpointId AND ready_at <= +:now
      ORDER BY ready_at, deliveries.number LIMIT +:limit
    `),

    // A delivery that already has a claim was claimed by a worker that stored no result: its attempt counts
    // as cut off.
    claim: connection.prepare<[claimId: string, leaseEndsAt: number, numbers: string]>(`
      UPDATE deliveries SET
        attempts = attempts + (claim_id IS NOT NULL), cut_off = cut_off + (claim_id IS NOT NULL),
        claim_id = ?, ready_at = ?
      WHERE number IN (SELECT value FROM json_each(?))
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
    // A delivery that stays pending gets a new due time. If the attempt ended the delivery, its row holds the
    // attempt.
    end: connection.prepare<[Result], { deliveryNumber: number; endpointId: string; attempts: number }>(`
      UPDATE deliveries SET
        status = :status, claim_id = NULL, attempts = attempts + :logged, cut_off = cut_off + :cutOff,
        due_at = coalesce(:dueAt, due_at), ready_at = coalesce(:dueAt, ready_at),
        ended_at = CASE WHEN :status <> 'pending' THEN coalesce(:at + :durationMs, due_at) END,
        final_at = :at, final_duration_ms = :durationMs, final_http_status = :httpStatus,
        final_error = :error, final_response = :response
      WHERE id = +:id AND claim_id = +:claimId AND status = 'pending'
      RETURNING number AS deliveryNumber, endpoint_id AS endpointId, attempts
    `),

    log: connection.prepare<[AttemptRecord & { deliveryNumber: number }]>(`
      INSERT INTO delivery_attempts (delivery_number, number, at, duration_ms, http_status, error, response)
      VALUES (:deliveryNumber, :number, :at, :durationMs, :httpStatus, :error, :response)
    `),

    fail: connection.prepare<[AttemptRecord & { endpointId: string }]>(`
      INSERT INTO endpoint_failures (endpoint_id, since, at, http_status, error)
      VALUES (:endpointId, :at, :at, :httpStatus, :error)
      ON CONFLICT (endpoint_id) DO UPDATE SET
        since = coalesce(since, excluded.since), at = excluded.at, http_status = excluded.http_status,
        error = excluded.error
    `),

    recover: connection.prepare<[{ endpointId: string }]>(`
      UPDATE endpoint_failures SET since = NULL
      WHERE endpoint_id = :endpointId AND since IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
        WHERE endpoint_id = :endpointId AND failed_as = 'failing'
      )
    `),
  };
}

/** Creates the functions that claim deliveries and store the results. */
export function sqliteDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim' | 'finish'> {
  const sql = database.prepare((connection) => ({ ...claimsOn(connection), ...resultsOn(connection) }));

  /**
   * Stores the result of a claimed delivery. Returns whether the claim was current. @throws Error if the
   * delivery does not have as many attempts as the number of this attempt says
   */
  function finish({ id, claimId, attempt, isCutOff, next }: DeliveryResult): boolean {
    const isFinal = next.status !== 'pending';
    const dueAt = next.status === 'pending' ? next.dueAt : null;
    const logged = attempt === null ? 0 : 1;
    const final = isFinal && attempt !== null ? attempt : noAttempt;
    const cutOff = isCutOff ? logged : 0;
    const ended = sql().end.get({ ...final, id, claimId, status: next.status, dueAt, logged, cutOff });
    if (ended === undefined) return false;
    const { deliveryNumber, endpointId, attempts } = ended;
    if (attempt !== null && attempts !== attempt.number)
      throw new Error(`${id} has other attempts than those before number ${attempt.number}`);
    if (attempt !== null && !isFinal) sql().log.run({ ...attempt, deliveryNumber });
    if (dueAt !== null) sql().dueAgain.run({ endpointId, dueAt });
    // An attempt that was cut off says nothing about the endpoint.
    if (attempt === null || isCutOff) return true;
    if (next.status === 'delivered') sql().recover.run({ endpointId });
    else sql().fail.run({ ...attempt, endpointId });
    return true;
  }

  return {
    async claim({ claimId, now, leaseMs, limit, endpointLimit, endpointLimits, shares }) {
      const limitOf = new Map(endpointLimits);
      return await database.write(() => {
        const claimed: ClaimedDelivery[] = [];
        const endpoints = sql().dueEndpoints.all(now);
        const shareOfOwner = shareOfOwners([...new Set(endpoints.map(({ owner }) => owner))], shares);
        const takenOf = new Map<OwnerName, number>();
        for (const { endpointId, owner, ...target } of endpoints) {
          const taken = takenOf.get(owner) ?? 0;
          const limitOfEndpoint = limitOf.get(endpointId) ?? endpointLimit;
          const free = Math.min(limitOfEndpoint, shareOfOwner(owner) - taken, limit - claimed.length);
          if (free <= 0) continue;
          const rows = sql().due.all({ endpointId, now, limit: free });
          takenOf.set(owner, taken + rows.length);
          for (const { number: _, ...row } of rows) claimed.push({ ...row, ...target, claimId, endpointId });
          const held = JSON.stringify(rows.map(({ number }) => number));
          sql().claim.run(claimId, now + leaseMs, held);
          sql().visit.run({ endpointId, servedAt: rows.length > 0 ? now : null });
        }
        return claimed;
      });
    },

    async finish(results) {
      const copies = results.map((result) => ({
        ...result,
        attempt: result.attempt && { ...result.attempt },
        next: { ...result.next },
      }));
      return await database.write(() => copies.map(finish));
    },
  };
}
