import { z } from 'zod';
import type { Core } from '../../options/context.ts';
import { exportFormats } from '../../payments/export-formats.ts';
import { exportRange } from '../../payments/export-range.ts';
import { exportTransfers, summarizeTransfers } from '../../payments/reconciliation.ts';
import { spreadsheetFormat, spreadsheetStyle } from '../../payments/spreadsheet.ts';
import type { Owner } from '../../ports/partners.ts';
import type { RateLimitStore } from '../../ports/rate-limits.ts';
import { reconciliation } from '../reconciliation-schema.ts';
import { requireAllowed } from '../refused-count.ts';
import {
  operation,
  type PartnerAnswer,
  type PartnerOperation,
  type PartnerRoute,
  route,
} from '../request.ts';
import { reconciliationQuery } from '../schemas.ts';

/** Returns the export that a query asks for, as the partner API sends it. */
function exportAnswer(
  { storage: { transfers } }: Core,
  { partner, mode }: Owner,
  query: z.output<typeof reconciliationQuery>,
  now: number,
): PartnerAnswer {
  const range = exportRange(query, now);
  const format = exportFormats[query.format];
  return {
    status: 200,
    type: format.type,
    stream: exportTransfers(transfers, { partner, mode }, range, format),
    ...(query.format === 'json'
      ? {}
      : { fileName: `reconciliation-${new Date(range.from).toISOString().slice(0, 10)}.${query.format}` }),
  };
}

/** Route that exports the transfers that became final on a range of days. */
export function reconciliationRoutes(core: Core): PartnerRoute[] {
  return [
    route({
      method: 'GET',
      path: '/v1/partner/reconciliation',
      scope: 'reconciliation:read',
      limit: 'reconciliation',
      tag: 'Reconciliation',
      operation: 'exportReconciliation',
      portal: 'view',
      summary: 'Exports final transfers of up to 31 days, as JSON, NDJSON or CSV.',
      query: reconciliationQuery,
      success: { status: 200, schema: reconciliation, texts: ['application/x-ndjson', 'text/csv'] },
      handle: async ({ query, partner, mode, now }) => exportAnswer(core, { partner, mode }, query, now),
    }),
  ];
}

/**
 * Maximum number of exports and summaries that the consoles make for one partner and mode per hour, because
 * each reads all transfers of its days. The API counts its exports separately, in the limit group
 * `reconciliation`.
 */
const maxReads = 60;

/** Console operations that return the summary of one day's final transfers, and export files of up to 31 days. */
export function reconciliationOperations(core: Core, counts: RateLimitStore): PartnerOperation[] {
  const { transfers } = core.storage;

  async function countRead({ partner, mode }: Owner, now: number): Promise<void> {
    const bucket = `console reconciliation:${partner}:${mode}`;
    requireAllowed(await counts.consume({ bucket, limit: maxReads, windowMs: 3600_000, now }), now);
  }

  return [
    operation({
      operation: 'getReconciliation',
      portal: 'view',
      scope: 'reconciliation:read',
      query: reconciliationQuery.pick({ date: true }),
      /** Returns the summary of the export of a day as CSV. */
      async handle({ query, partner, mode, now }) {
        const range = exportRange(query, now);
        await countRead({ partner, mode }, now);
        const summary = await summarizeTransfers(transfers, { partner, mode }, range, exportFormats.csv);
        return { status: 200, body: { ...summary } };
      },
    }),

    operation({
      operation: 'downloadReconciliation',
      portal: 'view',
      scope: 'reconciliation:read',
      query: reconciliationQuery,
      async handle({ query, partner, mode, now }) {
        const answer = exportAnswer(core, { partner, mode }, query, now);
        await countRead({ partner, mode }, now);
        return answer;
      },
    }),

    operation({
      operation: 'exportSpreadsheet',
      portal: 'view',
      scope: 'reconciliation:read',
      body: z.strictObject({ from: z.string(), to: z.string(), ...spreadsheetStyle }),
      /** Returns the transfers that became final on a range of days, as a file for spreadsheets. */
      async handle({ body: { from, to, ...style }, partner, mode, now }) {
        const range = exportRange({ from, to }, now);
        await countRead({ partner, mode }, now);
        const format = spreadsheetFormat(style);
        return {
          status: 200,
          type: format.type,
          stream: exportTransfers(transfers, { partner, mode }, range, format),
        };
      },
    }),
  ];
}
