import { z } from 'zod';
import type { Core } from '../../context.ts';
import { exportColumns, exportFormats, exportRange, exportTransfers } from '../../payments/reconciliation.ts';
import { type PartnerRoute, route } from '../request.ts';
import { reconciliationQuery } from '../schemas.ts';

const column = z.string().nullable();

const exportSchema = z
  .object({
    data: z.array(z.object(Object.fromEntries(exportColumns.map((name) => [name, column])))),
    summary: z.object({
      rows: z.int(),
      totals: z.array(
        z.object({ currency: z.string(), status: z.string(), count: z.int(), amount: z.string() }),
      ),
      sha256: z.string(),
      final: z.boolean(),
    }),
  })
  .meta({ id: 'Reconciliation' });

/** Exports the transfers that became final on the days of a range. */
export function reconciliationRoutes(core: Core): PartnerRoute[] {
  return [
    route({
      method: 'GET',
      path: '/v1/partner/reconciliation',
      scope: 'reconciliation:read',
      limit: 'reconciliation',
      operation: 'exportReconciliation',
      summary: 'Exports final transfers of up to 31 days, as JSON, NDJSON or CSV.',
      query: reconciliationQuery,
      success: { status: 200, schema: exportSchema, texts: ['application/x-ndjson', 'text/csv'] },
      idempotent: false,
      async handle({ query, partner, mode, now }) {
        const range = exportRange(query, now);
        const { format } = query;
        return {
          status: 200,
          type: exportFormats[format].type,
          stream: exportTransfers(core.storage.transfers, { partner, mode }, range, format),
          ...(format === 'json'
            ? {}
            : { fileName: `reconciliation-${new Date(range.from).toISOString().slice(0, 10)}.${format}` }),
        };
      },
    }),
  ];
}
