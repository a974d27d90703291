import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Database, Queries, Transaction, Value, Values } from '../database/database.ts';
import { UniqueViolation } from '../database/database.ts';
import { ledgerCurrencies, post } from '../ledger/postings.ts';
import { emailSchema, type NewUser, newUserSchema, passwordSchema } from './input.ts';
import type { Line, Passwords } from './passwords.ts';

/** A user as administrators see it. */
export interface Account {
  readonly sub: string;
  readonly kid: string;
  readonly handle: string;
  readonly phone: string;
  /** Address to which notices for the user are sent; `null` if the user gets none. */
  readonly email: string | null;
  readonly name: string;
  readonly kycStatus: string;
  readonly kycTier: number;
  readonly createdAt: Date;
  readonly blockedAt: Date | null;
}

/**
 * User to whom a password belongs, and a value that changes with the password and reveals nothing about it.
 */
export interface PasswordOwner {
  readonly sub: string;
  readonly passwordMark: string;
}

/** Error for input that cannot be stored as a user. The message is for the caller. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

/** Error for a handle that no user has. */
export class UnknownUserError extends AccountError {}

export const noSuchUser = (handle: string): UnknownUserError =>
  new UnknownUserError(`there is no user with the handle ${JSON.stringify(handle)}`);

/** Users of this server, for administrators and the sign-in page. */
export type Accounts = ReturnType<typeof createAccounts>;

type Row = Omit<Account, 'createdAt' | 'blockedAt'> & {
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly blockedAt: number | null;
};

const columns = `sub, kid, handle, phone, name,
  (SELECT email FROM app_user_emails WHERE app_user_emails.sub = app_users.sub) AS email, kyc_status AS "kycStatus", kyc_tier AS "kycTier",
  password_hash AS "passwordHash", created_at AS "createdAt", blocked_at AS "blockedAt"`;

const insertUser = `
  INSERT INTO app_users (sub, kid, handle, phone, name, avatar_url, role, country, kyc_tier, kyc_status,
    trust_score, trust_tier, password_hash, created_at, blocked_at)
  VALUES (:sub, :kid, :handle, :phone, :name, :avatarUrl, :role, :country, :kycTier, :kycStatus,
    :trustScore, :trustTier, :passwordHash, :createdAt, NULL)`;

const insertEmail = 'INSERT INTO app_user_emails (sub, email) VALUES (:sub, :email)';

const insertCredential = `
  INSERT INTO app_credentials (id, sub, type, issued_at, expires_at)
  VALUES (:id, :sub, :type, :issuedAt, :expiresAt)`;

function toAccount({ passwordHash: _, createdAt, blockedAt, ...rest }: Row): Account {
  return {
    ...rest,
    createdAt: new Date(createdAt),
    blockedAt: blockedAt === null ? null : new Date(blockedAt),
  };
}

const shown = (row: Row | undefined): Account | null => (row === undefined ? null : toAccount(row));

/**
 * Returns a value that changes with a password's hash. Because of the salt it changes even if the same
 * password is set again.
 */
const markOf = (passwordHash: string): string =>
  createHash('sha256').update(passwordHash).digest('base64url');

type Checked = z.output<typeof newUserSchema>;

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  // Fallback messages, for types that TypeScript would not let a caller pass.
  const result = schema.safeParse(value, {
    error: ({ input }) => (input === undefined ? 'is missing' : 'is of the wrong kind'),
  });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new AccountError([issue?.path.join('.'), issue?.message].filter(Boolean).join(' '));
}

/**
 * Generates a public user id in Crockford's alphabet: no letter can be confused with another when a user
 * dictates the id.
 */
function publicId(): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `K${[...randomBytes(12)].map((byte) => alphabet[byte % 32]).join('')}`;
}

