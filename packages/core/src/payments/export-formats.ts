/** Columns of a reconciliation export, in the same order in every format. */
export const exportColumns = [
  'id',
  'reference',
  'status',
  'amount',
  'currency',
  'recipientKid',
  'description',
  'failureCode',
  'createdAt',
  'completedAt',
  'updatedAt',
] as const;

/** A transfer as a row of a reconciliation export. */
export type ExportRow = { readonly [Column in (typeof exportColumns)[number]]: string | null };

/** Summary of an export: counts and sums of its rows, its digest, and whether it is final. */
export interface ExportSummary {
  readonly rows: number;
  readonly totals: readonly {
    readonly currency: string;
    readonly status: string;
    readonly count: number;
    readonly amount: string;
  }[];
  readonly sha256: string;
  readonly final: boolean;
}

/** Functions that write an export in one file format. */
export interface FileFormat {
  readonly type: string;
  readonly start: string;
  readonly row: (row: ExportRow, index: number) => string;
  /** Text between the last row and the summary of an export. The digest covers it. */
  readonly end: string;
  readonly summary: (summary: ExportSummary) => string;
}

/** Characters that start a formula in a spreadsheet, in all the widths that spreadsheets accept. */
const signs = '[=+\\-@＝＋－＠﹦﹢﹣﹫]';
/**
 * Characters that may precede a formula in a cell, because they are invisible or an import removes them:
 * spaces of every kind, marks, controls, quotes.
 */
const unseen = '[\\p{White_Space}\\p{C}\\p{Default_Ignorable_Code_Point}\\u2800"]*';
const formula = new RegExp(`^(?:[\\t\\r\\n]|(?:${unseen};)*${unseen}${signs})`, 'u');
/**
 * Matches starts of formulas inside a value. If a spreadsheet uses `;` as list separator, it starts a new
 * cell after `;`, and also at tabs and line ends, quoted or not.
 */
const inner = new RegExp(`([;\\t\\r\\n]${unseen})(?=${signs})`, 'gu');

/**
 * Writes an object as a line of NDJSON. Escapes U+0085, U+2028 and U+2029: JSON allows them in strings, but
 * Node's `readline` and Python's `splitlines` end a line there.
 */
function ndjsonLine(value: object): string {
  const separators = /[\u0085\u2028\u2029]/g;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(separators, escaped)}\n`;
}

/**
 * Writes a CSV cell (RFC 4180). Puts an apostrophe before any text that a spreadsheet would run as a formula,
 * at every place where such text may start a cell.
 */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  const harmless = /[;\t\r\n]/.test(value) ? value.replace(inner, "$1'") : value;
  const text = formula.test(value) ? `'${harmless}` : harmless;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** File formats of an export, by name. */
export const exportFormats = {
  json: {
    type: 'application/json; charset=utf-8',
    start: '{"data":[',
    row: (row, index) => (index === 0 ? '' : ',') + JSON.stringify(row),
    end: '],',
    summary: (summary) => `"summary":${JSON.stringify(summary)}}`,
  },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    start: '',
    row: ndjsonLine,
    end: '',
    summary: (summary) => ndjsonLine({ summary }),
  },
  csv: {
    type: 'text/csv; charset=utf-8',
    start: `${exportColumns.join(',')}\r\n`,
    row: (row) => `${exportColumns.map((column) => csvCell(row[column])).join(',')}\r\n`,
    end: '',
    summary: (summary) => `${['#summary', JSON.stringify(summary)].map(csvCell).join(',')}\r\n`,
  },
} as const satisfies { readonly [name: string]: FileFormat };
