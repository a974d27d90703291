import type { EventSize, EventStore, Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

/** Numbers of locked events: consecutive ones from the beginning of their sequence. */
interface Held {
  readonly held: readonly number[];
}

function statementsIn(schema: string) {
  return {
    testPartners: statement<{ after: string; limit: number }, { partner: string }>(`
      SELECT partner FROM ${schema}.event_sequences
      WHERE mode = 'test' AND partner > :after ORDER BY partner LIMIT :limit
    `),

    // Event by event along the indexes: with a join, PostgreSQL would rather read the deliveries of all
    // partners.
    sizes: statement<Owner & { before: number; limit: number }, EventSize>(`
      WITH page AS MATERIALIZED (
        SELECT number, sequence, created_at, octet_length(body) AS bytes FROM ${schema}.events
        WHERE partner = :partner AND mode = :mode AND sequence < :before
        ORDER BY sequence DESC LIMIT :limit
      )
      SELECT sequence, created_at AS "createdAt",
        1 + coalesce(kept.rows, 0)::bigint AS rows, page.bytes + coalesce(kept.bytes, 0)::bigint AS bytes
      FROM page CROSS JOIN LATERAL (
        SELECT sum(1 + logged.rows) AS rows,
          sum(coalesce(octet_length(delivery.final_response), 0) + logged.bytes) AS bytes
        FROM ${schema}.deliveries AS delivery CROSS JOIN LATERAL (
          SELECT count(*) AS rows, coalesce(sum(octet_length(response)), 0) AS bytes
          FROM ${schema}.delivery_attempts WHERE delivery_number = delivery.number OFFSET 0
        ) AS logged
        WHERE delivery.event_number = page.number OFFSET 0
      ) AS kept
      ORDER BY sequence DESC
    `),

    // Once these rows are locked, no other transaction creates a delivery of these events.
    hold: statement<Owner & { upTo: number; limit: number }, Held>(`
      WITH oldest AS MATERIALIZED (
        SELECT number, sequence FROM ${schema}.events
        WHERE partner = :partner AND mode = :mode AND sequence <= :upTo
        ORDER BY sequence LIMIT :limit
      ), held AS MATERIALIZED (
        SELECT number FROM ${schema}.events WHERE number = ANY (ARRAY (SELECT number FROM oldest)) FOR UPDATE SKIP LOCKED
      ), first AS (
        SELECT number, bool_and(number IN (SELECT number FROM held)) OVER (ORDER BY sequence) AS is_held FROM oldest
      )
      SELECT ARRAY (SELECT number FROM first WHERE is_held) AS held
    `),

    pending: statement<Held>(`
      DELETE FROM ${schema}.pending_deliveries WHERE id = ANY (ARRAY (
        SELECT id FROM ${schema}.pending_deliveries
        WHERE id = ANY (ARRAY (SELECT id FROM ${schema}.deliveries WHERE event_number = ANY (:held)))
        ORDER BY id FOR UPDATE SKIP LOCKED
      ))
    `),

    // A pending delivery that another transaction has locked is still in the table of pending deliveries.
    deliveries: statement<Held>(`
      WITH ended AS MATERIALIZED (
        SELECT number FROM ${schema}.deliveries AS delivery
        WHERE event_number = ANY (:held)
          AND (SELECT 1 FROM ${schema}.pending_deliveries AS pending WHERE pending.id = delivery.id) IS NULL
        ORDER BY number FOR UPDATE SKIP LOCKED
      ), attempts AS (
        DELETE FROM ${schema}.delivery_attempts WHERE delivery_number = ANY (ARRAY (SELECT number FROM ended))
      )
      DELETE FROM ${schema}.deliveries WHERE number = ANY (ARRAY (SELECT number FROM ended))
    `),

    events: statement<Held>(`
      WITH first AS MATERIALIZED (
        SELECT number, bool_and(
          (SELECT 1 FROM ${schema}.deliveries WHERE event_number = event.number LIMIT 1) IS NULL
        ) OVER (ORDER BY sequence) AS can_go
        FROM ${schema}.events AS event WHERE number = ANY (:held)
      )
      DELETE FROM ${schema}.events WHERE number = ANY (ARRAY (SELECT number FROM first WHERE can_go))
    `),
  };
}

/**
 * Creates the functions that list partners with test events, return sizes of events and remove the oldest.
 */
export function postgresEventSizes(
  database: Database,
): Pick<EventStore, 'testPartners' | 'sizes' | 'removeOldest'> {
  const sql = statementsIn(database.schema);

  return {
    async testPartners({ after, limit }) {
      const rows = await database.all(sql.testPartners, { after, limit });
      return rows.map(({ partner }) => partner);
    },

    sizes: ({ partner, mode, before, limit }) => database.all(sql.sizes, { partner, mode, before, limit }),

    removeOldest: ({ partner, mode, upTo, limit }) =>
      database.write(async (connection) => {
        const choice = await sql.hold.get(connection, { partner, mode, upTo, limit });
        if (choice === undefined || choice.held.length === 0) return { events: 0, deliveries: 0 };
        await sql.pending.run(connection, choice);
        const deliveries = await sql.deliveries.run(connection, choice);
        return { events: await sql.events.run(connection, choice), deliveries };
      }, longTimeoutMs),
  };
}
