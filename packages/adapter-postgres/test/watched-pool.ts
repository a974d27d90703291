import { once } from 'node:events';
import { Pool, type PoolClient } from 'pg';
import type { PostgresPool, PostgresPoolClient } from '../src/index.ts';

/** A statement that was sent to the database server. */
export interface Ran {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type WatchedPool = ReturnType<typeof watchedPool>;

/** Makes a pool that records the statements sent to the server, and its errors. */
export function watchedPool(connectionString: string) {
  const own = new Pool({ connectionString });
  // Ignore errors: a pool does not wait for the end of its connections, and the server may stop before.
  const ends: Promise<unknown>[] = [];
  own.on('connect', (client) => ends.push(once(client, 'end')));
  let sent: Ran[] = [];
  const refusals: string[] = [];
  const lent = new WeakMap<PoolClient, PostgresPoolClient>();
  const watched = (client: PoolClient): PostgresPoolClient => ({
    async query({ name, text, values, types }) {
      // Not recorded, because it is sent once per connection, before any call.
      if (text !== 'SHOW transaction_read_only') sent.push({ text, values: values ?? [] });
      try {
        return await client.query({
          ...(name && { name }),
          text,
          ...(values && { values: [...values] }),
          ...(types && { types }),
        });
      } catch (error) {
        refusals.push(error instanceof Error && 'code' in error ? String(error.code) : 'none');
        throw error;
      }
    },
    on: (event, listener) => client.on(event, listener),
    removeListener: (event, listener) => client.removeListener(event, listener),
    release: (destroy) => client.release(destroy),
  });
  const pool: PostgresPool = {
    async connect() {
      const client = await own.connect();
      const one = lent.get(client) ?? watched(client);
      lent.set(client, one);
      return one;
    },
  };
  return {
    pool,
    /** Pool for the test itself, whose statements are not recorded. */
    own,
    /** Returns the statements that were sent since the last call. */
    ran(): readonly Ran[] {
      const last = sent;
      sent = [];
      return last;
    },
    /** SQLSTATEs of all errors of the pool so far. */
    refusals,
    async end() {
      await own.end();
      await Promise.all(ends);
    },
  };
}
