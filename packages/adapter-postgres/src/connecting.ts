import { setTimeout as pause } from 'node:timers/promises';
import { mayComeUp } from './errors.ts';
import type { PostgresPool, PostgresPoolClient } from './pool.ts';
import { primaryOf } from './primary.ts';

/** Called with the error of each attempt that failed. */
type OnFailure = (error: unknown) => void;

/** Connects to the primary within a time in milliseconds. */
type Connect = (timeoutMs: number, onFailure: OnFailure) => Promise<PostgresPoolClient>;

/** Functions that connect the pools which a storage made itself. They know every host of the connection string. */
const ownConnects = new WeakMap<PostgresPool, Connect>();

/** Says how a pool connects, instead of by its method `connect`, which has no time. */
export function connectsWith(pool: PostgresPool, connect: Connect): void {
  ownConnects.set(pool, connect);
}

/** Takes a connection of a pool that leads to the primary, and waits for it, see {@link connected}. */
export function connectionOf(
  pool: PostgresPool,
  timeoutMs: number,
  onFailure: OnFailure,
): Promise<PostgresPoolClient> {
  const connect = ownConnects.get(pool);
  if (connect !== undefined) return connect(timeoutMs, onFailure);
  return connected(() => primaryOf(pool, timeoutMs), timeoutMs, onFailure);
}

/** Pauses between two attempts to connect, in milliseconds: the first, twice as long each time, at most the last. */
const pausesMs = { first: 25, last: 400 };

/**
 * Connects, and tries again while the server is not there for a moment: it restarts, has too many clients, is a standby that is
 * about to be promoted, or a pooler in between has no connection to it. What waiting cannot mend, such as a wrong password, is
 * thrown at once. After `timeoutMs` the last error is thrown.
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
