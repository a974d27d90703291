/**
 * Saves the database of an installation while it runs, and verifies the copy.
 *
 * @packageDocumentation
 */
export { type BackupCommandOptions, type BackupSource, backupCommand } from './command.ts';
export type { BackupDatabase } from './sqlite.ts';
