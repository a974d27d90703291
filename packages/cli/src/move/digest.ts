import { createHash } from 'node:crypto';
import type { Row } from './source.ts';
import type { TableMove } from './tables.ts';
import { lineOf } from './values.ts';

/** What is compared of a table: how many rows, and SHA-256 over all of them, hexadecimal. */
export interface Digest {
  readonly rows: number;
  readonly digest: string;
}

/** A digest of which more is to come. */
export interface GrowingDigest {
  add(rows: readonly Row[]): void;
  /** Rows so far. */
  count(): number;
  end(): Digest;
}

/**
 * A digest that grows with each batch: over the names of the columns, and then over the rows in the order of the key,
 * each a line of JSON.
 */
export function digestOf(table: TableMove): GrowingDigest {
  const hash = createHash('sha256').update(lineOf(Object.keys(table.columns)));
  let count = 0;
  return {
    add(rows) {
      for (const row of rows) hash.update(lineOf(row));
      count += rows.length;
    },
    count: () => count,
    end: () => ({ rows: count, digest: hash.digest('hex') }),
  };
}
