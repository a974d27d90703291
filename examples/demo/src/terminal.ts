import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/**
 * Makes a function that colours texts for a terminal. With `NO_COLOR`, texts have no colour; in a pipe or a
 * file, only with `FORCE_COLOR`.
 */
const coloured = (style: Style) => (text: string) => styleText(style, text, { stream: process.stdout });

/** Colours and styles of texts in the terminal. */
export const styles = {
  heading: coloured('bold'),
  address: coloured(['cyan', 'underline']),
  secret: coloured('yellow'),
  sent: coloured('cyan'),
  quiet: coloured('dim'),
  good: coloured('green'),
  bad: coloured('red'),
} as const;

/** Formats rows in aligned columns, with a style for each column. */
export function columns(
  rows: readonly (readonly string[])[],
  cellStyles: readonly ((text: string) => string)[] = [],
): string {
  const widthOf = (at: number): number => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  // The spaces between columns are not styled.
  const cellOf = (cell: string, at: number, { length }: readonly string[]): string =>
    (cellStyles[at]?.(cell) ?? cell) + (at === length - 1 ? '' : ' '.repeat(widthOf(at) - cell.length + 3));
  return rows.map((row) => `  ${row.map((cell, at) => cellOf(cell, at, row)).join('')}`).join('\n');
}
