import { setTimeout as pause } from 'node:timers/promises';
import { mayComeUp } from './errors.ts';
import type { PostgresPool, PostgresPoolClient } from './pool.ts';
import { primaryOf } from './primary.ts';

/** Function that is called with the error of each failed attempt to connect. */
type OnFailure = (error: unknown) => void;

/** Function that connects to the primary server, within a timeout in milliseconds. */
type Connect = (timeoutMs: number, onFailure: OnFailure) => Promise<PostgresPoolClient>;

/**
 * Functions that connect pools which this package opened; the functions know every host of the connection
 * string.
 */
const connectFunctions = new WeakMap<PostgresPool, Connect>();

/** Sets the function with which a pool connects, instead of its method `connect`, which takes no timeout. */
export function connectsWith(pool: PostgresPool, connect: Connect): void {
  connectFunctions.set(pool, connect);
}

/** Takes a connection to the primary server from a pool, and retries as {@link connected} does. */
export function connectionOf(
  pool: PostgresPool,
  timeoutMs: number,
  onFailure: OnFailure,
): Promise<PostgresPoolClient> {
  const connect = connectFunctions.get(pool);
  if (connect !== undefined) return connect(timeoutMs, onFailure);
  return connected(() => primaryOf(pool, timeoutMs), timeoutMs, onFailure);
}

/** Pauses between attempts to connect, in milliseconds: `first`, doubled each time, up to `last`. */
const pausesMs = { first: 25, last: 400 };

/**
 * Connects to the database, and tries again while the server is briefly unavailable: it restarts, has too
 * many clients, is a standby that is about to be promoted, or a pooler in between has no connection to it.
 * Throws errors that waiting cannot solve, such as a wrong password, at once. After `timeoutMs` throws the
 * last error.
 */
export async function connected<Connection>(
  connect: () => Promise<Connection>,
  timeoutMs: number,
  onFailure: OnFailure = () => {},
): Promise<Connection> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = pausesMs.first; ; pauseMs = Math.min(2 * pauseMs, pausesMs.last)) {
    try {
      return await connect();
    } catch (error) {
      onFailure(error);
      if (!mayComeUp(error) || performance.now() + pauseMs >= end) throw error;
    }
    await pause(pauseMs);
  }
}
