import type { DedupeStore } from './store.ts';

/** A row of a database table, with values by column name. */
export type SqlRow = { readonly [column: string]: unknown };

/** Options of {@link sqlDedupe}: access to your database. */
export interface SqlDedupeOptions {
  /**
   * Runs one statement and returns its rows, or a promise of them. Every statement can return rows, including
   * those that write. Pass a function that runs statements in a transaction of yours to make the claim part
   * of it.
   */
  readonly query: (
    sql: string,
    values: readonly (string | number)[],
  ) => readonly SqlRow[] | Promise<readonly SqlRow[]>;
  /** Notation of parameters: `?` for SQLite (3.35 or later), `$1` for PostgreSQL. */
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Name of the table that {@link dedupeTable} creates, with its schema if needed.
   * @defaultValue `'ostiary_webhook_events'`
   */
  readonly table?: string;
}

/** A dedupe store in a database table, which can also delete old events. */
export interface SqlDedupeStore extends DedupeStore {
  /**
   * Deletes events that were completed before a time, in milliseconds since the Unix epoch. Returns the
   * number of deleted events. Keep events for longer than the service keeps them, 30 days unless its operator chose
   * another time (at most 3,650 days), because Ostiary can redeliver events for that long.
   */
  purge(before: number): Promise<number>;
}

function tableName(table = 'ostiary_webhook_events'): string {
  if (!/^[A-Za-z_]\w{0,50}(?:\.[A-Za-z_]\w{0,50})?$/.test(table)) {
    throw new TypeError('table must be a plain name, with a schema before it if need be');
  }
  return table;
}

/**
 * Returns the SQL statement that creates the table of handled events, for both SQLite and PostgreSQL. Put it
 * into a migration.
 * @throws TypeError for an invalid table name
 */
export function dedupeTable(table?: string): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(table)} (
  id            text   PRIMARY KEY,
  token         text   NOT NULL,
  claimed_until bigint NOT NULL,
  completed_at  bigint
)`;
}

/**
 * Makes a dedupe store that remembers events in a database table that all processes share. Each call changes
 * the table with one statement at most, so it is atomic without a transaction.
 * @throws TypeError for an unknown dialect or an invalid table name
 */
export function sqlDedupe({ query, dialect, table }: SqlDedupeOptions): SqlDedupeStore {
  const name = tableName(table);
  if (dialect !== 'sqlite' && dialect !== 'postgres') {
    throw new TypeError("dialect must be 'sqlite' or 'postgres'");
  }
  // SQLite's parameters have no number, so every statement uses each parameter once and in order.
  const written = (sql: string): string => {
    let count = 0;
    return dialect === 'sqlite' ? sql : sql.replace(/\?/g, () => `$${++count}`);
  };
  const alias = name.slice(name.indexOf('.') + 1);
  const claim = written(`
    INSERT INTO ${name} (id, token, claimed_until) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET token = excluded.token, claimed_until = excluded.claimed_until
    WHERE ${alias}.completed_at IS NULL AND ${alias}.claimed_until <= ?
    RETURNING id`);
  const find = written(`SELECT completed_at FROM ${name} WHERE id = ?`);
  const complete = written(`
    INSERT INTO ${name} (id, token, claimed_until, completed_at) VALUES (?, ?, 0, ?)
    ON CONFLICT (id) DO UPDATE SET completed_at = coalesce(${alias}.completed_at, excluded.completed_at)
    RETURNING id`);
  const release = written(
    `DELETE FROM ${name} WHERE id = ? AND token = ? AND completed_at IS NULL RETURNING id`,
  );
  const purge = written(`DELETE FROM ${name} WHERE completed_at < ? RETURNING id`);
  return {
    async claim({ id, token, now, leaseMs }) {
      if ((await query(claim, [id, token, now + leaseMs, now])).length > 0) return 'claimed';
      const [row] = await query(find, [id]);
      // No row: the claim was released in the meantime. The next delivery gets the event.
      return row !== undefined && row.completed_at !== null ? 'completed' : 'busy';
    },
    async complete({ id, token, now }) {
      await query(complete, [id, token, now]);
    },
    async release({ id, token }) {
      await query(release, [id, token]);
    },
    async purge(before) {
      return (await query(purge, [before])).length;
    },
  };
}
