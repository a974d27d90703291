import { randomBytes } from 'node:crypto';

/** Source of random bytes for secrets and ids. */
export interface Random {
  /** Returns cryptographically random bytes. */
  bytes(size: number): Buffer;
}

/**
 * Generates an id for a kind of record of which there are many: the time in milliseconds since the Unix
 * epoch, and 80 random bits. Ids sort by time as UUIDs of version 7 do (RFC 9562, section 5.7), so new rows
 * are neighbours in an index, and old rows leave it side by side. Random ids would each touch another page,
 * which a large database does not have in memory.
 */
export function newId(prefix: 'tr' | 'evt' | 'dl' | 'in', random: Random, at: number): string {
  return `${prefix}_${at.toString(16).padStart(12, '0')}${random.bytes(10).toString('hex')}`;
}

/** Shell command that prints a new sealing key. */
export const keyCommand = `node -p "require('crypto').randomBytes(32).toString('base64url')"`;

/** Random generator of the operating system. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size) };
