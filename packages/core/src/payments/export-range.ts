import { PartnerError } from '../errors.ts';

const dayMs = 86_400_000;

/** Time from the end of a day until the day is closed for exports, in milliseconds. */
const closingMs = 300_000;

/** Maximum number of days of an export. Longer ranges are refused. */
const maxExportDays = 31;

/** Time range of an export, in milliseconds since the Unix epoch. */
export interface ExportRange {
  readonly from: number;
  /** End of the export's range, excluded. */
  readonly to: number;
  /**
   * True if every day of the export's range is closed. In live mode, such an export has the same bytes every
   * time.
   */
  readonly final: boolean;
}

/**
 * Returns the start of a UTC day, such as `2026-01-31`, in milliseconds since the Unix epoch; `null` if there
 * is no such day.
 */
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
 * Returns the range of an export that a request selects: one day, or the days from a first to a last day,
 * both included, in UTC.
 * @throws PartnerError `invalid_request` for missing, malformed or contradictory dates, a range in the wrong
 * order or too long, or a first day in the future
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
