import type { DeliveryResult, DeliveryStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** Creates the function that stores the results of claimed deliveries. */
export function postgresDeliveryResults(database: Database): Pick<DeliveryStore, 'finish'> {
  const finish = statement<{ readonly results: string }, { readonly place: number }>(`
    SELECT place FROM ${database.schema}.finish_deliveries(:results) AS refused (place)
  `);

  return {
    async finish(results) {
      if (results.length === 0) return [];
      const places = placesThatCount(results);
      const counted = results.map((_, place) => places.has(place));
      const rows = results.map(rowOf).filter(({ place }) => places.has(place));
      const batch = { results: JSON.stringify(rows) };
      const refused = await database.change((connection) => finish.all(connection, batch));
      for (const { place } of refused) counted[place] = false;
      return counted;
    },
  };
}

/**
 * Returns the positions of the delivery results to store. Of several results for one claimed delivery, only
 * the first is stored: after it the claim is no longer current.
 */
function placesThatCount(results: readonly DeliveryResult[]): ReadonlySet<number> {
  const first = new Map<string, number>();
  for (const [place, { id, claimId }] of results.entries()) {
    const claim = `${claimId.length} ${claimId}${id}`;
    if (!first.has(claim)) first.set(claim, place);
  }
  return new Set(first.values());
}

/** Converts the result of a delivery to its stored form. Missing members become NULL. */
function rowOf({ id, claimId, attempt, isCutOff, next }: DeliveryResult, place: number) {
  return {
    place,
    id,
    claim_id: claimId,
    status: next.status,
    due_at: next.status === 'pending' ? next.dueAt : undefined,
    attempt: attempt?.number,
    is_cut_off: isCutOff,
    at: attempt?.at,
    duration_ms: attempt?.durationMs,
    http_status: attempt?.httpStatus,
    error: attempt?.error,
    response: attempt?.response,
  };
}
