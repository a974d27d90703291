/*
 * Structure of the file of a noun (`partners.ts` is a short one): the statements stand at its top, built once
 * with `statement`, `prepared` or `lookup` from statement.ts. Every table is written as `${schema}.table`
 * with `const { schema } = database`. Port calls are made of these, and of `all` and `changes`, which are
 * `read` and `change` with one given statement:
 *
 * - `database.get(lookup)` reads a row by its key. Concurrent calls of one kind become one statement (batching.ts).
 * - `database.read(work)` runs statements without a transaction. Each sees every commit of every process, so values that
 *   must be consistent with each other are read by one statement.
 * - `database.change(work)` runs exactly one statement that changes something, as a transaction at the isolation level with
 *   which the host's sessions begin. If it conflicts with another transaction, it runs again at READ COMMITTED.
 * - `database.changeUnsynced(work)` does the same for a statement that does not wait for the disk, because it turns
 *   `synchronous_commit` off or writes an unlogged table. A crash of the server may undo its change.
 * - `database.write(work)` runs a transaction at READ COMMITTED. Each statement sees the commits before it began, so rows
 *   that decide something are locked (`FOR UPDATE`, `FOR SHARE`, a conditional `UPDATE`, a unique index).
 *
 * A frequent call that needs several statements is a function of the database (sql/functions/), called with `change` or
 * `changeUnsynced`.
 *
 * Transactions lock rows in one order to avoid deadlocks. Rows of one kind are locked in the order of their keys:
 *
 * 1. idempotency record, transfer
 * 2. partner, client, consent, grant (by id)
 * 3. sequence (by partner and mode), queue of an endpoint (by id), delivery (by number)
 * 4. end of the audit log, for which every other act waits
 *
 * Purges skip locked rows.
 *
 * `work` may run more than once, so it only uses the connection. It runs after the call has returned, so the port call copies
 * bytes and objects of its caller first. Statements that take part in the transaction of another noun are exported as a
 * function that takes the connection.
 */

import { dropAbandoned } from './abandoned.ts';
import { batchCalls } from './batching.ts';
import { type PooledConnection, withConnection } from './checkout.ts';
import { isConflict, isDataError, StorageUnavailableError, unavailable } from './errors.ts';
import { firstConnection } from './first-connection.ts';
import { Identity } from './identity.ts';
import { type Functions, type Migration, migrate, readFunctions, readMigrations } from './migrations.ts';
import type { OpenedPool } from './opened-pool.ts';
import { connectionBeside, ignore, listenTo, type PostgresPool, type Session } from './pool.ts';
import { Semaphore } from './semaphore.ts';
import {
  type Connection,
  connectionOn,
  type Lookup,
  lookUpAll,
  type Preparing,
  type Statement,
} from './statement.ts';
import { callTimeoutMs, timeoutLeft } from './timeouts.ts';

/** Time for which a starting process waits for the database, in milliseconds. */
const firstTimeoutMs = 30_000;

/**
 * Timeout for bringing the tables up to date after the first connection, in milliseconds. Longer than that of
 * a request, because processes may start together, and migrations take time.
 */
const startTimeoutMs = 600_000;

/** Share of the pool that is reserved for calls that do not wait for the disk. */
const reserve = 0.25;

/**
 * Time after which the server ends an idle transaction, whose process may have hung, in milliseconds.
 */
const idleInTransactionMs = 5000;

/**
 * Connections of one storage. Calls of its stores go through `read`, `change` and `write`, which turn
 * failures into `StorageUnavailableError`. Calls in a transaction of the host application run on the
 * connection of that transaction instead.
 */
export class Database {
  /** Quoted name of the PostgreSQL schema, for use in SQL statements. */
  readonly schema: string;
  readonly schemaName: string;
  readonly identity: Identity;
  readonly #openPool: () => { readonly pool: PostgresPool; readonly own: OpenedPool | null };
  readonly #migrations: readonly Migration[] | undefined;
  readonly #functions: Functions | undefined;
  readonly #firstTimeoutMs: number;
  #pool: PostgresPool | null = null;
  #own: OpenedPool | null = null;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  #closing: Promise<void> | null = null;
  readonly #calls = new Set<Promise<unknown>>();
  /** Batches of look-ups by key, one for each kind of look-up. */
  readonly #lookups = new Map<object, (parameters: object) => Promise<unknown>>();
  readonly #preparing: Preparing = { isOn: true };
  /** Limits calls that wait for the disk; `null` if the size of the pool is unknown. */
  #semaphore: Semaphore | null = null;

