export { type MoveCommandOptions, moveCommand } from './command.ts';
export { MoveError } from './errors.ts';
export { checkSqlite, type MovedTable, moveFromSqlite } from './move.ts';
export type { CheckOptions, HostTables, MoveOptions, MoveProgress } from './options.ts';
export type { SqliteDatabase, SqliteStatement } from './sqlite.ts';
export type { TableMove } from './tables.ts';
export type { ColumnKind } from './values.ts';
