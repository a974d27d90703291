import { z } from 'zod';
import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import { exportRange } from '../payments/export-range.ts';
import { exportTransfers } from '../payments/reconciliation.ts';
import type { Owner } from '../ports/partners.ts';
import { checked } from './checked.ts';
import { PartnerNameError } from './partners.ts';

/** Partner, mode, range and format of an export. */
export interface ReconciliationRequest extends Owner {
  /** First day in UTC, such as `2026-01-01`. */
  readonly from: string;
  /** Last day in UTC, included; at most 31 days in total. */
  readonly to: string;
  readonly format: 'json' | 'ndjson' | 'csv';
}

/** Exports final transfers for operators, in the same form as partners get them. */
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
}

const schema = z.strictObject({
  partner: z.string(),
  mode: z.enum(['live', 'test']),
  from: z.string(),
  to: z.string(),
  format: z.enum(['json', 'ndjson', 'csv']),
});

export function reconciliationAdministration({ storage, clock }: Core): ReconciliationAdministration {
  return {
    async export(request, { onProgress } = {}) {
      const { partner, mode, from, to, format } = checked(schema, request);
      if ((await storage.partners.find(partner)) === null)
        throw new PartnerNameError('partner_not_found', partner);
      const now = clock.now();
      try {
        const range = exportRange({ from, to }, now);
        const lasts = Math.min(range.to, now) - range.from;
        return exportTransfers(storage.transfers, { partner, mode }, range, format, (rows, until) =>
          onProgress?.(rows, Math.round((rows * lasts) / Math.max(until - range.from, 1))),
        );
      } catch (error) {
        if (!(error instanceof PartnerError)) throw error;
        const [problem] = error.details;
        throw new TypeError(problem === undefined ? error.message : `${problem.path}: ${problem.message}`);
      }
    },
  };
}
