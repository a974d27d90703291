import type { Owner, Storage } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { longPatienceMs } from './patience.ts';
import { type Connection, type Statement, statement } from './statement.ts';

function statementsIn(schema: string) {
  /**
   * Removes the rows of a table that ended first. Rows that somebody else holds stay for the next time. As an array, so that
   * they are chosen once, whatever the plan is.
   */
  const removal = (table: string, end: string, condition = 'true') =>
    statement<{ before: number; limit: number }>(`
      DELETE FROM ${schema}.${table} WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM ${schema}.${table} AS old
        WHERE ${end} < :before AND ${condition}
        ORDER BY ${end} LIMIT :limit FOR UPDATE SKIP LOCKED
      ))
    `);
  // Asked of one grant after the other. As NOT EXISTS, PostgreSQL would rather join all that ended with all tokens.
  const isWithout = (tokens: string) =>
    `(SELECT grant_id FROM ${schema}.${tokens} WHERE grant_id = old.id LIMIT 1) IS NULL`;
  return {
    interactions: removal('interactions', 'expires_at'),
    tokens: removal('access_tokens', 'expires_at'),
    refreshTokens: removal('refresh_tokens', 'expires_at'),
    grants: removal('grants', 'ends_at', `${isWithout('access_tokens')} AND ${isWithout('refresh_tokens')}`),
    idempotency: removal('idempotency_records', 'ends_at'),
    rateLimits: removal('rate_limits', 'ends_at'),

    // With their attempts. By the expression that the index has.
    deliveries: statement<{ before: number; limit: number }>(`
      WITH ended AS MATERIALIZED (
        SELECT number FROM ${schema}.deliveries
        WHERE status <> 'pending' AND created_at + 0 < :before
        ORDER BY created_at + 0 LIMIT :limit FOR UPDATE SKIP LOCKED
      ), attempts AS (
        DELETE FROM ${schema}.delivery_attempts WHERE delivery_number = ANY (ARRAY (SELECT number FROM ended))
      )
      DELETE FROM ${schema}.deliveries WHERE number = ANY (ARRAY (SELECT number FROM ended))
    `),

    // Sequences whose first event is old enough.
    sequences: statement<{ eventsBefore: number }, Owner>(`
      SELECT partner, mode FROM ${schema}.event_sequences AS owner
      WHERE (
        SELECT created_at FROM ${schema}.events
        WHERE events.partner = owner.partner AND events.mode = owner.mode
        ORDER BY sequence LIMIT 1
      ) < :eventsBefore
    `),

    // Nobody publishes or delivers again meanwhile.
    lock: statement<Owner>(`
      SELECT 1 FROM ${schema}.event_sequences WHERE partner = :partner AND mode = :mode FOR UPDATE
    `),

    // From the beginning of the sequence up to the first event that has to stay.
    events: statement<Owner & { eventsBefore: number; limit: number }>(`
      WITH oldest AS MATERIALIZED (
        SELECT number, sequence, created_at FROM ${schema}.events
        WHERE partner = :partner AND mode = :mode
        ORDER BY sequence LIMIT :limit
      ), stop AS MATERIALIZED (
        SELECT min(sequence) AS sequence FROM oldest
        WHERE created_at >= :eventsBefore
          OR EXISTS (SELECT 1 FROM ${schema}.deliveries WHERE event_number = oldest.number)
      )
      DELETE FROM ${schema}.events USING oldest, stop
      WHERE events.number = oldest.number AND (stop.sequence IS NULL OR oldest.sequence < stop.sequence)
    `),
  };
}

/**
 * Rows are removed before those that they belong to, so that none is ever left without its parent. Each kind, and
 * each sequence of events, is a transaction of its own: nobody waits for all of it. Rows that somebody else holds
 * are left for the next time.
 */
export function postgresPurge(database: Database): Storage['purge'] {
  const sql = statementsIn(database.schema);

  const remove = (one: Statement<{ before: number; limit: number }>, before: number, limit: number) =>
    database.change((connection) => one.run(connection, { before, limit }), longPatienceMs);

  async function purgeEvents(eventsBefore: number, limit: number): Promise<number> {
    let removed = 0;
    const owners = await database.read(
      (connection) => sql.sequences.all(connection, { eventsBefore }),
      longPatienceMs,
    );
    for (const owner of owners) {
      if (removed === limit) break;
      const request = { ...owner, eventsBefore, limit: limit - removed };
      removed += await database.write(async (connection: Connection) => {
        await sql.lock.run(connection, owner);
        return sql.events.run(connection, request);
      }, longPatienceMs);
    }
    return removed;
  }

  return async ({ now, before, eventsBefore, limit }) => {
    const rows = {
      interactions: await remove(sql.interactions, now, limit),
      tokens: await remove(sql.tokens, before, limit),
      refreshTokens: await remove(sql.refreshTokens, before, limit),
      grants: await remove(sql.grants, before, limit),
      idempotency: await remove(sql.idempotency, now, limit),
      // A window may have ended here and not yet for a process whose clock is behind: hence the minute.
      rateLimits: await remove(sql.rateLimits, now - 60_000, limit),
      deliveries: await remove(sql.deliveries, eventsBefore, limit),
    };
    // The oldest deliveries are those of many owners: as long as there are more of them, each owner would have an event or two to
    // remove, in a transaction of its own.
    const events = rows.deliveries === limit ? 0 : await purgeEvents(eventsBefore, limit);
    return { ...rows, events };
  };
}
