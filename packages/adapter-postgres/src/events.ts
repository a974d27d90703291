import type {
  EventFilter,
  EventRecord,
  EventStore,
  NewEvent,
  Owner,
  Publication,
} from '@ostiary/core/storage';
import { auditRowOf, postgresAudits } from './audit.ts';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isDataError } from './errors.ts';
import { eventColumns as columns, postgresEventLists } from './event-lists.ts';
import { nameOf } from './event-owners.ts';
import { postgresEventSizes } from './event-sizes.ts';
import { postgresHolders } from './holders.ts';
import { hostTransactions } from './host-transactions.ts';
import { postgresClaims } from './idempotency.ts';
import { postgresPublications } from './publications.ts';
import { prepared, statement } from './statement.ts';
import { lockTimeoutLeft, lockTimeoutOf, timeoutLeft } from './timeouts.ts';

/**
 * A row of a page of events, together with the sequence number of the oldest stored event and the last number
 * that was given out; `id` is `null` in the only row of an empty page.
 */
type ListedRow = { readonly oldest: number | null; readonly newest: number | null } & (
  | EventRecord
  | { readonly id: null }
);

export function postgresEvents(database: Database): EventStore {
  const { schema } = database;
  const audits = postgresAudits(database);
  const once = postgresClaims(database);
  const publications = postgresPublications(database);
  const holders = postgresHolders(database);
  const within = hostTransactions(database);
  const sql = {
    // One statement, so that no purge can happen in between.
    list: statement<Owner & { after: number; limit: number }, ListedRow>(`
      WITH page AS MATERIALIZED (
        SELECT ${columns} FROM ${schema}.events
        WHERE partner = :partner AND mode = :mode AND sequence > :after
        ORDER BY sequence LIMIT :limit
      )
      SELECT
        (SELECT min(sequence) FROM ${schema}.events WHERE partner = :partner AND mode = :mode) AS oldest,
        (SELECT last FROM ${schema}.event_sequences WHERE partner = :partner AND mode = :mode) AS newest, page.*
      FROM (SELECT) AS one LEFT JOIN page ON true
      ORDER BY page.sequence
    `),

    // OFFSET keeps PostgreSQL from reading the deliveries of all owners.
    latest: statement<EventFilter & { limit: number }, EventRecord>(`
      SELECT ${columns} FROM ${schema}.events
      WHERE partner = :partner AND mode = :mode AND sequence < coalesce(:before, 9223372036854775807)
        AND sequence > coalesce(:after, 0) AND (:type::text IS NULL OR type = :type)
        AND (:until::bigint IS NULL OR created_at <= :until)
        AND (:status::text IS NULL AND :endpointId::text IS NULL OR (:status::text IS DISTINCT FROM 'none') = EXISTS (
          SELECT FROM ${schema}.deliveries
          WHERE event_number = events.number AND (:endpointId::text IS NULL OR endpoint_id = :endpointId)
            AND (:status::text IS NULL OR :status = 'none'
              OR CASE :status WHEN 'failing' THEN failed_as ELSE status END = :status)
          OFFSET 0
        ))
      ORDER BY sequence DESC LIMIT :limit
    `),

    // The time is checked outside, because otherwise the query would read all older events. OFFSET as in `latest`.
    countUndelivered: statement<
      Owner & { since: number; limit: number },
      { readonly type: string; readonly count: number }
    >(`
      SELECT type, count(*) AS count
      FROM (
        SELECT number, type, created_at FROM ${schema}.events WHERE partner = :partner AND mode = :mode
        ORDER BY sequence DESC LIMIT :limit
      ) AS newest
      WHERE created_at >= :since AND NOT EXISTS (
        SELECT FROM ${schema}.deliveries WHERE event_number = newest.number OFFSET 0
      )
      GROUP BY type ORDER BY type
    `),

    find: prepared<Owner & { id: string }, EventRecord>(`
      SELECT ${columns} FROM ${schema}.events WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: prepared<{ id: string }, EventRecord>(`SELECT ${columns} FROM ${schema}.events WHERE id = :id`),
  };

  // Batched, because calls of one owner would wait for its sequence one after the other, each for a commit to
  // disk.
  const publishTogether = batchCalls<readonly NewEvent[], Publication>({
    keyOf: (events) => events.map(nameOf).join(),
    mayRetryAlone: isDataError,
    async make(group, waitedMs) {
      const lockTimeout = lockTimeoutOf(false, lockTimeoutLeft(waitedMs));
      await database.change(
        (connection) => publications.publish(connection, group.flat(), lockTimeout),
        timeoutLeft(waitedMs),
      );
      return group.map(() => ({ outcome: 'published' }));
    },
  });

  return {
    async publish(events, { idempotency, now, audit }) {
      // Copy the events, because the caller may change them while the call waits.
      const rows = events.map((event) => ({ ...event }));
      const act = auditRowOf(audit);
      if (idempotency === null && act === null) return publishTogether(rows);
      return once<Publication>(idempotency, now, async (connection) => {
        await publications.publish(connection, rows);
        await audits.store(connection, act);
        return { outcome: 'published' };
      });
    },

    within,

    partnersHolding: ({ sub, scope }) => database.read((connection) => holders(connection, { sub, scope })),

    list: ({ partner, mode, after, limit }) =>
      database.read(async (connection) => {
        const rows = await sql.list.all(connection, { partner, mode, after, limit });
        const events = rows.flatMap(({ oldest: _, newest: __, ...event }) =>
          event.id === null ? [] : event,
        );
        return { events, oldestSequence: rows[0]?.oldest ?? null, newestSequence: rows[0]?.newest ?? 0 };
      }),

    latest: ({ partner, mode, before, after, type, until, status, endpointId, limit }) =>
      database.all(sql.latest, { partner, mode, before, after, type, until, status, endpointId, limit }),

    countUndelivered: ({ partner, mode, since, limit }) =>
      database.all(sql.countUndelivered, { partner, mode, since, limit }),

    find: ({ partner, mode }, id) => database.get(sql.find, { partner, mode, id }),

    findById: (id) => database.get(sql.findById, { id }),

    ...postgresEventLists(database),
    ...postgresEventSizes(database),
  };
}
