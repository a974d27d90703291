import type { Core } from '../options/context.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';

/** Time within which a new secret has to be shown, in milliseconds. */
const keptMs = 10 * 60_000;

/** Length of the tickets of {@link secretsOnce} in characters, at most. */
const longestTicket = 100;

/**
 * Returns the digest under which a secret is kept. It contains the visitor, so that nobody else's ticket
 * finds it.
 */
const recordOf = (visitor: string, ticket: string): Buffer =>
  digest(`shown once ${JSON.stringify([visitor, ticket])}`);

const contextOf = (record: Buffer): string => `sandbox_records/${record.toString('hex')}/secret`;

/**
 * Creates the functions that keep a new secret between the form that made it and the page that shows it once.
 * The secret is sealed in the storage, so that any process can show it.
 */
export function secretsOnce({ storage: { sandbox }, sealer, clock, random }: Core) {
  return {
    /** Keeps a text for one view by a visitor, for ten minutes. Returns the ticket for the view. */
    async keep(visitor: string, text: string): Promise<string> {
      const ticket = randomSecret(random);
      const record = recordOf(visitor, ticket);
      await sandbox.save(record, { sealed: sealer.seal(text, contextOf(record)) }, clock.now() + keptMs);
      return ticket;
    },

    /** Returns a kept text and forgets it; `null` if it was returned before, has expired, or is another visitor's. */
    async take(visitor: string, ticket: string): Promise<string | null> {
      if (ticket.length > longestTicket) return null;
      const record = recordOf(visitor, ticket);
      const kept = await sandbox.take(record, clock.now());
      return kept === null ? null : sealer.open(String(kept.sealed), contextOf(record));
    },
  };
}
