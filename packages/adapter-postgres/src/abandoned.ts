import { setTimeout as pause } from 'node:timers/promises';
import { deadlineIn } from './deadline.ts';
import { sqlStateOf } from './errors.ts';
import { connectionBeside, ignore, type PostgresPool, type Session } from './pool.ts';
import { connectionOn, statement } from './statement.ts';
import { callTimeoutMs } from './timeouts.ts';

/** A connection whose call has given up while the server still runs its statement. */
interface Abandoned {
  /** Process id of the server process behind the connection. */
  readonly pid: number;
  /** False if the statement may be committing: a cancelled commit would take effect without its standby. */
  readonly mayCancel: boolean;
  /** Gives the connection up, because the server process is gone or cannot be reached. */
  readonly drop: () => void;
}

/** Pause between two questions to the server about its processes, in milliseconds. */
const askMs = 500;

/** Abandoned connections of each pool that has some. Each such pool has one running {@link watch}. */
const abandonedOf = new WeakMap<PostgresPool, Set<Abandoned>>();

// One CASE, because the conditions of a WHERE have no order: the process id that a pooler or another server gave may be
// that of a process of somebody else. An idle process has no statement, so its connection was cut. A process that waits
// for a lock is not committing yet, and one that waits for a standby has committed. A role that sessions switch to may
// not cancel statements of the user's own processes, so this transaction runs without it.
const stillRunning = statement<{ pids: readonly number[]; cancel: readonly number[] }, { pid: number }>(`
  SELECT pid FROM pg_stat_activity WHERE pid = ANY (:pids::integer[]) AND CASE
    WHEN usename IS DISTINCT FROM session_user OR datname IS DISTINCT FROM current_database() THEN false
    WHEN state LIKE 'idle%' OR set_config('role', 'none', true) <> 'none' THEN false
    WHEN wait_event = 'SyncRep' THEN true
    WHEN wait_event_type = 'Lock' OR pid = ANY (:cancel::integer[]) THEN pg_cancel_backend(pid)
    ELSE true
  END
`);

/**
 * Waits while the server still runs the statement of a call that has given up. A server does not notice that
 * a connection was closed as long as its statement waits, for a lock or for a standby. If such a connection
 * were closed and replaced at once, the server processes of one pool would grow without a limit.
 *
 * Resolves when the statement has ended, and also if the server cannot be asked, or has no such process: it
 * has failed, another server is the primary now, a pooler is in between, or the network has cut the connection.
 */
export async function untilEnded(
  pool: PostgresPool,
  pid: unknown,
  running: Promise<unknown>,
  mayCancel: boolean,
): Promise<void> {
  if (typeof pid !== 'number') return;
  const ended = Promise.withResolvers<void>();
  const one = { pid, mayCancel, drop: ended.resolve };
  running.then(
    () => ended.resolve(),
    () => ended.resolve(),
  );
  const all = abandonedOf.get(pool) ?? new Set();
  all.add(one);
  if (!abandonedOf.has(pool)) {
    abandonedOf.set(pool, all);
    void watch(pool, all);
  }
  await ended.promise;
  all.delete(one);
}

/** Gives up all connections of a pool that wait in {@link untilEnded}, because the pool is closed. */
export function dropAbandoned(pool: PostgresPool | null): void {
  for (const { drop } of (pool && abandonedOf.get(pool)) ?? []) drop();
}

/**
 * Asks the server about the abandoned connections of a pool, as long as there are some. Cancels statements that
 * cannot be committing, and gives up connections whose server process is gone.
 */
async function watch(pool: PostgresPool, all: ReadonlySet<Abandoned>): Promise<void> {
  // A call that just failed has mostly ended by then.
  await Promise.resolve();
  while (all.size > 0) {
    const asked = [...all];
    const alive = await aliveOf(pool, asked);
    for (const one of asked) if (!alive.has(one.pid)) one.drop();
    await pause(askMs, undefined, { ref: false });
  }
  abandonedOf.delete(pool);
}

/**
 * Returns the process ids that still run a statement; none if the server cannot be asked. Uses a connection
 * beside the pool, whose connections may all be abandoned.
 */
async function aliveOf(pool: PostgresPool, asked: readonly Abandoned[]): Promise<ReadonlySet<number>> {
  const deadline = deadlineIn(callTimeoutMs);
  let session: Session | null = null;
  try {
    session = connectionBeside(pool);
    if (session === null) return new Set();
    session.on('error', ignore);
    await deadline.race(Promise.resolve(session.connect()));
    const pids = asked.map(({ pid }) => pid);
    const cancel = asked.filter(({ mayCancel }) => mayCancel).map(({ pid }) => pid);
    const rows = await deadline.race(stillRunning.all(connectionOn(session), { pids, cancel }));
    return new Set(rows.map(({ pid }) => pid));
  } catch (error) {
    // The statements still run on a server that has no connection left. If their places were free, calls of this process
    // would take each connection that other programs give back.
    return new Set(sqlStateOf(error) === '53300' ? asked.map(({ pid }) => pid) : []);
  } finally {
    deadline.clear();
    void session?.end().catch(ignore);
  }
}
