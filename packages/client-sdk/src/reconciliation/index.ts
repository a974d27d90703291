/**
 * Exports what became final, for the books.
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
