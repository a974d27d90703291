import type { DeliveryStore } from '@ostiary/core/storage';
import { type ClaimedRow, claimedBy } from './claimed-rows.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

interface Request {
  readonly claimId: string;
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly limit: number;
  readonly endpointLimit: number;
  /**
   * JSON object with the number of deliveries that may be claimed for each endpoint with a limit of its own.
   */
  readonly endpointLimits: string;
  readonly freeLive: number | null;
  readonly freeTest: number | null;
  /**
   * JSON object with the number of further deliveries that this claim may take for each partner and mode that
   * holds places already.
   */
  readonly most: string;
}

/**
 * Creates the function that claims deliveries. `sql/functions/claim_deliveries.sql` explains how it finds
 * them and divides the places among partners.
 */
export function postgresDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim'> {
  const claim = statement<Request, ClaimedRow>(`
    SELECT * FROM ${database.schema}.claim_deliveries(
      :claimId, :now, :leaseEndsAt, :limit, :endpointLimit, :endpointLimits, :freeLive, :freeTest, :most
    )
  `);

  return {
    async claim({ claimId, now, leaseMs, limit, endpointLimit, endpointLimits, shares }) {
      const request = {
        ...{ claimId, now, leaseEndsAt: now + leaseMs, limit, endpointLimit },
        endpointLimits: JSON.stringify(Object.fromEntries(endpointLimits)),
        freeLive: shares?.free.live ?? null,
        freeTest: shares?.free.test ?? null,
        most: JSON.stringify(Object.fromEntries(shares?.most ?? [])),
      };
      const rows = await database.changeUnsynced((connection) => claim.all(connection, request));
      return claimedBy(claimId, rows);
    },
  };
}
