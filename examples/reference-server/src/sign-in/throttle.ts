import { createHmac } from 'node:crypto';
import type { Database } from '../database/database.ts';

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

/**
 * Fixed windows in the database: a restart does not reset them. Handles and addresses are stored under a key,
 * so that the table does not tell who tried to sign in from where.
 */
export function createThrottle(
  database: Database,
  key: Uint8Array,
  now: () => number,
  limits: ThrottleLimits = defaultLimits,
): Throttle {
  const { connection } = database;
  const select = connection.prepare<[Buffer, number], { failures: number; ends_at: number }>(
    'SELECT failures, ends_at FROM app_throttle WHERE subject = ? AND ends_at > ?',
  );
  const count = connection.prepare(
    `INSERT INTO app_throttle VALUES (@subject, 1, @endsAt)
     ON CONFLICT (subject) DO UPDATE SET
       failures = CASE WHEN ends_at > @now THEN failures + 1 ELSE 1 END,
       ends_at = CASE WHEN ends_at > @now THEN ends_at ELSE @endsAt END`,
  );
  // Names the window: an attempt that began in an earlier one must not be taken out of this one.
  const takeBack = connection.prepare(
    'UPDATE app_throttle SET failures = max(failures - 1, 0) WHERE subject = ? AND ends_at = ?',
  );
  const forget = connection.prepare('DELETE FROM app_throttle WHERE subject = ?');
  const purge = connection.prepare(
    `DELETE FROM app_throttle WHERE subject IN
      (SELECT subject FROM app_throttle WHERE ends_at <= ? ORDER BY ends_at LIMIT ${purgeLimit})`,
  );

  const subjectOf = (kind: string, value: string): Buffer =>
    createHmac('sha256', key).update(`${kind}\n${value}`).digest();

  return {
    async admit(handle, network) {
      const time = now();
      const subjects = [
        { subject: subjectOf('handle', handle.toLowerCase()), limit: limits.perHandle },
        { subject: subjectOf('network', network), limit: limits.perNetwork },
      ];
      const admitted = await database.write(() => {
        purge.run(time);
        const full = subjects.flatMap(({ subject, limit }) => {
          const row = select.get(subject, time);
          return row !== undefined && row.failures >= limit ? [row.ends_at] : [];
        });
        if (full.length > 0) return { until: Math.max(...full) };
        return {
          windows: subjects.map(({ subject }) => {
            count.run({ subject, endsAt: time + limits.windowMs, now: time });
            return { subject, endsAt: select.get(subject, time)?.ends_at ?? 0 };
          }),
        };
      });
      if (admitted.windows === undefined) {
        return { admitted: false, retryAfterSeconds: Math.ceil((admitted.until - time) / 1000) };
      }
      const [ofHandle, ofNetwork] = admitted.windows;
      return {
        admitted: true,
        async settle(outcome) {
          if (outcome === 'failed') return;
          await database.write(() => {
            // A right password clears the user's own count; the network's other failures stay.
            if (outcome === 'succeeded' && ofHandle) forget.run(ofHandle.subject);
            else if (ofHandle) takeBack.run(ofHandle.subject, ofHandle.endsAt);
            if (ofNetwork) takeBack.run(ofNetwork.subject, ofNetwork.endsAt);
          });
        },
      };
    },
  };
}