/** Makes the queries for users. */
function rowsOf(database: Database) {
  const [own, given, after] = ['handle', ':handle', ':after'].map(database.caseless);
  const [name, part, start] = ['name', ':part', ':start'].map(database.caseless);
  const [email, text] = ['email', ':text'].map(database.caseless);
  const from = `SELECT ${columns} FROM app_users WHERE`;
  const find = (queries: Queries, handle: string): Promise<Row | undefined> =>
    queries.get<Row>(`${from} ${own} = ${given}`, { handle });
  return {
    find,
    findBySub: (sub: string): Promise<Row | undefined> => database.get<Row>(`${from} sub = :sub`, { sub }),
    list: (page: { readonly after: string; readonly limit: number }): Promise<Row[]> =>
      database.all<Row>(`${from} ${own} > ${after} ORDER BY ${own} LIMIT :limit`, page),
    /**
     * Finds users by a text: a part of the name, the beginning of the handle, or the whole phone number,
     * e-mail address or id.
     */
    search: (request: {
      readonly text: string;
      readonly after: string;
      readonly limit: number;
    }): Promise<Row[]> => {
      const literal = request.text.replace(/[\\%_]/g, '\\$&');
      return database.all<Row>(
        `${from} ${own} > ${after} AND (${name} LIKE ${part} ESCAPE '\\' OR ${own} LIKE ${start} ESCAPE '\\'
           OR phone = :text OR sub = :text OR kid = :text
           OR sub IN (SELECT sub FROM app_user_emails WHERE ${email} = ${text}))
         ORDER BY ${own} LIMIT :limit`,
        { ...request, part: `%${literal}%`, start: `${literal.replace(/^@/, '')}%` },
      );
    },
    /** Returns the user with a handle. @throws {@link AccountError} if there is none */
    async require(queries: Queries, handle: string): Promise<Row> {
      const row = await find(queries, handle);
      if (row === undefined) throw noSuchUser(handle);
      return row;
    },
  };
}

/** Stores a new user with the e-mail address, the credentials and the starting balance. */
async function store(
  transaction: Transaction,
  row: Values & { readonly sub: string; readonly createdAt: number },
  { email, credentials, htgBalance, usdBalance }: Checked,
): Promise<void> {
  const balances = { HTG: htgBalance, USD: usdBalance };
  const { sub, createdAt } = row;
  await transaction.run(insertUser, row);
  if (email !== null) await transaction.run(insertEmail, { sub, email });
  for (const { type, issuedAt, expiresAt } of credentials) {
    const id = `cred_${randomBytes(9).toString('hex')}`;
    const times = { issuedAt: issuedAt.getTime(), expiresAt: expiresAt?.getTime() ?? null };
    await transaction.run(insertCredential, { id, sub, type, ...times });
  }
  for (const currency of ledgerCurrencies) {
    const amount = balances[currency];
    const holders = { from: { kind: 'external' }, to: { kind: 'user', sub } } as const;
    const opening = { id: `open_${sub}_${currency}`, kind: 'opening', ...holders } as const;
    if (amount !== 0n) await post(transaction, { ...opening, amount, currency, at: createdAt });
  }
}

const rehash = 'UPDATE app_users SET password_hash = :hash WHERE sub = :sub AND password_hash = :before';

function verification(
  database: Database,
  passwords: Passwords,
  { find, findBySub }: ReturnType<typeof rowsOf>,
) {
  return {
    /**
     * Returns the user with this handle and password, or `null`. An unknown or blocked user takes as long as
     * a wrong password.
     */
    async verify(
      handle: string,
      password: string,
      line: Line = 'others',
    ): Promise<(Account & PasswordOwner) | null> {
      const row = await find(database, handle);
      const right = await passwords.verify(password, row?.passwordHash ?? null, line);
      // Read the user again: it may have been blocked, or the password changed, while the hash was computed.
      const current = row === undefined ? undefined : await findBySub(row.sub);
      if (!right || current === undefined || current.blockedAt !== null) return null;
      if (current.passwordHash !== row?.passwordHash) return null;
      const verified = (hash: string) => ({ ...toAccount(current), passwordMark: markOf(hash) });
      if (!passwords.isOutdated(current.passwordHash)) return verified(current.passwordHash);
      const hash = await passwords.hash(password);
      // Only if the stored hash is unchanged: a password change in the meantime must not be undone.
      const values = { hash, sub: current.sub, before: current.passwordHash };
      await database.write((transaction) => transaction.run(rehash, values));
      return verified(hash);
    },

    /** Returns the user with a handle, for the password check. Also returns a blocked user. */
    async passwordOwner(handle: string): Promise<PasswordOwner | null> {
      const row = await find(database, handle);
      return row === undefined ? null : { sub: row.sub, passwordMark: markOf(row.passwordHash) };
    },
  };
}

