import { once } from 'node:events';
import { Pool } from 'pg';
import type { PostgresPool } from '../src/index.ts';

/** A statement that was sent. */
export interface Ran {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A pool that tells what is sent to the server, and what it refuses. */
export interface WatchedPool {
  readonly pool: PostgresPool;
  /** For statements of the test's own, which are not told. */
  readonly own: Pool;
  /** What was sent since this was called last. */
  ran(): readonly Ran[];
  /** The SQLSTATE of every error so far. */
  readonly refusals: readonly string[];
  end(): Promise<void>;
}

export function watchedPool(connectionString: string): WatchedPool {
  const own = new Pool({ connectionString });
  // A pool does not wait until its connections have ended, and the server may be stopped before that.
  const ends: Promise<unknown>[] = [];
  own.on('connect', (client) => ends.push(once(client, 'end')));
  let sent: Ran[] = [];
  const refusals: string[] = [];
  const pool: PostgresPool = {
    async connect() {
      const client = await own.connect();
      return {
        async query({ name, text, values, types }) {
          sent.push({ text, values: values ?? [] });
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
      };
    },
  };
  return {
    pool,
    own,
    ran() {
      const last = sent;
      sent = [];
      return last;
    },
    refusals,
    async end() {
      await own.end();
      await Promise.all(ends);
    },
  };
}
