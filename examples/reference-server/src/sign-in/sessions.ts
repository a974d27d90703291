import { createHash, randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';

/** Session of a signed-in browser. */
export interface Session {
  /** SHA-256 of the session id: the id itself exists only in the browser. */
  readonly digest: Buffer;
  /** Id of the user or staff member who is signed in. */
  readonly sub: string;
  /** Time of the sign-in that started the session. */
  readonly authenticatedAt: Date;
}

/** Functions for the sessions of signed-in browsers. */
export type Sessions = ReturnType<typeof createSessions>;

const minute = 60_000;

/** Table in which a kind of sessions is stored, and how long these sessions last. */
interface SessionKind {
  readonly table: string;
  /** Table of the people who sign in (users or staff), with the names of its columns. */
  readonly people: { readonly table: string; readonly id: string; readonly endedAt: string };
  /** Column of `table` with the id of the person. */
  readonly person: string;
  /** Time without a request after which a session expires, in milliseconds. */
  readonly idleMs: number;
  /** Maximum lifetime of a session, in milliseconds. */
  readonly absoluteMs: number;
}

/** Sessions of users. */
export const userSessions: SessionKind = {
  table: 'app_sessions',
  people: { table: 'app_users', id: 'sub', endedAt: 'blocked_at' },
  person: 'sub',
  idleMs: 2 * 60 * minute,
  absoluteMs: 24 * 60 * minute,
};

/** Sessions of staff, shorter than those of users. */
export const staffSessions: SessionKind = {
  table: 'app_staff_sessions',
  people: { table: 'app_staff', id: 'id', endedAt: 'disabled_at' },
  person: 'staff_id',
  idleMs: 30 * minute,
  absoluteMs: 12 * 60 * minute,
};

/** Minimum interval between updates of `seen_at`, in milliseconds, so that not every request writes. */
const seenResolution = 5 * minute;
/**
 * Tolerance for a session that began in the future, in milliseconds. Beyond it the clock must have been set
 * back.
 */
const aheadTolerance = 5_000;
/** Maximum number of expired session rows that one sign-in removes. */
const purgeLimit = 100;

const idFormat = /^[A-Za-z0-9_-]{43}$/;

function digestOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

const statementsOf = ({ table, people, person }: SessionKind) => ({
  select: `
    SELECT s.${person} AS sub, authenticated_at, seen_at
    FROM ${table} AS s JOIN ${people.table} AS u ON u.${people.id} = s.${person}
    WHERE digest = :digest AND ends_at > :now AND seen_at > :idleSince AND ${people.endedAt} IS NULL
      AND authenticated_at <= :latest`,
  insert: `
    INSERT INTO ${table} (digest, ${person}, authenticated_at, seen_at, ends_at)
    VALUES (:digest, :sub, :now, :now, :endsAt)`,
  remove: `DELETE FROM ${table} WHERE digest = :digest`,
  purge: `
    DELETE FROM ${table} WHERE ends_at <= :now AND digest IN
      (SELECT digest FROM ${table} WHERE ends_at <= :now ORDER BY ends_at LIMIT ${purgeLimit})`,
  seen: `
    UPDATE ${table} SET seen_at = :now
    WHERE digest = :digest AND (seen_at < :now OR seen_at > :now + ${seenResolution})`,
});

export function createSessions(database: Database, now: () => number, kind: SessionKind = userSessions) {
  const { select, insert, remove: removal, purge, seen } = statementsOf(kind);
  const remove = (transaction: Transaction, { digest }: Session): Promise<number> =>
    transaction.run(removal, { digest });

  return {
    /**
     * Returns the valid session with the id in a cookie, or `null`. If the clock was set back to before the
     * session's start, the session is not valid: its age is unknown, and Ostiary accepts no sign-in from the
     * future.
     */
    async find(id: string | undefined): Promise<Session | null> {
      if (id === undefined || !idFormat.test(id)) return null;
      const time = now();
      const digest = digestOf(id);
      const values = { digest, now: time, idleSince: time - kind.idleMs, latest: time + aheadTolerance };
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
     * Starts a session with a new id after a successful sign-in, and ends the browser's previous session: an id
     * that somebody planted before the sign-in is worthless afterwards.
     *
     * @returns the session id for the cookie
     */
    async start(sub: string, replaced: Session | null): Promise<string> {
      const id = randomBytes(32).toString('base64url');
      const time = now();
      const values = { digest: digestOf(id), sub, now: time, endsAt: time + kind.absoluteMs };
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
