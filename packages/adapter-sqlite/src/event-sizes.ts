import type { EventSize, EventStore, Owner } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

function statementsOn(connection: Connection) {
  return {
    testPartners: connection.prepare<[{ after: string; limit: number }], { partner: string }>(`
      SELECT partner FROM event_sequences WHERE mode = 'test' AND partner > :after ORDER BY partner LIMIT :limit
    `),

    sizes: connection.prepare<[Owner & { before: number; limit: number }], EventSize>(`
      SELECT sequence, created_at AS createdAt,
        1 + (SELECT count(*) FROM deliveries WHERE event_number = event.number) + (
          SELECT count(*) FROM deliveries AS delivery
          CROSS JOIN delivery_attempts AS attempt ON attempt.delivery_number = delivery.number
          WHERE delivery.event_number = event.number
        ) AS rows,
        length(CAST(body AS BLOB)) + (
          SELECT ifnull(sum(length(CAST(final_response AS BLOB))), 0) FROM deliveries WHERE event_number = event.number
        ) + (
          SELECT ifnull(sum(length(CAST(attempt.response AS BLOB))), 0) FROM deliveries AS delivery
          CROSS JOIN delivery_attempts AS attempt ON attempt.delivery_number = delivery.number
          WHERE delivery.event_number = event.number
        ) AS bytes
      FROM events AS event
      WHERE partner = :partner AND mode = :mode AND sequence < :before
      ORDER BY sequence DESC LIMIT :limit
    `),

    oldest: connection.prepare<[Owner & { upTo: number; limit: number }], { number: number }>(`
      SELECT number FROM events
      WHERE partner = :partner AND mode = :mode AND sequence <= :upTo ORDER BY sequence LIMIT :limit
    `),
    // The attempts are removed with their delivery.
    deliveries: connection.prepare<[number]>('DELETE FROM deliveries WHERE event_number = ?'),
    event: connection.prepare<[number]>('DELETE FROM events WHERE number = ?'),
  };
}

/**
 * Creates the functions that list partners with test events, return sizes of events and remove the oldest.
 */
export function sqliteEventSizes(
  database: Database,
): Pick<EventStore, 'testPartners' | 'sizes' | 'removeOldest'> {
  const sql = database.prepare(statementsOn);

  return {
    testPartners: ({ after, limit }) =>
      database.read(() =>
        sql()
          .testPartners.all({ after, limit })
          .map(({ partner }) => partner),
      ),

    sizes: ({ partner, mode, before, limit }) =>
      database.read(() => sql().sizes.all({ partner, mode, before, limit })),

    removeOldest: ({ partner, mode, upTo, limit }) =>
      database.write(() => {
        const oldest = sql().oldest.all({ partner, mode, upTo, limit });
        let deliveries = 0;
        for (const { number } of oldest) {
          deliveries += sql().deliveries.run(number).changes;
          sql().event.run(number);
        }
        return { events: oldest.length, deliveries };
      }),
  };
}
