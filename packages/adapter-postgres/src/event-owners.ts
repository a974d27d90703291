import type { Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, prepared } from './statement.ts';

/**
 * Creates the lock per partner and mode, which is the row of its sequence. A call that publishes, redelivers,
 * changes endpoints or disables the partner writes this row first, and so is alone until its transaction
 * ends. Thus sequence numbers are in the order of the commits without a gap, no delivery is created for an
 * endpoint that is just being disabled, and counts do not change meanwhile.
 *
 * The row is written and not only locked. Otherwise a host's transaction with its own snapshot (REPEATABLE READ or
 * SERIALIZABLE) would not notice that it comes too late; this way the server refuses it.
 *
 * The order of locks is in database.ts. The purge locks events but no sequence, so a redelivery also locks its event
 * against the purge.
 */
export function postgresEventOwners({ schema }: Pick<Database, 'schema'>) {
  const write = prepared<Owner>(`
    INSERT INTO ${schema}.event_sequences (partner, mode, last) VALUES (:partner, :mode, 0)
    ON CONFLICT (partner, mode) DO UPDATE SET news = event_sequences.news + 1
  `);

  return {
    /** Locks the events of a partner and mode. Waits until no other transaction holds this lock. */
    async lock(connection: Connection, { partner, mode }: Owner): Promise<void> {
      await write.run(connection, { partner, mode });
    },
  };
}

/** Returns a text that identifies a partner and mode. Slugs contain no space. */
export function nameOf({ partner, mode }: Owner): string {
  return `${partner} ${mode}`;
}
