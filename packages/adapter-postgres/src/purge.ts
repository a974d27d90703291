import type { Storage } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Statement, statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

/** Numbers of events to remove, and those among them that this transaction was able to lock. */
interface Choice {
  readonly chosen: readonly number[];
  readonly held: readonly number[];
}

function statementsIn(schema: string) {
  /**
   * Builds a statement that removes the rows of a table that expired first. Rows that another transaction has
   * locked are left for the next call. The rows are selected as an array, so that every query plan selects
   * them only once.
   */
  const removal = (table: string, end: string, condition = 'true') =>
    statement<{ before: number; limit: number }>(`
      DELETE FROM ${schema}.${table} WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM ${schema}.${table} AS old
        WHERE ${end} < :before AND ${condition}
        ORDER BY ${end} LIMIT :limit FOR UPDATE SKIP LOCKED
      ))
    `);
  // Checked row by row. For NOT EXISTS, PostgreSQL would rather join all expired rows with the whole table.
  const isWithout = (table: string, reference: string) =>
    `(SELECT 1 FROM ${schema}.${table} WHERE ${reference} LIMIT 1) IS NULL`;
  const hasNoToken = ['access_tokens', 'refresh_tokens'].map((table) =>
    isWithout(table, 'grant_id = old.id'),
  );
  const eventOf = (owner: string) => `
    SELECT number, partner, mode, sequence, created_at FROM ${schema}.events
    WHERE partner = ${owner}.partner AND mode = ${owner}.mode`;
  const hasNoDelivery = isWithout('deliveries', 'event_number = event.number');
  return {
    interactions: removal('interactions', 'expires_at'),
    answers: removal('interaction_answers', 'expires_at'),
    sandbox: removal('sandbox_records', 'expires_at'),
    proofIds: removal('used_ids', 'expires_at'),
    pushedRequests: removal('pushed_requests', 'expires_at'),
    portal: removal('portal_sessions', 'expires_at'),
    tokens: removal('access_tokens', 'expires_at'),
    refreshTokens: removal('refresh_tokens', 'expires_at'),
    grants: removal('grants', 'ends_at', hasNoToken.join(' AND ')),
    idempotency: removal('idempotency_records', 'ends_at'),
    rateLimits: removal('rate_limits', 'ends_at'),

    // Removes deliveries with their attempts. Uses the expression of the index.
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

    // Walks each sequence from its first event on, while events can be removed. Once events are locked, no
    // further delivery of them is created. Does not wait for a transaction that is creating one.
    choice: statement<{ eventsBefore: number; limit: number }, Choice>(`
      WITH RECURSIVE oldest AS (
        SELECT event.* FROM ${schema}.event_sequences AS owner
        CROSS JOIN LATERAL (${eventOf('owner')} ORDER BY sequence LIMIT 1) AS event
        WHERE created_at < :eventsBefore AND ${hasNoDelivery}
        UNION ALL
        SELECT event.* FROM oldest
        CROSS JOIN LATERAL (${eventOf('oldest')} AND sequence = oldest.sequence + 1 LIMIT 1) AS event
        WHERE event.created_at < :eventsBefore AND ${hasNoDelivery}
      ), chosen AS MATERIALIZED (
        SELECT number FROM oldest LIMIT :limit
      ), held AS MATERIALIZED (
        SELECT number FROM ${schema}.events WHERE number = ANY (ARRAY (SELECT number FROM chosen)) FOR UPDATE SKIP LOCKED
      )
      SELECT ARRAY (SELECT number FROM chosen) AS chosen, ARRAY (SELECT number FROM held) AS held
    `),

    // Removes events from the beginning of each sequence up to the first one that must stay after all.
    events: statement<Choice>(`
      WITH chosen AS MATERIALIZED (
        SELECT number, bool_and(number = ANY (:held) AND ${hasNoDelivery}) OVER (PARTITION BY partner, mode ORDER BY sequence)
          AS can_go
        FROM ${schema}.events AS event WHERE number = ANY (:chosen)
      )
      DELETE FROM ${schema}.events WHERE number = ANY (ARRAY (SELECT number FROM chosen WHERE can_go))
    `),
  };
}

/**
 * Creates the function that removes rows which are no longer needed. Removes rows before the rows to which
 * they belong, so that no row is ever left without its parent. Each kind is a transaction of its own, so that
 * calls that publish do not wait. Rows that another transaction has locked are left for the next call.
 */
export function postgresPurge(database: Database): Storage['purge'] {
  const sql = statementsIn(database.schema);

  const remove = (one: Statement<{ before: number; limit: number }>, before: number, limit: number) =>
    database.change((connection) => one.run(connection, { before, limit }), longTimeoutMs);

  /**
   * Removes events with two statements: the second sees deliveries that were created before the first got its
   * locks.
   */
  const removeEvents = (eventsBefore: number, limit: number) =>
    database.write(async (connection) => {
      const choice = await sql.choice.get(connection, { eventsBefore, limit });
      return choice === undefined ? 0 : sql.events.run(connection, choice);
    }, longTimeoutMs);

  return async ({ now, before, eventsBefore, limit }) => ({
    interactions: await remove(sql.interactions, now, limit),
    answers: await remove(sql.answers, now, limit),
    sandbox: await remove(sql.sandbox, now, limit),
    proofIds: await remove(sql.proofIds, now, limit),
    pushedRequests: await remove(sql.pushedRequests, now, limit),
    portal: await remove(sql.portal, now, limit),
    tokens: await remove(sql.tokens, before, limit),
    refreshTokens: await remove(sql.refreshTokens, before, limit),
    grants: await remove(sql.grants, before, limit),
    idempotency: await remove(sql.idempotency, now, limit),
    // A window may have ended for this clock but not for a process whose clock is behind: hence the minute.
    rateLimits: await remove(sql.rateLimits, now - 60_000, limit),
    deliveries: await remove(sql.deliveries, eventsBefore, limit),
    events: await removeEvents(eventsBefore, limit),
  });
}
