import type { EventRecord, EventStore, Owner, Publication } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { holdersOn } from './holders.ts';
import { hostTransactions } from './host-transactions.ts';
import { sqliteClaims } from './idempotency.ts';
import { publicationsOn } from './publications.ts';

const columns = 'id, partner, mode, sequence, type, body, created_at AS createdAt';

const latestWhere = (condition: string) => `
  SELECT ${columns} FROM events
  WHERE partner = :partner AND mode = :mode AND sequence < ifnull(:before, 9223372036854775807) AND ${condition}
  ORDER BY sequence DESC LIMIT :limit
`;

export function sqliteEvents(database: Database): EventStore {
  const claims = sqliteClaims(database);
  const publications = database.prepare(publicationsOn);
  const holders = database.prepare(holdersOn);
  const within = hostTransactions(database);
  const sql = database.prepare((connection) => ({
    list: connection.prepare<[Owner & { after: number; limit: number }], EventRecord>(`
      SELECT ${columns} FROM events
      WHERE partner = :partner AND mode = :mode AND sequence > :after
      ORDER BY sequence LIMIT :limit
    `),

    latest: connection.prepare<[Parameters<EventStore['latest']>[0]], EventRecord>(latestWhere('true')),
    latestOfType: connection.prepare<[Parameters<EventStore['latest']>[0]], EventRecord>(
      latestWhere('type = :type'),
    ),

    oldest: connection.prepare<[Owner], { oldest: number | null }>(`
      SELECT min(sequence) AS oldest FROM events WHERE partner = :partner AND mode = :mode
    `),

    find: connection.prepare<[Owner & { id: string }], EventRecord>(`
      SELECT ${columns} FROM events WHERE id = :id AND partner = :partner AND mode = :mode
    `),
  }));

  return {
    async publish(events, { idempotency, now }) {
      const rows = events.map((event) => ({ ...event }));
      return claims.once<Publication>(idempotency, now, () => {
        publications().publish(rows);
        return { outcome: 'published' };
      });
    },

    within,

    partnersHolding: ({ sub, scope }) => database.read(() => holders()({ sub, scope })),

    list: ({ partner, mode, after, limit }) =>
      database.read(() => ({
        events: sql().list.all({ partner, mode, after, limit }),
        oldestSequence: sql().oldest.get({ partner, mode })?.oldest ?? null,
      })),

    latest: ({ partner, mode, before, type, limit }) =>
      database.read(() =>
        sql()[type === null ? 'latest' : 'latestOfType'].all({ partner, mode, before, type, limit }),
      ),

    find: ({ partner, mode }, id) => database.read(() => sql().find.get({ partner, mode, id }) ?? null),
  };
}
