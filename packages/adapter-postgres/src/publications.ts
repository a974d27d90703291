import type { NewEvent, Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { postgresEventOwners } from './event-owners.ts';
import { type Connection, prepared } from './statement.ts';

/** A delivery that is about to be stored, due now. */
export interface NewDelivery {
  readonly id: string;
  readonly eventNumber: number;
  readonly endpointId: string;
}

/** The end of a statement that stores the deliveries of `fresh`, which are due when they are made. */
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

/** The outbox, inside a transaction that is under way, of ours or of the host's. */
export function postgresPublications({ schema }: Pick<Database, 'schema'>) {
  const owners = postgresEventOwners({ schema });
  const wants = (type: string) => `webhook_endpoints.events && ARRAY['*', ${type}]`;

  /** Nothing is delivered to a partner that is disabled. Whoever disables one writes the rows of its sequences first. */
  const isDelivered = (partner: string) =>
    `NOT EXISTS (SELECT FROM ${schema}.partners WHERE slug = ${partner} AND disabled_at IS NOT NULL)`;

  // Rows are numbered in the order of the call, and within an event in the order of the endpoints' ids.
  const insert = prepared<{ readonly events: string }>(`
    WITH published AS MATERIALIZED (
      SELECT * FROM json_to_recordset(:events::json) AS published (
        place integer, id text, partner text, mode text, sequence bigint, type text, body text,
        "createdAt" bigint, "deliveryId" text
      )
    ),
    stored AS (
      INSERT INTO ${schema}.events (id, partner, mode, sequence, type, body, created_at)
      SELECT id, partner, mode, sequence, type, body, "createdAt" FROM published ORDER BY place
      RETURNING number, id
    ),
    fresh AS (
      SELECT
        "deliveryId" || '_' || row_number() OVER (PARTITION BY place ORDER BY webhook_endpoints.id) AS id,
        stored.number AS event_number, webhook_endpoints.id AS endpoint_id, published.partner, published.mode,
        "createdAt" AS created_at, row_number() OVER (ORDER BY place, webhook_endpoints.id) AS place
      FROM published
      JOIN stored ON stored.id = published.id
      JOIN ${schema}.webhook_endpoints
        ON webhook_endpoints.partner = published.partner AND webhook_endpoints.mode = published.mode
      WHERE enabled AND ${wants('published.type')} AND ${isDelivered('published.partner')}
    ),
    ${insertFresh(schema)}
  `);

  const matching = prepared<Owner & { readonly type: string }, { readonly id: string }>(`
    SELECT id FROM ${schema}.webhook_endpoints
    WHERE partner = :partner AND mode = :mode AND enabled AND ${wants(':type')} AND ${isDelivered(':partner')}
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
    /** Stores events and their deliveries. */
    async publish(connection: Connection, events: readonly NewEvent[]): Promise<void> {
      if (events.length === 0) return;
      const sequences = await owners.nextSequences(connection, events);
      const rows = events.map((event, place) => ({ ...event, place, sequence: sequences[place] }));
      await insert.run(connection, { events: JSON.stringify(rows) });
    },

    /** Ids of the enabled endpoints of a partner and mode that want events of this type, in their order. */
    async matchingEndpoints(
      connection: Connection,
      request: Owner & { readonly type: string },
    ): Promise<string[]> {
      return (await matching.all(connection, request)).map(({ id }) => id);
    },

    /** Stores deliveries of one owner, in this order. */
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
