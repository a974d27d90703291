import { createHash, randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';

/** Session of a signed-in browser. */
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

/** Time without a request after which a session expires, in milliseconds. */
export const idleLifetime = 2 * 60 * minute;
/** Maximum lifetime of a session, in milliseconds. */
export const absoluteLifetime = 24 * 60 * minute;
/** Minimum interval between updates of `seen_at`, in milliseconds, so that not every request writes. */
const seenResolution = 5 * minute;
/**
 * Tolerance for a session that began in the future, in milliseconds. Beyond it the clock must have gone back.
 */
const aheadTolerance = 5_000;
/** Maximum number of expired rows that one sign-in removes. */
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
     * Finds the valid session of a cookie's value, or `null`. If the clock has gone back before the session's
     * start, the session is not valid: its age is unknown, and Ostiary accepts no sign-in from the future.
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
     * Starts a session with a new id after a correct password, and ends the browser's previous session: an id
     * that somebody planted before the sign-in is worthless afterwards.
     *
     * @returns the session id for the cookie
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
