/**
 * Stores that remember which events were handled, so that duplicates are not handled again: their interface, a
 * store in memory, and a store in a database table.
 *
 * @packageDocumentation
 */
export { type MemoryDedupeOptions, memoryDedupe } from './memory.ts';
export {
  dedupeTable,
  type SqlDedupeOptions,
  type SqlDedupeStore,
  type SqlRow,
  sqlDedupe,
} from './sql.ts';
export {
  type ClaimOutcome,
  type DedupeClaim,
  type DedupeStore,
  handleOnce,
  type OnceOptions,
} from './store.ts';
