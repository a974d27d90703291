import type { Core } from '../../options/context.ts';
import { exportFormats } from '../../payments/export-formats.ts';
import { exportRange } from '../../payments/export-range.ts';
import { exportTransfers } from '../../payments/reconciliation.ts';
import { reconciliation } from '../reconciliation-schema.ts';
import { type PartnerRoute, route } from '../request.ts';
import { reconciliationQuery } from '../schemas.ts';

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
      async handle({ query, partner, mode, now }) {
        const range = exportRange(query, now);
        const { format } = query;
        return {
          status: 200,
          type: exportFormats[format].type,
          stream: exportTransfers(core.storage.transfers, { partner, mode }, range, exportFormats[format]),
          ...(format === 'json'
            ? {}
            : { fileName: `reconciliation-${new Date(range.from).toISOString().slice(0, 10)}.${format}` }),
        };
      },
    }),
  ];
}