export function createAccounts(database: Database, passwords: Passwords, now: () => number) {
  const rows = rowsOf(database);
  const { find, findBySub, require } = rows;

  /**
   * Changes a column of a user's row and, by default, ends the user's sessions at this server. @throws {@link
   * AccountError}
   */
  function change(handle: string, column: string, value: Value, endsSessions = true): Promise<Account> {
    return database.write(async (transaction) => {
      const { sub } = await require(transaction, handle);
      await transaction.run(`UPDATE app_users SET ${column} WHERE sub = :sub`, { value, sub });
      if (endsSessions) await transaction.run('DELETE FROM app_sessions WHERE sub = :sub', { sub });
      return toAccount(await require(transaction, handle));
    });
  }

  return {
    /** Creates a user. @throws {@link AccountError} if a value is wrong, or the handle or phone is taken */
    async create(given: NewUser): Promise<Account> {
      const checked = check(newUserSchema, given);
      const { password, email: _, credentials: __, htgBalance: ___, usdBalance: ____, ...user } = checked;
      const row = {
        ...user,
        sub: `usr_${randomBytes(10).toString('hex')}`,
        kid: publicId(),
        passwordHash: await passwords.hash(password),
        createdAt: now(),
      };
      try {
        return await database.write(async (transaction) => {
          await store(transaction, row, checked);
          return toAccount(await require(transaction, row.handle));
        });
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
        const taken = error.column === 'phone' ? 'phone' : 'handle';
        throw new AccountError(`this ${taken} belongs to another user`);
      }
    },

    get: async (handle: string) => shown(await find(database, handle)),
    /** Returns the user with a handle. @throws {@link UnknownUserError} if there is none */
    require: async (handle: string) => toAccount(await require(database, handle)),
    getBySub: async (sub: string) => shown(await findBySub(sub)),
    /** Lists users by handle; `after` is the last handle of the previous page. */
    list: async (page: { readonly after?: string; readonly limit?: number } = {}): Promise<Account[]> =>
      (await rows.list({ after: '', limit: 100, ...page })).map(toAccount),

    /**
     * Finds users by a part of the name, the start of the handle, or the whole phone number, e-mail address or
     * id. Returns them by handle; `after` is the last handle of the previous page.
     */
    search: async (request: { readonly text: string; readonly after: string; readonly limit: number }) =>
      (await rows.search(request)).map(toAccount),

    /**
     * Sets a new password, and ends the user's sessions at this server. The caller must notify the apps.
     * @throws {@link AccountError}
     */
    async setPassword(handle: string, password: string): Promise<Account> {
      const hash = await passwords.hash(check(passwordSchema, password));
      return change(handle, 'password_hash = :value', hash);
    },
    /**
     * Changes the address to which notices for the user are sent; `null` removes the address.
     * @throws {@link AccountError}
     */
    async setEmail(handle: string, email: string | null): Promise<Account> {
      const address = email === null ? null : check(emailSchema, email);
      return database.write(async (transaction) => {
        const row = await require(transaction, handle);
        const { sub } = row;
        await transaction.run('DELETE FROM app_user_emails WHERE sub = :sub', { sub });
        if (address !== null) await transaction.run(insertEmail, { sub, email: address });
        return toAccount({ ...row, email: address });
      });
    },
    /**
     * Blocks a user, and ends the user's sessions at this server. The caller must end the access of apps.
     * @throws {@link AccountError}
     */
    block: (handle: string) => change(handle, 'blocked_at = coalesce(blocked_at, :value)', now()),
    /** Unblocks a user. @throws {@link AccountError} */
    unblock: (handle: string) => change(handle, 'blocked_at = :value', null, false),

    ...verification(database, passwords, rows),
  };
}
