/**
 * Exports the transfers that became final, for accounting.
 *
 * @packageDocumentation
 */
export {
  exportReconciliation,
  type ReconciliationExport,
  type ReconciliationRange,
  type ReconciliationRow,
} from './export.ts';
export type { ReconciliationFormat, ReconciliationSummary } from './verified.ts';
