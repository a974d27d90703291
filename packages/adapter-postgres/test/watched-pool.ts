import { once } from 'node:events';
import { Pool, type PoolClient } from 'pg';
import type { PostgresPool, PostgresPoolClient } from '../src/index.ts';

/** Statement that was sent. */
export interface Ran {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type WatchedPool = ReturnType<typeof watchedPool>;

/** A pool that records the statements for the server, and those that it refuses. */
export function watchedPool(connectionString: string) {
  const own = new Pool({ connectionString });
  // Ignore errors, because a pool does not wait until its connections have ended, and the server may be
  // stopped before that.
  const ends: Promise<unknown>[] = [];
  own.on('connect', (client) => ends.push(once(client, 'end')));
  let sent: Ran[] = [];
  const refusals: string[] = [];
  const lent = new WeakMap<PoolClient, PostgresPoolClient>();
  const watched = (client: PoolClient): PostgresPoolClient => ({
    async query({ name, text, values, types }) {
      // Sent once per connection, before any call.
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
    /** Pool for statements of the test itself, which are not recorded. */
    own,
    /** Returns the statements since the last call. */
    ran(): readonly Ran[] {
      const last = sent;
      sent = [];
      return last;
    },
    /** Returns the SQLSTATE of every error so far. */
    refusals,
    async end() {
      await own.end();
      await Promise.all(ends);
    },
  };
}
