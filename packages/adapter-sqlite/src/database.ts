import { isBusy, retryWhileBusy, systemTiming, type Timing } from './busy.ts';
import { assertDurable, type Connection, openConnection, startTimeoutMs } from './connection.ts';
import { StorageUnavailableError, unavailable } from './errors.ts';
import { fileGuard } from './file-guard.ts';
import { GroupCommit } from './group-commit.ts';
import { type Migration, migrate, readMigrations } from './migrations.ts';

interface Opened {
  readonly connection: Connection;
  readonly groups: GroupCommit;
  /** Throws if the database file was moved, deleted, replaced or emptied. */
  readonly assertFileInPlace: () => void;
}

/**
 * The only connection of a storage. Calls of its stores go through `read` and `write`, which turn failures
 * into `StorageUnavailableError`. Only calls in a transaction of the host application use a connection of the
 * host.
 */
export class Database {
  readonly #file: string;
  readonly #timing: Timing;
  readonly #migrations: readonly Migration[] | undefined;
  #opening: Promise<void> | null = null;
  #opened: Opened | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: {
    readonly file: string;
    readonly timing?: Timing;
    readonly migrations?: readonly Migration[];
  }) {
    this.#file = options.file;
    this.#timing = options.timing ?? systemTiming;
    this.#migrations = options.migrations;
  }

  /**
   * Returns a function for the SQL statements of a store, which are prepared once, on first use: preparing
   * the statements of all stores takes longer than opening the file.
   */
  prepare<Statements>(create: (connection: Connection) => Statements): () => Statements {
    let prepared: Statements | null = null;
    return () => {
      if (this.#opened === null) throw new StorageUnavailableError('the storage is not open');
      prepared ??= create(this.#opened.connection);
      return prepared;
    };
  }

  /** Opens the database file and brings its schema up to date. May be called again after a failure. */
  async open(): Promise<void> {
    if (this.#closing !== null) throw new StorageUnavailableError('the storage is closed');
    this.#opening ??= this.#open();
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw unavailable(error);
    }
  }

  /** Runs a synchronous function that only reads. It sees every commit of every process. */
  async read<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      const { connection } = this.#use();
      // The database is rarely busy for a read, so the first try skips the preparations for waiting.
      try {
        return work(connection);
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      return await retryWhileBusy(() => work(connection), this.#timing);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Reads a row and converts it with `show`; `null` if there is no row. */
  find<Row, T>(row: () => Row | undefined, show: (row: Row) => T): Promise<T | null> {
    return this.read(() => {
      const found = row();
      return found === undefined ? null : show(found);
    });
  }

  /** Runs a synchronous function in a transaction and resolves when the changes are on the disk. */
  async write<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      const { connection, groups } = this.#use();
      return await groups.write(() => work(connection));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Throws if the database file was moved, deleted, replaced or emptied. Writes make this check themselves.
   */
  assertFileInPlace(): void {
    try {
      this.#use().assertFileInPlace();
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Returns the connection of the storage, to compare its file with the file of a host application's
   * connection.
   */
  connection(): Connection {
    return this.#use().connection;
  }

  /** Waits for running writes and closes the database. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #open(): Promise<void> {
    const connection = await openConnection(this.#file, this.#timing);
    try {
      const migrations = this.#migrations ?? readMigrations();
      await retryWhileBusy(() => migrate(connection, migrations), this.#timing, startTimeoutMs);
      assertDurable(connection);
      const assertFileInPlace = fileGuard(connection);
      const groups = new GroupCommit(connection, this.#timing, assertFileInPlace);
      this.#opened = { connection, groups, assertFileInPlace };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #use(): Opened {
    if (this.#closing !== null) throw new StorageUnavailableError('the storage is closed');
    if (this.#opened === null) throw new StorageUnavailableError('the storage is not open');
    return this.#opened;
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    if (this.#opened === null) return;
    const { connection, groups } = this.#opened;
    await groups.idle();
    try {
      connection.close();
    } catch (error) {
      throw unavailable(error);
    }
  }
}
