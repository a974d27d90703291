import type { Database } from './database.ts';

/** What this server and Ostiary go by. */
export interface SharedClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  stop(): void;
}

const measuredEveryMs = 60_000;

/** What the database's clock is ahead of this machine's, by an answer that takes its way back as long as the way there. */
async function measure(database: Database, machine: () => number): Promise<number> {
  const asked = machine();
  const row = await database.get<{ now: number }>(
    'SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS now',
  );
  const answered = machine();
  return row === undefined ? 0 : row.now - (asked + answered) / 2;
}

/**
 * The clock of the database where machines share one: a session, a wait or a lease ends at one moment, whoever looks.
 * Follows it every minute; while the database is gone the difference stays as it was. On SQLite the machine's clock.
 */
export async function sharedClock(
  database: Database,
  machine: () => number = Date.now,
  everyMs = measuredEveryMs,
): Promise<SharedClock> {
  if (database.schema === null) return { now: machine, stop() {} };
  let ahead = await measure(database, machine);
  const timer = setInterval(() => {
    measure(database, machine).then(
      (measured) => {
        ahead = measured;
      },
      () => undefined,
    );
  }, everyMs);
  timer.unref();
  return { now: () => Math.round(machine() + ahead), stop: () => clearInterval(timer) };
}
