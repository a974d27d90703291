import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { PartnerError } from '../errors.ts';
import type { ListPosition } from '../ports/lists.ts';
import type { Owner } from '../ports/partners.ts';
import type { TransferRecord, TransferStore } from '../ports/transfers.ts';
import { formatAmount } from './money.ts';

const dayMs = 86_400_000;

/** Time after the end of a day until it is closed for exports, in milliseconds. */
const closingMs = 300_000;

/** Longest range of an export, in days. */
const maxExportDays = 31;

/**
 * Rows per page: enough for a database on another machine, and few enough that other requests do not wait.
 */
const pageRows = 256;

/** Columns of an export, in the order of every format. */
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

type Row = { readonly [Column in (typeof exportColumns)[number]]: string | null };

/** Range of an export. Times are milliseconds since the Unix epoch. */
export interface ExportRange {
  readonly from: number;
  /** End of the range, excluded. */
  readonly to: number;
  /** True if every day of the range is closed. Such an export has the same bytes every time. */
  readonly final: boolean;
}

/** Returns the start of a UTC day, `2026-01-31`, in milliseconds since the Unix epoch; `null` if there is no such day. */
function startOfDay(date: string): number | null {
  // `Date.parse` also accepts bare years and months.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return null;
  const time = Date.parse(`${date}T00:00:00.000Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(date) ? time : null;
}

function wrongDate(path: string, message: string): PartnerError {
  return new PartnerError('invalid_request', { details: [{ path, message }] });
}

/**
 * Returns the range that a request selects: one day, or the days from a first to a last one, both included,
 * in UTC.
 * @throws PartnerError `invalid_request` for missing, malformed or contradictory dates, or too long a range
 */
export function exportRange(
  query: {
    readonly date?: string | undefined;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  },
  now: number,
): ExportRange {
  const { date, from = date, to = date } = query;
  // Accept all three parameters if they agree: some tools fill in every parameter from its example.
  if (date !== undefined && (from !== date || to !== date)) throw wrongDate('date', 'contradicts from or to');
  if (from === undefined || to === undefined)
    throw wrongDate(from === undefined ? 'from' : 'to', 'is missing; or send date');
  const [first, last] = [startOfDay(from), startOfDay(to)];
  if (first === null) throw wrongDate(date === undefined ? 'from' : 'date', 'is not a day that exists');
  if (last === null) throw wrongDate('to', 'is not a day that exists');
  if (first > last) throw wrongDate('to', 'is before from');
  if ((last - first) / dayMs >= maxExportDays)
    throw wrongDate('to', `is more than ${maxExportDays} days from from`);
  if (first > now) throw wrongDate(date === undefined ? 'from' : 'date', 'is in the future');
  return { from: first, to: last + dayMs, final: now >= last + dayMs + closingMs };
}

/** End of an ISO 8601 time for each millisecond of a second. */
const endings = Array.from({ length: 1000 }, (_, millisecond) => `${String(millisecond).padStart(3, '0')}Z`);

/**
 * Creates a function that formats times as ISO 8601. Neighbours in an export mostly share their second, which
 * is formatted once: calling `toISOString` for every time would take a third of an export's time.
 */
function isoWriter(): (time: number) => string {
  let second = Number.NaN;
  let start = '';
  return (time) => {
    const current = Math.floor(time / 1000);
    if (current !== second) {
      second = current;
      start = new Date(time).toISOString().slice(0, -'000Z'.length);
    }
    return `${start}${endings[time - current * 1000]}`;
  };
}

/** Creates one formatter per time column, because each column is ordered by itself. */
const newTimes = () => ({ created: isoWriter(), updated: isoWriter() });

function rowOf(transfer: TransferRecord, times: ReturnType<typeof newTimes>): Row {
  return {
    id: transfer.id,
    reference: transfer.reference,
    status: transfer.status,
    amount: formatAmount(transfer.amount),
    currency: transfer.currency,
    recipientKid: transfer.recipientKid,
    description: transfer.description,
    failureCode: transfer.failure?.code ?? null,
    createdAt: times.created(transfer.createdAt),
    // A completed transfer was last changed when it was completed, so both times are equal.
    completedAt: transfer.completedAt === null ? null : times.updated(transfer.completedAt),
    updatedAt: times.updated(transfer.updatedAt),
  };
}

/** Counts and sums over an export, its digest, and whether it is final. */
interface Summary {
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

/** A file format of an export. */
interface Format {
  readonly type: string;
  readonly start: string;
  readonly row: (row: Row, index: number) => string;
  /** Text between the last row and the summary, covered by the digest. */
  readonly end: string;
  readonly summary: (summary: Summary) => string;
}

/** Characters that start a formula in a spreadsheet, in all widths that spreadsheets accept. */
const signs = '[=+\\-@＝＋－＠﹦﹢﹣﹫]';
/**
 * Characters that may precede a formula because they are invisible, or removed by an import: spaces of every
 * kind, marks, controls, quotes.
 */
const unseen = '[\\p{White_Space}\\p{C}\\p{Default_Ignorable_Code_Point}\\u2800"]*';
const formula = new RegExp(`^(?:[\\t\\r\\n]|(?:${unseen};)*${unseen}${signs})`, 'u');
/**
 * Matches starts of formulas inside a value: with `;` as list separator, a spreadsheet starts a new cell
 * after `;`, and also at tabs and line ends, quoted or not.
 */
const inner = new RegExp(`([;\\t\\r\\n]${unseen})(?=${signs})`, 'gu');

/**
 * Writes an object as a line of NDJSON. Escapes U+0085, U+2028 and U+2029, which JSON allows in strings but
 * at which Node's `readline` and Python's `splitlines` end a line.
 */
function ndjsonLine(value: object): string {
  const separators = /[\u0085\u2028\u2029]/g;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(separators, escaped)}\n`;
}

/**
 * Writes a CSV cell (RFC 4180). Puts an apostrophe before anything that a spreadsheet would run as a formula,
 * at every place where it may start a cell.
 */
function csvCell(value: string | null): string {
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
} as const satisfies { readonly [name: string]: Format };

/** Name of an export format. */
export type ExportFormat = keyof typeof exportFormats;

/** Count and sum of the rows of one currency and status. */
interface Total {
  readonly currency: string;
  readonly status: string;
  count: number;
  minor: bigint;
}

/** Adds a transfer to the total of its currency and status. A linear search is fine: there are few totals. */
function addTo(totals: Total[], { currency, status, amount }: TransferRecord): void {
  let total = totals.find((candidate) => candidate.currency === currency && candidate.status === status);
  if (total === undefined) {
    total = { currency, status, count: 0, minor: 0n };
    totals.push(total);
  }
  total.count += 1;
  total.minor += amount;
}

function shownTotals(totals: readonly Total[]): Summary['totals'] {
  return totals
    .toSorted((a, b) => (`${a.currency} ${a.status}` < `${b.currency} ${b.status}` ? -1 : 1))
    .map(({ minor, ...total }) => ({ ...total, amount: formatAmount(minor) }));
}

/** A page of an export as text. */
interface Page {
  readonly text: string;
  /** Position of the page's last row, after which the next page starts; `null` for the last page. */
  readonly end: ListPosition | null;
}

/**
 * Writes an export page by page, in constant memory and without holding database resources while the reader
 * is slow: at most one page is read ahead. The digest in the summary covers every byte before the summary. An
 * export without a summary is incomplete.
 *
 * @param told - called after each page except the last, with the number of rows so far and the time of the last row
 */
export async function* exportTransfers(
  transfers: TransferStore,
  owner: Owner,
  range: ExportRange,
  format: ExportFormat,
  told: (rows: number, until: number) => void = () => undefined,
): AsyncGenerator<string> {
  const { start, row, end, summary }: Format = exportFormats[format];
  const hash = createHash('sha256');
  const totals: Total[] = [];
  let written = 0;
  const times = newTimes();

  /**
   * Reads a page and formats it at once: keeping rows while a slow reader reads makes V8 enlarge its heap.
   */
  async function read(after: ListPosition | null): Promise<Page> {
    const { from, to } = range;
    const rows = await transfers.listFinal({ ...owner, from, to, after, limit: pageRows });
    let text = '';
    for (const transfer of rows) {
      text += row(rowOf(transfer, times), written);
      written += 1;
      addTo(totals, transfer);
    }
    const last = rows.at(-1);
    const isLast = last === undefined || rows.length < pageRows;
    return { text, end: isLast ? null : { time: last.updatedAt, id: last.id } };
  }

  let next = read(null);
  let before = start;
  for (;;) {
    const page = await next;
    const text = before + page.text;
    if (page.end === null) {
      hash.update(text + end);
      const sums = { rows: written, totals: shownTotals(totals) };
      yield text + end + summary({ ...sums, sha256: hash.digest('hex'), final: range.final });
      return;
    }
    told(written, page.end.time);
    // SQLite returns pages at once: with a quick reader, an export would block everything else in this
    // process until its end.
    await setImmediate();
    next = read(page.end);
    // Prevent an unhandled rejection: the reader may leave before this page. If it stays, it gets the error
    // then.
    next.catch(() => undefined);
    hash.update(text);
    yield text;
    before = '';
  }
}
