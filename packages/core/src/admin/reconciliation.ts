import { z } from 'zod';
import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import { type ExportSummary, exportFormats } from '../payments/export-formats.ts';
import { type ExportRange, exportRange } from '../payments/export-range.ts';
import { exportTransfers, summarizeTransfers } from '../payments/reconciliation.ts';
import { type SpreadsheetStyle, spreadsheetFormat, spreadsheetStyle } from '../payments/spreadsheet.ts';
import type { OperatorRight } from '../ports/operators.ts';
import type { Owner } from '../ports/partners.ts';
import { checked } from './checked.ts';
import { PartnerNameError } from './partners.ts';
import { requireRight } from './rights.ts';

/** Partner, mode, days and format of a reconciliation export. */
export interface ReconciliationRequest extends Owner {
  /** First day of the export in UTC, such as `2026-01-01`. */
  readonly from: string;
  /** Last day of the export in UTC, included; at most 31 days in total. */
  readonly to: string;
  readonly format: 'json' | 'ndjson' | 'csv';
}

/** Partner, mode and days of an export for spreadsheets, and its format settings. */
export interface SpreadsheetRequest extends Omit<ReconciliationRequest, 'format'>, SpreadsheetStyle {}

/** Counts, sums and digest of a reconciliation export. */
export type ReconciliationSummary = ExportSummary;

/**
 * Exports final transfers for operators, in the same form as partners get them. The files name users who were paid, so they
 * need the right `payments`. A summary names none, and needs no right.
 */
export interface ReconciliationAdministration {
  /**
   * Returns the export of a partner's final transfers in pieces, byte for byte the same as the response of
   * `GET /v1/partner/reconciliation`. The last piece holds the summary with the SHA-256.
   * @param options - `onProgress` is called after each piece with the number of rows so far and an estimate of the total,
   * extrapolated from the part of the range that is done
   * @throws TypeError if an argument is invalid
   * @throws PartnerNameError `partner_not_found`
   */
  export(
    request: ReconciliationRequest,
    options?: { readonly onProgress?: (rows: number, of: number) => void },
  ): Promise<AsyncIterable<string>>;
  /**
   * Returns the summary of an export: its rows, totals and SHA-256, and whether every day of it is closed. Reads all rows of the
   * range.
   * @throws TypeError if an argument is invalid
   * @throws PartnerNameError `partner_not_found`
   */
  summary(request: ReconciliationRequest): Promise<ReconciliationSummary>;
  /**
   * Returns a partner's final transfers as a CSV file for spreadsheets, in pieces: with a byte order mark,
   * local dates and the decimal sign of a language, and without a summary.
   * @throws TypeError if an argument is invalid
   * @throws PartnerNameError `partner_not_found`
   */
  spreadsheet(request: SpreadsheetRequest): Promise<AsyncIterable<string>>;
}

const shape = { partner: z.string(), mode: z.enum(['live', 'test']), from: z.string(), to: z.string() };

const schema = z.strictObject({ ...shape, format: z.enum(['json', 'ndjson', 'csv']) });

const spreadsheet = z.strictObject({ ...shape, ...spreadsheetStyle });

/** @param may - rights of the person who reads the exports */
export function reconciliationAdministration(
  { storage, clock }: Core,
  may: readonly OperatorRight[],
): ReconciliationAdministration {
  const { transfers } = storage;

  /**
   * Returns the time range that a request for an export selects. @throws TypeError for a malformed day, a day
   * in the future or too many days; PartnerNameError for an unknown partner
   */
  async function rangeOf({ partner, from, to }: Omit<ReconciliationRequest, 'format'>): Promise<ExportRange> {
    if ((await storage.partners.find(partner)) === null)
      throw new PartnerNameError('partner_not_found', partner);
    try {
      return exportRange({ from, to }, clock.now());
    } catch (error) {
      if (!(error instanceof PartnerError)) throw error;
      const [problem] = error.details;
      throw new TypeError(problem === undefined ? error.message : `${problem.path}: ${problem.message}`);
    }
  }

  return {
    async export(request, { onProgress } = {}) {
      requireRight(may, 'payments');
      const asked = checked(schema, request);
      const { partner, mode, format } = asked;
      const range = await rangeOf(asked);
      const lasts = Math.min(range.to, clock.now()) - range.from;
      return exportTransfers(transfers, { partner, mode }, range, exportFormats[format], (rows, until) =>
        onProgress?.(rows, Math.round((rows * lasts) / Math.max(until - range.from, 1))),
      );
    },

    async summary(request) {
      const asked = checked(schema, request);
      const { partner, mode, format } = asked;
      return summarizeTransfers(transfers, { partner, mode }, await rangeOf(asked), exportFormats[format]);
    },

    async spreadsheet(request) {
      requireRight(may, 'payments');
      const { partner, mode, from, to, ...style } = checked(spreadsheet, request);
      const range = await rangeOf({ partner, mode, from, to });
      return exportTransfers(transfers, { partner, mode }, range, spreadsheetFormat(style));
    },
  };
}
