import type { NewEvent, Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, prepared, statement } from './statement.ts';

/** A new webhook delivery to store, which is due now. */
export interface NewDelivery {
  readonly id: string;
  readonly eventNumber: number;
  readonly endpointId: string;
}

/** Builds the end of an SQL statement, which stores the deliveries of its subquery `fresh` as due now. */
export function insertFresh(schema: string): string {
  return `
    delivered AS (
      INSERT INTO ${schema}.deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT id, event_number, endpoint_id, partner, mode, 'pending', created_at FROM fresh ORDER BY place
      RETURNING id, number, endpoint_id, event_number, created_at
    )
    INSERT INTO ${schema}.pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, endpoint_id, event_number, created_at FROM delivered
  `;
}

/**
 * Creates the functions that store events and deliveries inside a transaction, for connections of the storage
 * and of the host application.
 */
export function postgresPublications({ schema }: Pick<Database, 'schema'>) {
  const publish = statement<{ readonly events: string; readonly lockTimeout: string | null }>(`
    SELECT FROM ${schema}.publish_events(:events, :lockTimeout)
  `);

  const matching = prepared<Owner & { readonly type: string }, { readonly id: string }>(`
    SELECT id FROM ${schema}.webhook_endpoints
    WHERE partner = :partner AND mode = :mode AND enabled AND events && ARRAY['*', :type]
      AND NOT EXISTS (SELECT FROM ${schema}.partners WHERE slug = :partner AND disabled_at IS NOT NULL)
    ORDER BY id
  `);

  const deliver = prepared<Owner & { readonly now: number; readonly deliveries: string }>(`
    WITH fresh AS (
      SELECT
        id, "eventNumber" AS event_number, "endpointId" AS endpoint_id, :partner AS partner, :mode AS mode,
        :now::bigint AS created_at, place
      FROM json_to_recordset(:deliveries::json)
        AS fresh (place integer, id text, "eventNumber" bigint, "endpointId" text)
    ),
    ${insertFresh(schema)}
  `);

  return {
    /**
     * Stores events and their deliveries, in one statement.
     * @param lockTimeout - longest wait for the sequences, as a value of `lock_timeout`; `null` keeps the transaction's
     */
    async publish(
      connection: Connection,
      events: readonly NewEvent[],
      lockTimeout: string | null = null,
    ): Promise<void> {
      if (events.length > 0) await publish.run(connection, { events: JSON.stringify(events), lockTimeout });
    },

    /**
     * Returns the ids of the endpoints to which an event goes: enabled, of this partner and mode, and
     * subscribed to the event's type, in the order of the ids. Returns none for a disabled partner.
     */
    async matchingEndpoints(
      connection: Connection,
      request: Owner & { readonly type: string },
    ): Promise<string[]> {
      return (await matching.all(connection, request)).map(({ id }) => id);
    },

    /** Stores deliveries of one partner and mode, in the given order. */
    async deliver(
      connection: Connection,
      deliveries: readonly NewDelivery[],
      owner: Owner & { readonly now: number },
    ): Promise<void> {
      if (deliveries.length === 0) return;
      const rows = deliveries.map((delivery, place) => ({ ...delivery, place }));
      await deliver.run(connection, { ...owner, deliveries: JSON.stringify(rows) });
    },
  };
}
