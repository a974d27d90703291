import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import type { z } from 'zod';
import type { Database } from '../database/database.ts';
import { createPostings } from '../ledger/postings.ts';
import { type NewUser, newUserSchema, passwordSchema } from './input.ts';
import type { Passwords } from './passwords.ts';

/** What an administrator sees of a user. */
export interface Account {
  readonly sub: string;
  readonly kid: string;
  readonly handle: string;
  readonly phone: string;
  readonly name: string;
  readonly kycStatus: string;
  readonly kycTier: number;
  readonly createdAt: Date;
  readonly blockedAt: Date | null;
}

/** What was given cannot be stored as it is; the message is for whoever gave it. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

/** The users of this server, as administrators and the sign-in page need them. */
export interface Accounts {
  /** @throws {@link AccountError} when a value is wrong, or the handle or phone is taken */
  create(user: NewUser): Promise<Account>;
  get(handle: string): Account | null;
  getBySub(sub: string): Account | null;
  /** By handle; `after` is the last handle of the page before. */
  list(page?: { readonly after?: string; readonly limit?: number }): Account[];
  /** Also ends the user's sessions. @throws {@link AccountError} */
  setPassword(handle: string, password: string): Promise<Account>;
  /** Also ends the user's sessions here. Whoever calls it ends the access of apps too. @throws {@link AccountError} */
  block(handle: string): Promise<Account>;
  /** @throws {@link AccountError} */
  unblock(handle: string): Promise<Account>;
  /** The user with this handle and password. An unknown or blocked user takes as long as a wrong password. */
  verify(handle: string, password: string): Promise<Account | null>;
}

interface Row {
  readonly sub: string;
  readonly kid: string;
  readonly handle: string;
  readonly phone: string;
  readonly name: string;
  readonly kyc_status: string;
  readonly kyc_tier: number;
  readonly password_hash: string;
  readonly created_at: number;
  readonly blocked_at: number | null;
}

const columns = 'sub, kid, handle, phone, name, kyc_status, kyc_tier, password_hash, created_at, blocked_at';

function toAccount(row: Row): Account {
  return {
    sub: row.sub,
    kid: row.kid,
    handle: row.handle,
    phone: row.phone,
    name: row.name,
    kycStatus: row.kyc_status,
    kycTier: row.kyc_tier,
    createdAt: new Date(row.created_at),
    blockedAt: row.blocked_at === null ? null : new Date(row.blocked_at),
  };
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new AccountError([issue?.path.join('.'), issue?.message].filter(Boolean).join(' '));
}

/** Crockford's alphabet: no letter that is read as another one when a user dictates the id. */
function publicId(): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `K${[...randomBytes(12)].map((byte) => alphabet[byte % 32]).join('')}`;
}

export function createAccounts(database: Database, passwords: Passwords, now: () => number): Accounts {
  const { connection } = database;
  const byHandle = connection.prepare<[string], Row>(`SELECT ${columns} FROM app_users WHERE handle = ?`);
  const bySub = connection.prepare<[string], Row>(`SELECT ${columns} FROM app_users WHERE sub = ?`);
  const page = connection.prepare<[string, number], Row>(
    `SELECT ${columns} FROM app_users WHERE handle > ? ORDER BY handle LIMIT ?`,
  );
  const insert = connection.prepare(
    `INSERT INTO app_users VALUES (@sub, @kid, @handle, @phone, @name, @avatarUrl, @role, @country, @kycTier, @kycStatus,
      @trustScore, @trustTier, @passwordHash, @createdAt, NULL)`,
  );
  const postings = createPostings(connection);
  const insertCredential = connection.prepare('INSERT INTO app_credentials VALUES (?, ?, ?, ?, ?)');
  const updatePassword = connection.prepare('UPDATE app_users SET password_hash = ? WHERE sub = ?');
  const updateBlocked = connection.prepare('UPDATE app_users SET blocked_at = ? WHERE sub = ?');
  const endSessions = connection.prepare('DELETE FROM app_sessions WHERE sub = ?');

  function require(handle: string): Row {
    const row = byHandle.get(handle);
    if (row === undefined)
      throw new AccountError(`there is no user with the handle ${JSON.stringify(handle)}`);
    return row;
  }

  async function change(handle: string, work: (row: Row) => void): Promise<Account> {
    return database.write(() => {
      work(require(handle));
      return toAccount(require(handle));
    });
  }

  return {
    async create(given) {
      const { password, credentials, htgBalance, usdBalance, ...user } = check(newUserSchema, given);
      const row = {
        ...user,
        sub: `usr_${randomBytes(10).toString('hex')}`,
        kid: publicId(),
        passwordHash: await passwords.hash(password),
        createdAt: now(),
      };
      try {
        return await database.write(() => {
          insert.run(row);
          for (const { type, issuedAt, expiresAt } of credentials) {
            const id = `cred_${randomBytes(9).toString('hex')}`;
            insertCredential.run(id, row.sub, type, issuedAt.getTime(), expiresAt?.getTime() ?? null);
          }
          for (const [currency, amount] of [
            ['HTG', htgBalance],
            ['USD', usdBalance],
          ] as const) {
            if (amount === 0n) continue;
            postings.post({
              id: `open_${row.sub}_${currency}`,
              kind: 'opening',
              from: { kind: 'external' },
              to: { kind: 'user', sub: row.sub },
              amount,
              currency,
              at: row.createdAt,
            });
          }
          return toAccount(require(row.handle));
        });
      } catch (error) {
        if (!(error instanceof Sqlite.SqliteError) || error.code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        const taken = error.message.includes('phone') ? 'phone' : 'handle';
        throw new AccountError(`this ${taken} belongs to another user`);
      }
    },

    get(handle) {
      const row = database.read(() => byHandle.get(handle));
      return row === undefined ? null : toAccount(row);
    },

    getBySub(sub) {
      const row = database.read(() => bySub.get(sub));
      return row === undefined ? null : toAccount(row);
    },

    list: ({ after = '', limit = 100 } = {}) => page.all(after, limit).map(toAccount),

    async setPassword(handle, password) {
      const hash = await passwords.hash(check(passwordSchema, password));
      return change(handle, ({ sub }) => {
        updatePassword.run(hash, sub);
        endSessions.run(sub);
      });
    },

    block: (handle) =>
      change(handle, ({ sub, blocked_at }) => {
        updateBlocked.run(blocked_at ?? now(), sub);
        endSessions.run(sub);
      }),

    unblock: (handle) => change(handle, ({ sub }) => void updateBlocked.run(null, sub)),

    async verify(handle, password) {
      const row = database.read(() => byHandle.get(handle));
      const right = await passwords.verify(password, row?.password_hash ?? null);
      // Looked up again: the user may have been blocked, or the password changed, while the hash was computed.
      const current = row === undefined ? undefined : bySub.get(row.sub);
      if (!right || current === undefined || current.blocked_at !== null) return null;
      if (current.password_hash !== row?.password_hash) return null;
      if (passwords.isOutdated(current.password_hash)) {
        const hash = await passwords.hash(password);
        await database.write(() => updatePassword.run(hash, current.sub));
      }
      return toAccount(current);
    },
  };
}
