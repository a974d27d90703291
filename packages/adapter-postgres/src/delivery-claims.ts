import type { DeliveryStore } from '@ostiary/core/storage';
import { type ClaimedRow, claimedBy } from './claimed-rows.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

interface Request {
  readonly claimId: string;
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly limit: number;
  readonly room: number;
  /** A JSON object: which endpoints have room for how many. */
  readonly rooms: string;
}

/** Claims deliveries. How a claim finds them stands beside `claim_deliveries` in sql/0002_functions.sql. */
export function postgresDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim'> {
  const claim = statement<Request, ClaimedRow>(`
    SELECT * FROM ${database.schema}.claim_due_deliveries(:claimId, :now, :leaseEndsAt, :limit, :room, :rooms)
  `);

  return {
    async claim({ claimId, now, leaseMs, limit, room, rooms }) {
      const request = { claimId, now, leaseEndsAt: now + leaseMs, limit, room };
      const named = JSON.stringify(Object.fromEntries(rooms));
      const rows = await database.changeUnsynced((connection) =>
        claim.all(connection, { ...request, rooms: named }),
      );
      return claimedBy(claimId, rows);
    },
  };
}