  constructor(options: {
    readonly schema: string;
    /** A pool of the host application, or a function that opens a pool of the storage. */
    readonly pool: PostgresPool | (() => OpenedPool);
    readonly migrations?: readonly Migration[];
    readonly functions?: Functions;
    readonly firstTimeoutMs?: number;
  }) {
    const { pool } = options;
    this.schemaName = options.schema;
    this.schema = `"${options.schema}"`;
    this.identity = new Identity(this.schema);
    this.#migrations = options.migrations;
    this.#functions = options.functions;
    this.#firstTimeoutMs = options.firstTimeoutMs ?? firstTimeoutMs;
    this.#openPool = () => {
      if (typeof pool !== 'function') return { pool, own: null };
      const own = pool();
      return { pool: own, own };
    };
  }

  /** Connects to the database and brings the schema up to date. May be called again after a failure. */
  async open(onWait: (reason: Error) => void = ignore): Promise<void> {
    if (this.#closing !== null) throw new StorageUnavailableError('the storage is closed');
    this.#opening ??= this.#open(onWait);
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw unavailable(error);
    }
  }

  /** Runs read-only statements without a transaction. */
  read<T>(work: (connection: Connection) => Promise<T>, timeoutMs = callTimeoutMs): Promise<T> {
    return this.#call(timeoutMs, (pooled) => work(connectionOn(pooled.client, this.#preparing)));
  }

  /**
   * Reads one row; `null` if there is none. Concurrent calls with the same `Lookup` are combined into one
   * statement. A `Statement` always runs by itself.
   */
  async get<Parameters extends object, Row>(
    statement: Statement<Parameters, Row> | Lookup<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row | null> {
    if ('ofMany' in statement) return (await this.#together(statement)(parameters)) as Row | null;
    return (await this.read((connection) => statement.get(connection, parameters))) ?? null;
  }

  /** Runs an SQL statement and returns all its rows. */
  all<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    return this.read((connection) => statement.all(connection, parameters));
  }

  /** Runs one statement that changes rows, and returns whether it changed any. */
  async changes<Parameters extends object>(
    statement: Statement<Parameters>,
    parameters: Parameters,
  ): Promise<boolean> {
    return (await this.change((connection) => statement.run(connection, parameters))) > 0;
  }

  /**
   * Runs exactly one statement, which is its own transaction, so it needs no round trips for BEGIN and
   * COMMIT. After a conflict, the next attempt is a transaction at READ COMMITTED.
   */
  change<T>(
    work: (connection: Connection) => Promise<T>,
    timeoutMs = callTimeoutMs,
    semaphore = this.#semaphore,
  ): Promise<T> {
    let hadConflict = false;
    const attempt = async (pooled: PooledConnection) => {
      // Sessions of the host may begin at SERIALIZABLE, where the next attempt could meet the next conflict.
      if (hadConflict) return inTransaction(pooled, timeoutMs, work, { preparing: this.#preparing });
      pooled.isCommitting = true;
      try {
        return await work(connectionOn(pooled.client, this.#preparing));
      } catch (error) {
        hadConflict = isConflict(error);
        throw error;
      }
    };
    return this.#call(timeoutMs, attempt, semaphore);
  }

  /**
   * Runs exactly one statement whose effect may be lost in a crash of the server, because it writes to an
   * unlogged table or does not wait for the disk.
   */
  changeUnsynced<T>(work: (connection: Connection) => Promise<T>, timeoutMs = callTimeoutMs): Promise<T> {
    return this.change(work, timeoutMs, null);
  }

  /** Runs a function in a transaction and resolves when the transaction is committed. */
  write<T>(
    work: (connection: Connection) => Promise<T>,
    timeoutMs = callTimeoutMs,
    lockTimeoutMs = timeoutMs,
  ): Promise<T> {
    const attempt = (pooled: PooledConnection) =>
      inTransaction(pooled, timeoutMs, work, { lockTimeoutMs, preparing: this.#preparing });
    return this.#call(timeoutMs, attempt, this.#semaphore);
  }

  /** Creates a client outside of the pool, not connected yet. See `connectionBeside`, also for `null`. */
  session(): Session | null {
    return connectionBeside(this.#use());
  }

  /** Throws unless the storage is open. Used by calls that run on a connection of the host application. */
  assertOpen(): void {
    this.#use();
  }

  /** Waits for running calls, and closes the pool if this storage opened it. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #open(onWait: (reason: Error) => void): Promise<void> {
    if (this.#pool === null) {
      const { pool, own } = this.#openPool();
      this.#pool = pool;
      this.#own = own;
      // The pool emits errors of idle connections that the server ended, which without a listener would end
      // the process.
      pool.on?.('error', ignore);
      pool.on?.('connect', listenTo);
    }
    const pool = this.#pool;
    this.#semaphore = semaphoreOf(pool);
    const migrations = this.#migrations ?? readMigrations();
    const functions = this.#functions ?? readFunctions();
    await firstConnection(pool, {
      timeoutMs: this.#firstTimeoutMs,
      isWanted: () => this.#closing === null,
      onWait,
    });
    await withConnection(pool, startTimeoutMs, (pooled) =>
      inTransaction(pooled, startTimeoutMs, async (connection) => {
        await migrate(connection, this.schemaName, migrations, functions);
        await this.identity.learn(connection);
      }),
    );
    this.#isOpen = true;
  }

  #together<Parameters extends object, Row>(lookup: Lookup<Parameters, Row>) {
    const known = this.#lookups.get(lookup);
    if (known !== undefined) return known;
    const read = batchCalls<Parameters, Row | null>({
      mayRetryAlone: isDataError,
      make: (group, waitedMs) =>
        this.read((connection) => lookUpAll(connection, lookup, group), timeoutLeft(waitedMs)),
    }) as (parameters: object) => Promise<unknown>;
    this.#lookups.set(lookup, read);
    return read;
  }

  #use(): PostgresPool {
    if (this.#closing !== null) throw new StorageUnavailableError('the storage is closed');
    if (this.#pool === null || !this.#isOpen) throw new StorageUnavailableError('the storage is not open');
    return this.#pool;
  }

  async #call<T>(
    timeoutMs: number,
    attempt: (pooled: PooledConnection) => Promise<T>,
    semaphore: Semaphore | null = null,
  ): Promise<T> {
    const call = withConnection(this.#use(), timeoutMs, attempt, semaphore);
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      throw unavailable(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(ignore);
    await Promise.allSettled(this.#calls);
    dropAbandoned(this.#pool);
    try {
      await this.#own?.end();
    } catch (error) {
      throw unavailable(error);
    } finally {
      if (this.#own === null) {
        this.#pool?.removeListener?.('error', ignore);
        this.#pool?.removeListener?.('connect', listenTo);
      }
    }
  }
}

async function inTransaction<T>(
  pooled: PooledConnection,
  timeoutMs: number,
  work: (connection: Connection) => Promise<T>,
  {
    lockTimeoutMs = timeoutMs,
    preparing,
  }: { readonly lockTimeoutMs?: number; readonly preparing?: Preparing } = {},
): Promise<T> {
  const { client } = pooled;
  try {
    // One message, so one round trip. LOCAL ends with the transaction, so that no setting stays on the
    // connection.
    await client.query({
      text: `
        BEGIN ISOLATION LEVEL READ COMMITTED;
        SET LOCAL statement_timeout = ${timeoutMs};
        SET LOCAL lock_timeout = ${lockTimeoutMs};
        SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}
      `,
    });
    const result = await work(connectionOn(client, preparing));
    pooled.isCommitting = true;
    const { command } = await client.query({ text: 'COMMIT' });
    if (command === 'ROLLBACK') throw new StorageUnavailableError('the transaction was rolled back');
    return result;
  } catch (error) {
    await pooled.rollBack();
    throw error;
  }
}

function semaphoreOf({ options }: PostgresPool): Semaphore | null {
  const connections = options?.max;
  if (connections === undefined || !Number.isSafeInteger(connections)) return null;
  return new Semaphore(Math.max(1, connections - Math.ceil(connections * reserve)));
}
