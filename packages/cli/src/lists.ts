import type { Owner } from '@ostiary/core/storage';
import { oneLine, styled, widthOf } from './colour.ts';
import { table } from './command.ts';

/** Matches a time in ISO 8601, as administrative calls return it. */
const isoTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** Formats a time relative to another one: `3 h ago`, `in 58 s`. A time more than a month away is shown as its day. */
export function relativeTime(iso: string, now: number): string {
  const distance = Date.parse(iso) - now;
  const length = Math.abs(distance);
  if (length > 31 * 86_400_000) return iso.slice(0, 10);
  const [ms, unit] = units.find(([least]) => length >= least) ?? [1_000, 's'];
  const amount = `${Math.floor(length / ms)} ${unit}`;
  return distance > 0 ? `in ${amount}` : `${amount} ago`;
}

/** Narrowest width to which a column is cut, in characters. */
const narrowest = 12;

/**
 * Cuts the widest columns of a list, except the first, until the rows fit the terminal, and marks what was
 * cut.
 */
function fitted(rows: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const excess = (): number => widths.reduce((sum, each) => sum + each + 2, -2) - width;
  while (excess() > 0) {
    const widest = Math.max(...widths.slice(1));
    if (!(widest > narrowest)) break;
    const at = widths.lastIndexOf(widest);
    widths[at] = Math.max(narrowest, widest - excess());
  }
  const cut = (cell: string, most: number): string =>
    widthOf(cell) <= most ? cell : `${[...cell].slice(0, most - 1).join('')}…`;
  return rows.map((row) => row.map((cell, at) => cut(oneLine(cell), widths[at] ?? narrowest)));
}

/** Current time, and width of the terminal in characters; the width is `null` for a file or a pipe. */
export interface ListPlace {
  readonly now: number;
  readonly width: number | null;
}

const thisTerminal = (): ListPlace => ({
  now: Date.now(),
  width: process.stdout.isTTY ? process.stdout.columns : null,
});

/**
 * Formats a list of rows as text, with a note if there are more rows. At a terminal, times are relative to now, and wide
 * columns are cut to fit.
 */
export function listOf(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  next: string | null = null,
  { now, width }: ListPlace = thisTerminal(),
): string {
  const cells =
    width === null
      ? [heads, ...rows]
      : fitted(
          [
            heads,
            ...rows.map((row) => row.map((cell) => cell.replace(isoTime, (time) => relativeTime(time, now)))),
          ],
          width,
        );
  const [head = '', ...lines] = table(cells).split('\n');
  const all = [styled('bold', head), ...lines].join('\n');
  return `${all}${next === null ? '' : `\n\nMore: --after ${next}`}`;
}

/** Returns the text of a list. If a list without filters is empty, says how many rows the other mode has. */
export async function emptyOrList({
  owner: { partner, mode },
  what,
  isFiltered,
  text,
  countIn,
}: {
  readonly owner: Owner;
  /** Plural noun for the rows of the list, such as `payments`. */
  readonly what: string;
  readonly isFiltered: boolean;
  /** Text of the list; `null` if it is empty. */
  readonly text: string | null;
  /** Counts the rows on the first page of the same list in another mode. */
  readonly countIn: (owner: Owner) => Promise<number>;
}): Promise<string> {
  if (text !== null) return text;
  if (isFiltered) return `No ${mode} ${what} that fit.`;
  const other = mode === 'live' ? 'test' : 'live';
  const count = await countIn({ partner, mode: other });
  const many = count >= 100 ? '100 or more' : String(count);
  return `No ${mode} ${what}.${count === 0 ? '' : ` ${many} in ${other}: --mode ${other}`}`;
}
