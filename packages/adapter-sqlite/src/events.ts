import type { EventFilter, EventRecord, EventStore, Owner, Publication } from '@ostiary/core/storage';
import { auditRowOf, sqliteAudits } from './audit.ts';
import type { Database } from './database.ts';
import { eventColumns as columns, sqliteEventLists } from './event-lists.ts';
import { sqliteEventSizes } from './event-sizes.ts';
import { holdersOn } from './holders.ts';
import { hostTransactions } from './host-transactions.ts';
import { sqliteClaims } from './idempotency.ts';
import { publicationsOn } from './publications.ts';

/** Parameters of the SQL statement that {@link latestWhere} builds. */
interface LatestRow extends Omit<EventFilter, 'status'> {
  readonly status: string | null;
  /**
   * Filter of events by their deliveries: 1 selects events with a delivery that has the filter's status and
   * endpoint, 0 selects events without any delivery to the filter's endpoint, or to any endpoint if the
   * filter names none, and `null` selects all events.
   */
  readonly delivery: 0 | 1 | null;
  readonly limit: number;
}

const latestWhere = (condition: string) => `
  SELECT ${columns} FROM events
  WHERE partner = :partner AND mode = :mode AND ${condition}
    AND sequence < ifnull(:before, 9223372036854775807) AND sequence > ifnull(:after, 0)
    AND (:until IS NULL OR created_at <= :until)
    AND (:delivery IS NULL OR :delivery = EXISTS (
      SELECT 1 FROM deliveries INDEXED BY deliveries_by_event
      WHERE event_number = events.number
        AND (:endpointId IS NULL OR endpoint_id = :endpointId) AND (:status IS NULL OR iif(:status = 'failing', failed_as, status) = :status)
    ))
  ORDER BY sequence DESC LIMIT :limit
`;

/** Returns the value of {@link LatestRow.delivery} for a filter of events. */
function deliveryOf({ status, endpointId }: Pick<EventFilter, 'status' | 'endpointId'>): 0 | 1 | null {
  if (status === 'none') return 0;
  return status === null && endpointId === null ? null : 1;
}

export function sqliteEvents(database: Database): EventStore {
  const audits = sqliteAudits(database);
  const claims = sqliteClaims(database);
  const publications = database.prepare(publicationsOn);
  const holders = database.prepare(holdersOn);
  const within = hostTransactions(database);
  const sql = database.prepare((connection) => ({
    list: connection.prepare<[Owner & { after: number; limit: number }], EventRecord>(`
      SELECT ${columns} FROM events
      WHERE partner = :partner AND mode = :mode AND sequence > :after
      ORDER BY sequence LIMIT :limit
    `),

    latest: connection.prepare<[LatestRow], EventRecord>(latestWhere('true')),
    latestOfType: connection.prepare<[LatestRow], EventRecord>(latestWhere('type = :type')),

    oldest: connection.prepare<[Owner], { oldest: number | null }>(`
      SELECT min(sequence) AS oldest FROM events WHERE partner = :partner AND mode = :mode
    `),

    newest: connection.prepare<[Owner], { newest: number }>(`
      SELECT last AS newest FROM event_sequences WHERE partner = :partner AND mode = :mode
    `),

    // The time is checked outside, because otherwise the query would read all older events.
    countUndelivered: connection.prepare<
      [Owner & { since: number; limit: number }],
      { type: string; count: number }
    >(`
      SELECT type, count(*) AS count
      FROM (
        SELECT number, type, created_at FROM events WHERE partner = :partner AND mode = :mode
        ORDER BY sequence DESC LIMIT :limit
      ) AS newest
      WHERE created_at >= :since AND NOT EXISTS (
        SELECT 1 FROM deliveries INDEXED BY deliveries_by_event WHERE event_number = newest.number
      )
      GROUP BY type ORDER BY type
    `),

    find: connection.prepare<[Owner & { id: string }], EventRecord>(`
      SELECT ${columns} FROM events WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: connection.prepare<[string], EventRecord>(`SELECT ${columns} FROM events WHERE id = ?`),
  }));

  return {
    async publish(events, { idempotency, now, audit }) {
      const rows = events.map((event) => ({ ...event }));
      const act = auditRowOf(audit);
      return claims.once<Publication>(idempotency, now, () => {
        publications().publish(rows);
        audits.store(act);
        return { outcome: 'published' };
      });
    },

    within,

    partnersHolding: ({ sub, scope }) => database.read(() => holders()({ sub, scope })),

    list: ({ partner, mode, after, limit }) =>
      database.read((connection) =>
        // In one transaction, because another process may publish between the statements.
        connection.transaction(() => ({
          events: sql().list.all({ partner, mode, after, limit }),
          oldestSequence: sql().oldest.get({ partner, mode })?.oldest ?? null,
          newestSequence: sql().newest.get({ partner, mode })?.newest ?? 0,
        }))(),
      ),

    latest: ({ partner, mode, before, after, type, until, status, endpointId, limit }) =>
      database.read(() =>
        sql()[type === null ? 'latest' : 'latestOfType'].all({
          ...{ partner, mode, before, after, type, until, endpointId, limit },
          delivery: deliveryOf({ status, endpointId }),
          status: status === 'none' ? null : status,
        }),
      ),

    countUndelivered: ({ partner, mode, since, limit }) =>
      database.read(() => sql().countUndelivered.all({ partner, mode, since, limit })),

    find: ({ partner, mode }, id) => database.read(() => sql().find.get({ partner, mode, id }) ?? null),

    findById: (id) => database.read(() => sql().findById.get(id) ?? null),

    ...sqliteEventLists(database),
    ...sqliteEventSizes(database),
  };
}
