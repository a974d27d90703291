/**
 * A storage in memory for tests, which ends with the process: the SQLite storage on a database in memory.
 *
 * @packageDocumentation
 */
export { memoryStorage } from '@ostiary/adapter-sqlite';
