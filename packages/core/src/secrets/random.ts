import { randomBytes } from 'node:crypto';

/** Where randomness comes from. */
export interface Random {
  /** Bytes that nobody can guess. */
  bytes(size: number): Buffer;
}

/**
 * The id of something that there is much of: when it was made, in milliseconds since the Unix epoch, and 80 bits that nobody can guess.
 * Ids sort by time as UUIDs of version 7 do (RFC 9562, section 5.7): new rows come side by side into an index, and old ones leave it side by
 * side. Random ones would touch a page of it each, which a large database does not have in memory.
 */
export function newId(prefix: 'tr' | 'evt' | 'dl', random: Random, at: number): string {
  return `${prefix}_${at.toString(16).padStart(12, '0')}${random.bytes(10).toString('hex')}`;
}

/** What prints a new sealing key. */
export const keyCommand = `node -p "require('crypto').randomBytes(32).toString('base64url')"`;

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size) };
