/**
 * A storage that lives in this process and ends with it, for tests: SQLite's own, on a database in memory.
 *
 * @packageDocumentation
 */
export { memoryStorage } from '@ostiary/adapter-sqlite';
