import type { Owner } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, prepared } from './statement.ts';

/**
 * The row of a sequence stands for all data of a partner in one mode. A call that publishes, delivers again
 * or changes endpoints writes this row first, and so has it alone until its transaction ends. Thus numbers
 * come in the order of the commits and without a gap, no delivery is made to an endpoint that is just being
 * disabled, and counts stay as they are.
 *
 * The row is written and not only locked: a host's transaction with a snapshot of its own (REPEATABLE READ or
 * SERIALIZABLE) would otherwise not notice that it came too late, and is refused now.
 *
 * database.ts has the order of locks. The purge locks events and no sequence, so that a redelivery locks its event, too: it stays.
 */
export function postgresEventOwners({ schema }: Pick<Database, 'schema'>) {
  const write = prepared<Owner>(`
    INSERT INTO ${schema}.event_sequences (partner, mode, last) VALUES (:partner, :mode, 0)
    ON CONFLICT (partner, mode) DO UPDATE SET news = event_sequences.news + 1
  `);

  return {
    /** Waits until no other transaction works for this partner and mode. */
    async lock(connection: Connection, { partner, mode }: Owner): Promise<void> {
      await write.run(connection, { partner, mode });
    },
  };
}

/** A partner in a mode, as a key. Slugs have no space. */
export function nameOf({ partner, mode }: Owner): string {
  return `${partner} ${mode}`;
}
