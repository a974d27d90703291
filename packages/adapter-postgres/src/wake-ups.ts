import { setTimeout as pause } from 'node:timers/promises';
import type { WakeUps, Work } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { deadlineIn } from './deadline.ts';
import { ignore, type Session } from './pool.ts';
import { connectionOn, prepared, statement } from './statement.ts';
import { callTimeoutMs } from './timeouts.ts';

const kinds: readonly Work[] = ['jobs', 'deliveries'];

/**
 * Pause before the next notification if further work was announced during the last one, in milliseconds: work
 * then comes faster than it can be announced.
 */
const busyMs = 25;

/**
 * Pause before connecting again to listen for notifications, in milliseconds: `first`, doubled after each
 * failure, up to `last`.
 */
const againMs = { first: 500, last: 60_000 };

const backend = statement<object, { readonly pid: number }>('SELECT pg_backend_pid() AS pid');

/**
 * Creates the notifications between processes, with NOTIFY on a channel named after the schema. NOTIFY is
 * sent after the commit and not in the transaction that writes: a commit with NOTIFY holds a lock of the
 * whole server until the commit is on the disk, and all other commits with NOTIFY wait for the lock. The
 * transaction that sends this NOTIFY does not wait for the disk, and a process sends one at a time.
 *
 * @param askMs - interval at which a listening connection is checked, in milliseconds
 */
export function postgresWakeUps(database: Database, askMs = 60_000): WakeUps & { close(): void } {
  const send = prepared<{ readonly works: readonly Work[] }>(`
    SELECT pg_notify('${database.schemaName}', work) FROM unnest(:works::text[]) AS work
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
  `);
  const waiting = new Set<Work>();
  const closed = new AbortController();
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    while (waiting.size > 0) {
      const works = [...waiting];
      waiting.clear();
      await database.changeUnsynced((connection) => send.run(connection, { works })).catch(ignore);
      if (waiting.size > 0) await pause(busyMs);
    }
    isSending = false;
  }

  return {
    notify(work) {
      waiting.add(work);
      if (!isSending) void sendAll();
    },
    listen(hear) {
      const stopped = new AbortController();
      const signal = AbortSignal.any([closed.signal, stopped.signal]);
      // A connection that is about to end may still deliver notifications.
      const hearUntilEnd = (work: Work) => {
        if (!signal.aborted) hear(work);
      };
      void keepListening(database, hearUntilEnd, { signal, askMs });
      return () => stopped.abort();
    },
    close: () => closed.abort(),
  };
}

/**
 * Listens for notifications until the signal aborts, on one connection after the other. Gives up if
 * connections cannot listen.
 */
async function keepListening(
  database: Database,
  hear: (work: Work) => void,
  { signal, askMs }: { readonly signal: AbortSignal; readonly askMs: number },
): Promise<void> {
  for (let waitMs = againMs.first; !signal.aborted; waitMs = Math.min(2 * waitMs, againMs.last)) {
    let client: Session | null = null;
    const end = () => void client?.end().catch(ignore);
    signal.addEventListener('abort', end);
    try {
      client = database.session();
      if (client === null) return;
      const ended = endOf(client, hear);
      if (!(await inTime(beginListening(client, database)))) return;
      waitMs = againMs.first;
      for (const work of kinds) hear(work);
      // Query from time to time: a connection that a firewall has dropped, or whose server lost its power, is
      // just silent. A closed connection rejects.
      for (;;) {
        await Promise.race([ended, pause(askMs, undefined, { signal, ref: false })]);
        await inTime(backend.get(connectionOn(client), {}));
      }
    } catch {
      // Nothing is lost in the meantime: workers poll for work.
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
    await pause(waitMs, undefined, { signal, ref: false }).catch(ignore);
  }
}

/** Passes on the notifications that arrive on a connection. Resolves when the connection ends. */
function endOf(client: Session, hear: (work: Work) => void): Promise<void> {
  client.on('error', ignore);
  client.on('notification', ({ payload }) => {
    const told = kinds.find((work) => work === payload);
    if (told !== undefined) hear(told);
  });
  return new Promise((resolve) => client.on('end', resolve));
}

function inTime<T>(work: Promise<T>): Promise<T> {
  const deadline = deadlineIn(callTimeoutMs);
  return deadline.race(work).finally(deadline.clear);
}

/**
 * Starts listening for notifications and returns whether that works. A pooler shows clients its own number
 * instead of the server's process id. In transaction mode, a LISTEN on one of its connections belongs to no
 * client.
 */
async function beginListening(client: Session, { schema }: Database): Promise<boolean> {
  await client.connect();
  // Listening must not keep the process running.
  client.unref?.();
  const served = await backend.get(connectionOn(client), {});
  if (served?.pid !== client.processID) return false;
  await client.query({ text: `LISTEN ${schema}` });
  return true;
}
