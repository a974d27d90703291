import type { Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, prepared } from './statement.ts';

/**
 * The row of a sequence stands for everything that a partner has in one mode: whoever publishes, delivers again or
 * changes endpoints writes this row first, and has it to itself until its transaction ends. So numbers come in the
 * order of the commits and without a gap, nobody delivers to an endpoint that is just being disabled, and what is
 * counted stays as it is. Statements that depend on it have to come after it: they see what the one before did.
 *
 * The row is written and not only locked: a host's transaction with a snapshot of its own (REPEATABLE READ or
 * SERIALIZABLE) would otherwise not notice that it came too late, and is refused now.
 *
 * Locks are taken in this order, so that nobody waits in a circle: the record of an idempotency key, a transfer,
 * the sequences by partner and mode, the queues of endpoints by id, deliveries by number.
 */
export function postgresEventOwners({ schema }: Pick<Database, 'schema'>) {
  const advance = prepared<{ readonly owners: string }, Owner & { readonly last: number }>(`
    INSERT INTO ${schema}.event_sequences (partner, mode, last)
    SELECT partner, mode, sum(count) FROM json_to_recordset(:owners::json)
      AS owners (partner text, mode text, count bigint)
    GROUP BY partner, mode
    ORDER BY partner COLLATE "C", mode COLLATE "C"
    ON CONFLICT (partner, mode) DO UPDATE SET
      last = event_sequences.last + excluded.last, news = event_sequences.news + 1
    RETURNING partner, mode, last
  `);

  return {
    /** Waits until nobody else is at work for this partner and mode. */
    async lock(connection: Connection, { partner, mode }: Owner): Promise<void> {
      await advance.run(connection, { owners: JSON.stringify([{ partner, mode, count: 0 }]) });
    },

    /** The same for those of all these events; answers the sequence numbers, in the order of the events. */
    async nextSequences(connection: Connection, events: readonly Owner[]): Promise<number[]> {
      const counted = events.map(({ partner, mode }) => ({ partner, mode, count: 1 }));
      const rows = await advance.all(connection, { owners: JSON.stringify(counted) });
      const groups = Map.groupBy(events, nameOf);
      const lastOf = new Map(rows.map((row) => [nameOf(row), row.last]));
      return events.map((event) => {
        const group = groups.get(nameOf(event)) ?? [];
        return (lastOf.get(nameOf(event)) ?? 0) - group.length + group.indexOf(event) + 1;
      });
    },
  };
}

/** A partner in a mode, as a key. Slugs have no space. */
export function nameOf({ partner, mode }: Owner): string {
  return `${partner} ${mode}`;
}
