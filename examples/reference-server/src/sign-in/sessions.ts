import { createHash, randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';

/** A browser that is signed in. */
export interface Session {
  /** SHA-256 of the session id: the id itself exists only in the browser. */
  readonly digest: Buffer;
  readonly sub: string;
  /** Time at which the user last typed the password. */
  readonly authenticatedAt: Date;
}

/** Sessions of signed-in browsers. */
export type Sessions = ReturnType<typeof createSessions>;

const minute = 60_000;

/** Without a request for so long, a session ends. */
export const idleLifetime = 2 * 60 * minute;
/** However busy it is, a session ends after so long. */
export const absoluteLifetime = 24 * 60 * minute;
/** `seen_at` is written at most this often, so that reading a page is not a write. */
const seenResolution = 5 * minute;
/** A session that began further ahead than this, in milliseconds, began before the clock went back. */
const aheadTolerance = 5_000;
/** Ended rows that one sign-in removes. */
const purgeLimit = 100;

const idFormat = /^[A-Za-z0-9_-]{43}$/;

function digestOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

const select = `
  SELECT s.sub, authenticated_at, seen_at FROM app_sessions AS s JOIN app_users AS u ON u.sub = s.sub
  WHERE digest = :digest AND ends_at > :now AND seen_at > :idleSince AND blocked_at IS NULL
    AND authenticated_at <= :latest`;

const insert = `
  INSERT INTO app_sessions (digest, sub, authenticated_at, seen_at, ends_at)
  VALUES (:digest, :sub, :now, :now, :endsAt)`;

const purge = `
  DELETE FROM app_sessions WHERE ends_at <= :now AND digest IN
    (SELECT digest FROM app_sessions WHERE ends_at <= :now ORDER BY ends_at LIMIT ${purgeLimit})`;

const seen = `
  UPDATE app_sessions SET seen_at = :now
  WHERE digest = :digest AND (seen_at < :now OR seen_at > :now + ${seenResolution})`;

export function createSessions(database: Database, now: () => number) {
  const remove = (transaction: Transaction, { digest }: Session): Promise<number> =>
    transaction.run('DELETE FROM app_sessions WHERE digest = :digest', { digest });

  return {
    /**
     * Finds the live session behind a cookie's value, or `null`. A session that began before the clock went back has ended: its age
     * is unknown, and Ostiary takes no sign-in from the future.
     */
    async find(id: string | undefined): Promise<Session | null> {
      if (id === undefined || !idFormat.test(id)) return null;
      const time = now();
      const digest = digestOf(id);
      const values = { digest, now: time, idleSince: time - idleLifetime, latest: time + aheadTolerance };
      const row = await database.get<{ sub: string; authenticated_at: number; seen_at: number }>(
        select,
        values,
      );
      if (row === undefined) return null;
      if (Math.abs(time - row.seen_at) >= seenResolution)
        await database.write((transaction) => transaction.run(seen, { digest, now: time }));
      return { digest, sub: row.sub, authenticatedAt: new Date(row.authenticated_at) };
    },

    /**
     * Starts a session with a fresh id, after the password was right, and ends the one that the browser had:
     * an id that somebody planted before the sign-in is worth nothing after it.
     *
     * @returns the id, for the cookie
     */
    async start(sub: string, replaced: Session | null): Promise<string> {
      const id = randomBytes(32).toString('base64url');
      const time = now();
      const values = { digest: digestOf(id), sub, now: time, endsAt: time + absoluteLifetime };
      await database.write(async (transaction) => {
        if (replaced !== null) await remove(transaction, replaced);
        await transaction.run(purge, { now: time });
        await transaction.run(insert, values);
      });
      return id;
    },

    async end(session: Session): Promise<void> {
      await database.write((transaction) => remove(transaction, session));
    },
  };
}
