import type { Owner, Storage } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { giveBack } from './free-space.ts';
import { shrinkLog } from './write-ahead-log.ts';

function statementsOn(connection: Connection) {
  /** Builds a statement that removes the rows of a table that expired first. */
  const oldest = (table: string, key: string, end: string) =>
    connection.prepare<[{ before: number; limit: number }]>(`
      DELETE FROM ${table} WHERE ${key} IN (
        SELECT ${key} FROM ${table} WHERE ${end} < :before ORDER BY ${end} LIMIT :limit
      )
    `);

  return {
    interactions: oldest('interactions', 'digest', 'expires_at'),
    answers: oldest('interaction_answers', 'digest', 'expires_at'),
    sandbox: oldest('sandbox_records', 'digest', 'expires_at'),
    proofIds: oldest('used_ids', 'rowid', 'expires_at'),
    pushedRequests: oldest('pushed_requests', 'digest', 'expires_at'),
    portal: oldest('portal_sessions', 'id', 'expires_at'),
    tokens: oldest('access_tokens', 'digest', 'expires_at'),
    refreshTokens: oldest('refresh_tokens', 'digest', 'expires_at'),
    idempotency: oldest('idempotency_records', 'rowid', 'ends_at'),
    grants: connection.prepare<[{ before: number; limit: number }]>(`
      DELETE FROM grants WHERE id IN (
        SELECT id FROM grants
        WHERE ends_at < :before
          AND NOT EXISTS (SELECT 1 FROM access_tokens WHERE access_tokens.grant_id = grants.id)
          AND NOT EXISTS (SELECT 1 FROM refresh_tokens WHERE refresh_tokens.grant_id = grants.id)
        ORDER BY ends_at LIMIT :limit
      )
    `),
    // The attempts are removed with their delivery.
    deliveries: connection.prepare<[{ eventsBefore: number; limit: number }]>(`
      DELETE FROM deliveries WHERE number IN (
        SELECT number FROM deliveries
        WHERE status <> 'pending' AND created_at < :eventsBefore
        ORDER BY created_at LIMIT :limit
      )
    `),

    sequences: connection.prepare<[], Owner>('SELECT partner, mode FROM event_sequences'),
    // Removes the first event of a sequence if it is old enough and has no delivery. If it stays, all events
    // after it stay, so that the sequence has no gap.
    firstEvent: connection.prepare<[Owner & { eventsBefore: number }]>(`
      DELETE FROM events
      WHERE number = (
          SELECT number FROM events WHERE partner = :partner AND mode = :mode ORDER BY sequence LIMIT 1
        )
        AND created_at < :eventsBefore
        AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_number = events.number)
    `),
  };
}

/**
 * Creates the function that removes rows which are no longer needed. Removes rows before the rows to which
 * they belong, so that no row is ever left without its parent. Afterwards returns unused space of the
 * database file and of a large write-ahead log to the file system.
 */
export function sqlitePurge(database: Database): Storage['purge'] {
  const sql = database.prepare(statementsOn);

  function purgeEvents(eventsBefore: number, limit: number): number {
    let removed = 0;
    for (const { partner, mode } of sql().sequences.all()) {
      const first = { partner, mode, eventsBefore };
      while (removed < limit && sql().firstEvent.run(first).changes === 1) removed += 1;
    }
    return removed;
  }

  return async ({ now, before, eventsBefore, limit }) => {
    const removed = await database.write(() => ({
      interactions: sql().interactions.run({ before: now, limit }).changes,
      answers: sql().answers.run({ before: now, limit }).changes,
      sandbox: sql().sandbox.run({ before: now, limit }).changes,
      proofIds: sql().proofIds.run({ before: now, limit }).changes,
      pushedRequests: sql().pushedRequests.run({ before: now, limit }).changes,
      portal: sql().portal.run({ before: now, limit }).changes,
      tokens: sql().tokens.run({ before, limit }).changes,
      refreshTokens: sql().refreshTokens.run({ before, limit }).changes,
      grants: sql().grants.run({ before, limit }).changes,
      idempotency: sql().idempotency.run({ before: now, limit }).changes,
      deliveries: sql().deliveries.run({ eventsBefore, limit }).changes,
      rateLimits: 0,
      events: purgeEvents(eventsBefore, limit),
    }));
    await giveBack(database);
    await shrinkLog(database);
    return removed;
  };
}
