import type { Core } from '../options/context.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';

/** Time within which a new secret must be shown, in milliseconds. */
const keptMs = 10 * 60_000;

/** Maximum length of a presented ticket of {@link secretsOnce}, in characters. Longer ones find nothing. */
const longestTicket = 100;

/**
 * Returns the digest under which a new secret is stored until it is shown. It covers the visitor, so that
 * another visitor's ticket does not find the secret.
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
    /**
     * Stores a text that a visitor may see once, within ten minutes. Returns the ticket with which it is
     * read.
     */
    async keep(visitor: string, text: string): Promise<string> {
      const ticket = randomSecret(random);
      const record = recordOf(visitor, ticket);
      await sandbox.save(record, { sealed: sealer.seal(text, contextOf(record)) }, clock.now() + keptMs);
      return ticket;
    },

    /**
     * Returns a stored text and deletes it; `null` if it was returned before, has expired, or belongs to
     * another visitor.
     */
    async take(visitor: string, ticket: string): Promise<string | null> {
      if (ticket.length > longestTicket) return null;
      const record = recordOf(visitor, ticket);
      const kept = await sandbox.take(record, clock.now());
      return kept === null ? null : sealer.open(String(kept.sealed), contextOf(record));
    },
  };
}
