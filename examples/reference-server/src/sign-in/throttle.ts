import { createHmac } from 'node:crypto';
import type { Database } from '../database/queries.ts';

/** How many failed sign-ins one window takes. */
export interface ThrottleLimits {
  readonly perHandle: number;
  readonly perNetwork: number;
  readonly windowMs: number;
}

/** A sign-in that is let through, or how long to wait. */
export type Admission =
  | { readonly admitted: true; settle(outcome: 'failed' | 'succeeded' | 'undecided'): Promise<void> }
  | { readonly admitted: false; readonly retryAfterSeconds: number };

/** Slows down whoever guesses passwords, for one user or for many. */
export interface Throttle {
  /**
   * Asks before the password is looked at. The attempt counts from this moment, so that parallel guesses cannot
   * overtake the count; `settle` takes it back unless it failed.
   */
  admit(handle: string, network: string): Promise<Admission>;
}

/** Several people behind one mobile network share an address, so that one is generous. */
const defaultLimits: ThrottleLimits = { perHandle: 10, perNetwork: 100, windowMs: 15 * 60_000 };
const purgeLimit = 100;

/** Counts an attempt unless its window is full. Decided by one statement, so that attempts in other processes are seen. */
const count = `
  INSERT INTO app_throttle AS t (subject, failures, ends_at) VALUES (:subject, 1, :endsAt)
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN t.ends_at > :now THEN t.failures + 1 ELSE 1 END,
    ends_at = CASE WHEN t.ends_at > :now THEN t.ends_at ELSE :endsAt END
  WHERE t.ends_at <= :now OR t.failures < :limit
  RETURNING ends_at`;

/** Names the window: an attempt that began in an earlier one must not be taken out of this one. */
const takeBack = `
  UPDATE app_throttle SET failures = CASE WHEN failures > 0 THEN failures - 1 ELSE 0 END
  WHERE subject = :subject AND ends_at = :endsAt`;

const purge = `
  DELETE FROM app_throttle WHERE ends_at <= :now AND subject IN
    (SELECT subject FROM app_throttle WHERE ends_at <= :now ORDER BY ends_at LIMIT ${purgeLimit})`;

/** An attempt that is let through counts in this window. */
interface Window {
  readonly subject: Buffer;
  readonly endsAt: number;
}

/** Where one attempt counts. */
interface Windows {
  readonly ofHandle: readonly Window[];
  readonly ofNetwork: readonly Window[];
}

/** A window is full. Takes back what was counted in the same transaction. */
class Full extends Error {
  override readonly name = 'Full';
  readonly until: number;

  constructor(until: number) {
    super('too many attempts');
    this.until = until;
  }
}

/**
 * Fixed windows in the database: a restart does not reset them. Handles and addresses are stored under a key,
 * so that the table does not tell who tried to sign in from where.
 *
 * @param keys - an attempt counts under each of them, and a window that is full under any of them refuses: so a change of
 * keys, in which processes know different ones for a while, gives nobody more attempts
 */
export function createThrottle(
  database: Database,
  keys: readonly Uint8Array[],
  now: () => number,
  limits: ThrottleLimits = defaultLimits,
): Throttle {
  /** In an order of their own, so that transactions of processes that know the keys in another one do not wait in a circle. */
  const subjectsOf = (kind: string, value: string): readonly Buffer[] =>
    keys
      .map((key) => createHmac('sha256', key).update(`${kind}\n${value}`).digest())
      .sort((a, b) => a.compare(b));

  /** Counts an attempt in all windows or in none. @throws {@link Full} */
  function enter(time: number, handles: readonly Buffer[], networks: readonly Buffer[]): Promise<Windows> {
    return database.write(async (transaction) => {
      await transaction.run(purge, { now: time });
      async function enterOne(subject: Buffer, limit: number): Promise<Window> {
        const endsAt = time + limits.windowMs;
        const row = await transaction.get<{ ends_at: number }>(count, { subject, limit, now: time, endsAt });
        if (row !== undefined) return { subject, endsAt: row.ends_at };
        const full = await transaction.get<{ ends_at: number }>(
          'SELECT ends_at FROM app_throttle WHERE subject = :subject',
          { subject },
        );
        throw new Full(full?.ends_at ?? endsAt);
      }
      async function enterAll(subjects: readonly Buffer[], limit: number): Promise<readonly Window[]> {
        const windows: Window[] = [];
        for (const subject of subjects) windows.push(await enterOne(subject, limit));
        return windows;
      }
      // Handles before networks, in every transaction.
      const ofHandle = await enterAll(handles, limits.perHandle);
      return { ofHandle, ofNetwork: await enterAll(networks, limits.perNetwork) };
    });
  }

  return {
    async admit(handle, network) {
      const time = now();
      let windows: Windows;
      try {
        windows = await enter(
          time,
          subjectsOf('handle', handle.toLowerCase()),
          subjectsOf('network', network),
        );
      } catch (error) {
        if (!(error instanceof Full)) throw error;
        return { admitted: false, retryAfterSeconds: Math.ceil((error.until - time) / 1000) };
      }
      const { ofHandle, ofNetwork } = windows;
      return {
        admitted: true,
        async settle(outcome) {
          if (outcome === 'failed') return;
          await database.write(async (transaction) => {
            // A right password clears the user's own count; the network's other failures stay.
            for (const { subject, endsAt } of ofHandle) {
              if (outcome === 'succeeded')
                await transaction.run('DELETE FROM app_throttle WHERE subject = :subject', { subject });
              else await transaction.run(takeBack, { subject, endsAt });
            }
            for (const window of ofNetwork) await transaction.run(takeBack, { ...window });
          });
        },
      };
    },
  };
}
