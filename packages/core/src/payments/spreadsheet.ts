import { z } from 'zod';
import { csvCell, type ExportRow, type FileFormat } from './export-formats.ts';

/** Columns of an export for spreadsheets, in their order. */
const spreadsheetColumns = [
  'createdAt',
  'completedAt',
  'status',
  'amount',
  'currency',
  'recipientKid',
  'reference',
  'description',
  'failureCode',
  'id',
] as const satisfies readonly (keyof ExportRow)[];

/** Name of a column of an export for spreadsheets. */
export type SpreadsheetColumn = (typeof spreadsheetColumns)[number];

/** Format of an export's CSV file for spreadsheet programs: time zone, separators and column titles. */
export interface SpreadsheetStyle {
  /** Time zone of the dates in the file, such as `America/Port-au-Prince`. */
  readonly timeZone: string;
  /** Character between the cells of the CSV file, which depends on the language of the spreadsheet program. */
  readonly separator: ',' | ';';
  /** Character before the decimals of an amount, in the language of the file. */
  readonly decimal: '.' | ',';
  /** Titles of the columns, in the language of the file. */
  readonly titles: { readonly [Column in SpreadsheetColumn]: string };
}

/** Checks whether `Intl` knows a time zone. */
function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Schemas of the members of {@link SpreadsheetStyle}. */
export const spreadsheetStyle = {
  timeZone: z.string().refine(isTimeZone, 'is not a time zone such as America/Port-au-Prince'),
  separator: z.enum([',', ';']),
  decimal: z.enum(['.', ',']),
  titles: z.record(z.enum(spreadsheetColumns), z.string()),
};

const times: ReadonlySet<string> = new Set(['createdAt', 'completedAt'] satisfies SpreadsheetColumn[]);

/**
 * Returns a format for spreadsheets: with a byte order mark, so that Excel reads UTF-8, with local dates that spreadsheets
 * recognize, and without a summary.
 */
export function spreadsheetFormat({ timeZone, separator, decimal, titles }: SpreadsheetStyle): FileFormat {
  // The Swedish format is `2026-11-27 14:05:09`, which spreadsheets of every language read as a time.
  const dates = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const line = (cells: readonly (string | null)[]) => `${cells.map(cell).join(separator)}\r\n`;

  /**
   * Writes a cell of a CSV file for spreadsheets. Quotes it if it contains the separator; {@link csvCell}
   * does that only for commas.
   */
  function cell(value: string | null): string {
    const text = csvCell(value);
    return separator === ';' && text.includes(';') && !text.startsWith('"') ? `"${text}"` : text;
  }

  function shownValue(row: ExportRow, column: SpreadsheetColumn): string | null {
    const value = row[column];
    if (value === null) return null;
    if (times.has(column)) return dates.format(new Date(value));
    return column === 'amount' ? value.replace('.', decimal) : value;
  }

  return {
    type: 'text/csv; charset=utf-8',
    start: `\uFEFF${line(spreadsheetColumns.map((column) => titles[column]))}`,
    row: (row) => line(spreadsheetColumns.map((column) => shownValue(row, column))),
    end: '',
    summary: () => '',
  };
}
