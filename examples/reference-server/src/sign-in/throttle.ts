import { createHmac } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { networkOf } from '../http/network.ts';

/** Failed sign-ins per window, which begins with the first of them. */
export interface Limit {
  readonly failures: number;
  readonly windowMs: number;
}

/** Somebody wants to sign in. */
export interface SignInAttempt {
  readonly handle: string;
  /** `null` when it cannot be determined: such callers share one network. */
  readonly address: string | null;
  /** The name of a browser in which the user of this handle has signed in before; `null` for any other. */
  readonly browser: string | null;
}

/** A sign-in that is let through, or how long to wait. */
export type Admission =
  | { readonly admitted: true; settle(outcome: 'failed' | 'succeeded' | 'undecided'): Promise<void> }
  | { readonly admitted: false; readonly retryAfterSeconds: number };

const [quarter, hour] = [15 * 60_000, 60 * 60_000];

/**
 * Counters of failed sign-ins. A hundred networks together stay below the limit of a handle, even if the
 * windows of all of them end within its hour. People in one mobile network share an address, so the limit of
 * a network is generous.
 */
export const defaultLimits = {
  /**
   * Counts one handle from one network (IPv6: a /48). This limit stops a stranger without locking the user
   * out elsewhere.
   */
  perHandleAndNetwork: { failures: 10, windowMs: hour },
  /** For one handle from everywhere: what a stranger with hundreds of networks has. */
  perHandle: { failures: 2_500, windowMs: hour },
  /** For all handles from one network (IPv6: a /64). */
  perNetwork: { failures: 100, windowMs: quarter },
  /** For a browser in which the user has signed in before, for which none of the others count. */
  perBrowser: { failures: 10, windowMs: quarter },
} satisfies Readonly<Record<string, Limit>>;

export type ThrottleLimits = Readonly<typeof defaultLimits>;

const purgeLimit = 100;

/**
 * Checks whether a window goes on. A window that ends later than possible, with five seconds for clocks that
 * differ, began before the clock went back, and is over.
 */
const goesOn = '(t.ends_at > :now AND t.ends_at <= :endsAt + 5000)';

/** Counts an attempt unless its window is full. Decided by one statement, so that attempts in other processes are seen. */
const count = `
  INSERT INTO app_throttle AS t (subject, failures, ends_at) VALUES (:subject, 1, :endsAt)
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN ${goesOn} THEN t.failures + 1 ELSE 1 END,
    ends_at = CASE WHEN ${goesOn} THEN t.ends_at ELSE :endsAt END
  WHERE NOT ${goesOn} OR t.failures < :limit
  RETURNING ends_at`;

/** Names the window: an attempt that began in an earlier one must not be taken out of this one. */
const takeBack = `
  UPDATE app_throttle SET failures = CASE WHEN failures > 0 THEN failures - 1 ELSE 0 END
  WHERE subject = :subject AND ends_at = :endsAt`;

const purge = `
  DELETE FROM app_throttle WHERE ends_at <= :now AND subject IN
    (SELECT subject FROM app_throttle WHERE ends_at <= :now ORDER BY ends_at LIMIT ${purgeLimit})`;

const look = 'SELECT ends_at FROM app_throttle WHERE subject = :subject';

/** A counter of failures. */
interface Counter {
  readonly subject: Buffer;
  readonly limit: Limit;
  /** True if a right password shows that the earlier failures were the user's own. */
  readonly clears: boolean;
}

/** An attempt that is let through counts in this window. */
type Window = Omit<Counter, 'limit'> & { readonly endsAt: number };

/** A window is full. Takes back what was counted in the same transaction. */
class Full extends Error {
  override readonly name = 'Full';
  readonly until: number;

  constructor(until: number) {
    super('too many attempts');
    this.until = until;
  }
}

/** Counts an attempt in all windows or in none. @throws {@link Full} */
function enter(database: Database, now: number, counters: readonly Counter[]): Promise<readonly Window[]> {
  return database.write(async (transaction) => {
    await transaction.run(purge, { now });
    const windows: Window[] = [];
    for (const { subject, limit, clears } of counters) {
      const values = { subject, limit: limit.failures, now, endsAt: now + limit.windowMs };
      const row = await transaction.get<{ ends_at: number }>(count, values);
      if (row === undefined) {
        const full = await transaction.get<{ ends_at: number }>(look, { subject });
        throw new Full(full?.ends_at ?? values.endsAt);
      }
      windows.push({ subject, endsAt: row.ends_at, clears });
    }
    return windows;
  });
}

/**
 * Slows down password guessing, for one user or for many. Windows are fixed and stored in the database, so
 * that a restart does not reset them. Handles and addresses are stored under a key, so that the table does
 * not reveal who tried to sign in from where.
 *
 * @param keys - an attempt counts under each of them, and a window that is full under any of them refuses: so a change of
 * keys, in which processes know different ones for a while, gives nobody more attempts
 */
export function createThrottle(
  database: Database,
  keys: readonly Uint8Array[],
  now: () => number,
  changes: Partial<ThrottleLimits> = {},
) {
  const limits = { ...defaultLimits, ...changes };

  /** In an order of their own, so that transactions of processes that know the keys in another one do not wait in a circle. */
  const countersOf = (kind: keyof ThrottleLimits, value: string, clears: boolean): Counter[] =>
    keys
      .map((key) => createHmac('sha256', key).update(`${kind}\n${value}`).digest())
      .sort((a, b) => a.compare(b))
      .map((subject) => ({ subject, limit: limits[kind], clears }));

  /**
   * Count in the same order for all attempts, for the same reason. The counters that refuse a stranger first
   * are those that no other user shares.
   */
  function countersFor({ handle, address, browser }: SignInAttempt): readonly Counter[] {
    if (browser !== null) return countersOf('perBrowser', browser, true);
    const name = handle.toLowerCase();
    return [
      ...countersOf('perHandleAndNetwork', `${networkOf(address, 48)}\n${name}`, true),
      ...countersOf('perHandle', name, false),
      ...countersOf('perNetwork', networkOf(address), false),
    ];
  }

  return {
    /**
     * Asks before the password is looked at. The attempt counts from this moment, so that parallel guesses cannot
     * overtake the count; `settle` takes it back unless it failed.
     */
    async admit(attempt: SignInAttempt): Promise<Admission> {
      const time = now();
      let windows: readonly Window[];
      try {
        windows = await enter(database, time, countersFor(attempt));
      } catch (error) {
        if (!(error instanceof Full)) throw error;
        return { admitted: false, retryAfterSeconds: Math.ceil((error.until - time) / 1000) };
      }
      return {
        admitted: true,
        async settle(outcome) {
          if (outcome === 'failed') return;
          await database.write(async (transaction) => {
            for (const { subject, endsAt, clears } of windows) {
              if (outcome === 'succeeded' && clears)
                await transaction.run('DELETE FROM app_throttle WHERE subject = :subject', { subject });
              // Failures of others stay: a user who signs in must not give those who guess another round.
              else await transaction.run(takeBack, { subject, endsAt });
            }
          });
        },
      };
    },
  };
}
