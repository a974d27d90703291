import { createHmac } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { networkOf } from '../http/network.ts';

/** Maximum number of failed sign-ins in a time window. A window begins with its first failure. */
export interface Limit {
  readonly failures: number;
  readonly windowMs: number;
}

/** An attempt to sign in, before the password is checked. */
export interface SignInAttempt {
  readonly handle: string;
  /** IP address of the client; `null` if unknown. All unknown clients count as one network. */
  readonly address: string | null;
  /**
   * Name of the browser if the user with this handle has signed in with it before; `null` for any other
   * browser.
   */
  readonly browser: string | null;
}

/** Decision about an attempt to sign in: admitted, or refused with the time to wait. */
export type Admission =
  | { readonly admitted: true; settle(outcome: 'failed' | 'succeeded' | 'undecided'): Promise<void> }
  | { readonly admitted: false; readonly retryAfterSeconds: number };

const [quarter, hour] = [15 * 60_000, 60 * 60_000];

/**
 * Limits of failed sign-ins. A hundred networks together stay below the limit of a handle, even if their
 * windows all fall into one hour. Users of a mobile network share an IP address, so the limit of a network is
 * generous.
 */
export const defaultLimits = {
  /**
   * Limit of failed sign-ins for one handle from one network (IPv6: a /48). The limit stops a stranger
   * without locking the user out elsewhere.
   */
  perHandleAndNetwork: { failures: 10, windowMs: hour },
  /**
   * Limit of failed sign-ins for one handle from all networks, against a stranger with hundreds of networks.
   */
  perHandle: { failures: 2_500, windowMs: hour },
  /** Limit of failed sign-ins for all handles from one network (IPv6: a /64). */
  perNetwork: { failures: 100, windowMs: quarter },
  /**
   * Limit of failed sign-ins in a browser in which the user has signed in before. The other limits do not
   * apply to such a browser.
   */
  perBrowser: { failures: 10, windowMs: quarter },
} satisfies Readonly<Record<string, Limit>>;

export type ThrottleLimits = Readonly<typeof defaultLimits>;

const purgeLimit = 100;

/**
 * SQL condition for a current window. A window that ends too far in the future (allowing five seconds between
 * clocks) began before the clock was set back, and counts as over.
 */
const goesOn = '(t.ends_at > :now AND t.ends_at <= :endsAt + 5000)';

/**
 * SQL that counts an attempt to sign in unless its window is full. A single statement decides, so that
 * attempts in other processes are counted.
 */
const count = `
  INSERT INTO app_throttle AS t (subject, failures, ends_at) VALUES (:subject, 1, :endsAt)
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN ${goesOn} THEN t.failures + 1 ELSE 1 END,
    ends_at = CASE WHEN ${goesOn} THEN t.ends_at ELSE :endsAt END
  WHERE NOT ${goesOn} OR t.failures < :limit
  RETURNING ends_at`;

/** SQL that takes an attempt out of the window in which it was counted, but not out of a later window. */
const takeBack = `
  UPDATE app_throttle SET failures = CASE WHEN failures > 0 THEN failures - 1 ELSE 0 END
  WHERE subject = :subject AND ends_at = :endsAt`;

const purge = `
  DELETE FROM app_throttle WHERE ends_at <= :now AND subject IN
    (SELECT subject FROM app_throttle WHERE ends_at <= :now ORDER BY ends_at LIMIT ${purgeLimit})`;

const findFull = 'SELECT ends_at FROM app_throttle WHERE subject = :subject';

/** A counter of failed sign-ins with its limit. */
interface Counter {
  readonly subject: Buffer;
  readonly limit: Limit;
  /**
   * True if a correct password proves that the earlier failures were the user's own, and resets the counter.
   */
  readonly clears: boolean;
}

/** Time window in which an admitted attempt was counted. */
type Window = Omit<Counter, 'limit'> & { readonly endsAt: number };

/** Thrown if a window is full, to roll back what the transaction has counted. */
class Full extends Error {
  override readonly name = 'Full';
  readonly until: number;

  constructor(until: number) {
    super('too many attempts');
    this.until = until;
  }
}

/** Counts an attempt in all of its windows, or in none. @throws {@link Full} */
function enter(database: Database, now: number, counters: readonly Counter[]): Promise<readonly Window[]> {
  return database.write(async (transaction) => {
    await transaction.run(purge, { now });
    const windows: Window[] = [];
    for (const { subject, limit, clears } of counters) {
      const values = { subject, limit: limit.failures, now, endsAt: now + limit.windowMs };
      const row = await transaction.get<{ ends_at: number }>(count, values);
      if (row === undefined) {
        const full = await transaction.get<{ ends_at: number }>(findFull, { subject });
        throw new Full(full?.ends_at ?? values.endsAt);
      }
      windows.push({ subject, endsAt: row.ends_at, clears });
    }
    return windows;
  });
}

/**
 * Slows down password guessing, for one user or for many. Windows are fixed and stored in the database, so
 * that a restart does not reset them. Handles and IP addresses are stored as keyed hashes, so that the table
 * does not reveal who tried to sign in from where.
 *
 * @param keys - keys of the hashes. An attempt counts under each key, and is refused if its window is full
 * under any key, so that replacing keys, while processes know different ones, does not allow more attempts
 */
export function createThrottle(
  database: Database,
  keys: readonly Uint8Array[],
  now: () => number,
  changes: Partial<ThrottleLimits> = {},
) {
  const limits = { ...defaultLimits, ...changes };

  /**
   * Makes the counters for a handle or address under each key. The counters are sorted by hash, so that
   * processes with different key orders cannot deadlock.
   */
  const countersOf = (kind: keyof ThrottleLimits, value: string, clears: boolean): Counter[] =>
    keys
      .map((key) => createHmac('sha256', key).update(`${kind}\n${value}`).digest())
      .sort((a, b) => a.compare(b))
      .map((subject) => ({ subject, limit: limits[kind], clears }));

  /**
   * Lists the counters of an attempt, in the same order for all attempts to avoid deadlocks. Counters that no
   * other user shares come first, so that they refuse a stranger first.
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
     * Admits or refuses an attempt to sign in, before the password is checked. The attempt counts as failed
     * at once, so that parallel guesses cannot exceed the limit. `settle` takes the attempt out of the count
     * again unless it failed.
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
              // Failures of others remain: a user who signs in must not give attackers more attempts.
              else await transaction.run(takeBack, { subject, endsAt });
            }
          });
        },
      };
    },
  };
}
