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
export interface EventOwners {
  /** Waits until nobody else is at work for this partner and mode. */
  lock(connection: Connection, owner: Owner): Promise<void>;
  /** The same for those of all these events; answers the sequence numbers, in the order of the events. */
  nextSequences(connection: Connection, events: readonly Owner[]): Promise<number[]>;
}

interface Counts {
  readonly partners: readonly string[];
  readonly modes: readonly string[];
  readonly counts: readonly number[];
}

export function postgresEventOwners({ schema }: Pick<Database, 'schema'>): EventOwners {
  const advance = prepared<Counts, Owner & { readonly last: number }>(`
    INSERT INTO ${schema}.event_sequences (partner, mode, last)
    SELECT partner, mode, count FROM unnest(:partners::text[], :modes::text[], :counts::bigint[])
      AS owners (partner, mode, count)
    ON CONFLICT (partner, mode) DO UPDATE SET
      last = event_sequences.last + excluded.last, news = event_sequences.news + 1
    RETURNING partner, mode, last
  `);

  return {
    async lock(connection, { partner, mode }) {
      await advance.run(connection, { partners: [partner], modes: [mode], counts: [0] });
    },

    async nextSequences(connection, events) {
      const counts = new Map<string, { readonly owner: Owner; count: number }>();
      for (const owner of events) {
        const counted = counts.get(nameOf(owner)) ?? { owner, count: 0 };
        counted.count += 1;
        counts.set(nameOf(owner), counted);
      }
      // In this order the rows are written, one after another.
      const inOrder = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted);
      const rows = await advance.all(connection, {
        partners: inOrder.map(({ owner }) => owner.partner),
        modes: inOrder.map(({ owner }) => owner.mode),
        counts: inOrder.map(({ count }) => count),
      });
      const next = new Map(
        rows.map((row) => [nameOf(row), row.last - (counts.get(nameOf(row))?.count ?? 0)]),
      );
      return events.map((owner) => {
        const sequence = (next.get(nameOf(owner)) ?? 0) + 1;
        next.set(nameOf(owner), sequence);
        return sequence;
      });
    },
  };
}

/** Slugs have no space. */
function nameOf({ partner, mode }: Owner): string {
  return `${partner} ${mode}`;
}
