import { createHash } from 'node:crypto';
import type { Row } from './source.ts';
import type { TableMove } from './tables.ts';
import { lineOf } from './values.ts';

/** What is compared of a table: how many rows, and SHA-256 over all of them, hexadecimal. */
export interface Digest {
  readonly rows: number;
  readonly digest: string;
}

/**
 * Over the names of the columns, and then over the rows in the order of the key, each a line of JSON.
 *
 * @param counted - called after each batch with the number of rows so far
 */
export async function digestOf(
  { columns }: TableMove,
  batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>,
  counted: (rows: number) => void,
): Promise<Digest> {
  const hash = createHash('sha256').update(lineOf(Object.keys(columns)));
  let count = 0;
  for await (const rows of batches) {
    for (const row of rows) hash.update(lineOf(row));
    count += rows.length;
    counted(count);
  }
  return { rows: count, digest: hash.digest('hex') };
}
