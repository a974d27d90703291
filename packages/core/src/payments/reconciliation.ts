import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ListPosition } from '../ports/lists.ts';
import type { Owner } from '../ports/partners.ts';
import type { TransferRecord, TransferStore } from '../ports/transfers.ts';
import type { ExportRow, ExportSummary, FileFormat } from './export-formats.ts';
import type { ExportRange } from './export-range.ts';
import { formatAmount } from './money.ts';

/**
 * Number of rows of an export that are read at once: enough for a database on another machine, and few enough
 * that other requests do not wait.
 */
const pageRows = 256;

/** Endings of an ISO 8601 time (`.000Z` to `.999Z`), one for each millisecond of a second. */
const endings = Array.from({ length: 1000 }, (_, millisecond) => `${String(millisecond).padStart(3, '0')}Z`);

/**
 * Creates a function that formats times as ISO 8601. Neighbouring rows of an export mostly share their
 * second, which is formatted only once: calling `toISOString` for every time would take a third of an
 * export's time.
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

/**
 * Creates the time formatters of an export: one for the times of creation and one for the times at which
 * transfers became final, because the two times of a row mostly have different seconds.
 */
const newTimes = () => ({ created: isoWriter(), updated: isoWriter() });

function rowOf(transfer: TransferRecord, times: ReturnType<typeof newTimes>): ExportRow {
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

/** Count and sum of the rows of one currency and status. */
interface Total {
  readonly currency: string;
  readonly status: string;
  count: number;
  minor: bigint;
}

/**
 * Adds a transfer to the total of its currency and status. A linear search suffices, because there are few
 * totals.
 */
function addTo(totals: Total[], { currency, status, amount }: TransferRecord): void {
  let total = totals.find((candidate) => candidate.currency === currency && candidate.status === status);
  if (total === undefined) {
    total = { currency, status, count: 0, minor: 0n };
    totals.push(total);
  }
  total.count += 1;
  total.minor += amount;
}

function shownTotals(totals: readonly Total[]): ExportSummary['totals'] {
  return totals
    .toSorted((a, b) => (`${a.currency} ${a.status}` < `${b.currency} ${b.status}` ? -1 : 1))
    .map(({ minor, ...total }) => ({ ...total, amount: formatAmount(minor) }));
}

/** A part of a reconciliation export, as text in the file format. */
interface Page {
  readonly text: string;
  /** Position of the last row on the page, after which the next page starts; `null` for the last page. */
  readonly end: ListPosition | null;
}

/**
 * Writes an export page by page, in constant memory and without holding database resources while the reader
 * is slow: at most one page is read ahead. The digest in the summary covers every byte before the summary. An
 * export without a summary is incomplete.
 *
 * @param onProgress - called after each page except the last, with the number of rows so far and the time of the last row
 */
export async function* exportTransfers(
  transfers: TransferStore,
  owner: Owner,
  range: ExportRange,
  format: FileFormat,
  onProgress: (rows: number, until: number) => void = () => undefined,
): AsyncGenerator<string> {
  const { start, row, end, summary } = format;
  const hash = createHash('sha256');
  const totals: Total[] = [];
  let written = 0;
  const times = newTimes();

  /**
   * Reads a page of an export and formats it at once: holding the rows while a slow client reads would make
   * V8 enlarge its heap.
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
    onProgress(written, page.end.time);
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

/** Computes the summary of an export without keeping the export in memory. */
export async function summarizeTransfers(
  transfers: TransferStore,
  owner: Owner,
  range: ExportRange,
  format: FileFormat,
): Promise<ExportSummary> {
  let found: ExportSummary | null = null;
  const kept: FileFormat = {
    ...format,
    summary(summary) {
      found = summary;
      return '';
    },
  };
  for await (const _ of exportTransfers(transfers, owner, range, kept));
  if (found === null) throw new Error('the export ended without a summary');
  return found;
}
