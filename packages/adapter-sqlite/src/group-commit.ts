import { setImmediate } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { callTimeoutMs, codeOf, isBusy, pauseBefore, type Timing } from './busy.ts';

/**
 * Maximum number of write calls that share a commit, so that a flood of calls does not block the event loop
 * for long.
 */
const groupLimit = 500;

/** A write call that waits for its commit. */
interface Writer {
  /**
   * Runs the call's function inside the transaction. Returns a function that resolves the call after the
   * commit.
   */
  attempt(): () => void;
  reject(error: unknown): void;
  readonly deadline: number;
}

/**
 * Commits writes in groups. With `synchronous = FULL` every commit waits for the disk, so one commit serves
 * all writes that wait in the same turn of the event loop, up to a limit. If a write fails for a reason of
 * its own, its group is repeated with a savepoint for each write, so that the failure undoes that write
 * alone. Calls resolve after the commit is on the disk. A group is rolled back if the file is no longer at
 * its path; a file that disappears after that check is noticed by the next group.
 */
export class GroupCommit {
  readonly #timing: Timing;
  readonly #assertFileInPlace: () => void;
  readonly #waiting: Writer[] = [];
  /**
   * Runs a group of write calls in one transaction. Returns functions that resolve the calls. Rolls everything
   * back if a call fails.
   */
  readonly #attempt: (group: readonly Writer[]) => (() => void)[];
  /**
   * Runs a group of write calls like {@link #attempt}, with a savepoint for each call: a call that fails is
   * undone alone. Slower, because SQLite copies each page that a savepoint changes, often to a file.
   */
  readonly #attemptApart: (group: readonly Writer[]) => (() => void)[];
  #draining: Promise<void> | null = null;

  constructor(connection: Sqlite.Database, timing: Timing, assertFileInPlace: () => void) {
    this.#timing = timing;
    this.#assertFileInPlace = assertFileInPlace;
    const inTransaction = (attempt: (writer: Writer) => () => void) =>
      connection.transaction((group: readonly Writer[]) => {
        const answers = group.map(attempt);
        assertFileInPlace();
        return answers;
      }).immediate;
    this.#attempt = inTransaction((writer) => writer.attempt());
    const inSavepoint = connection.transaction((writer: Writer) => writer.attempt());
    this.#attemptApart = inTransaction((writer) => {
      try {
        return inSavepoint(writer);
      } catch (error) {
        if (!isOfOneWriter(error)) throw error;
        return () => writer.reject(error);
      }
    });
  }

  /**
   * Runs a synchronous function in a transaction and resolves with its result once the changes are durable.
   * If the database is busy, or another write of the group fails, the function may run more than once, so it
   * must do nothing but use the connection.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        attempt() {
          const result = work();
          return () => resolve(result);
        },
        reject,
        deadline: this.#timing.now() + callTimeoutMs,
      });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when no write call waits any more. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    let retry = 0;
    while (this.#waiting.length > 0) {
      // All writes of this turn of the event loop join the group.
      await setImmediate();
      const group = this.#waiting.splice(0, groupLimit);
      const busy = this.#commit(group);
      if (busy === null) {
        retry = 0;
        continue;
      }
      this.#waiting.unshift(...this.#patient(group, busy.error));
      if (this.#waiting.length > 0) await this.#timing.sleep(pauseBefore(retry));
      retry += 1;
    }
    this.#draining = null;
  }

  /**
   * Commits a group of write calls, resolves or rejects each call, and returns `null`. If the database is
   * busy, returns the error and leaves the calls waiting.
   */
  #commit(group: readonly Writer[]): { readonly error: unknown } | null {
    let answers: (() => void)[];
    try {
      answers = this.#answersOf(group);
    } catch (error) {
      if (isBusy(error)) return { error };
      const reason = this.#reasonOf(error);
      for (const writer of group) writer.reject(reason);
      return null;
    }
    for (const answer of answers) answer();
    return null;
  }

  /** Commits a group of write calls and returns functions that resolve or reject the calls. */
  #answersOf(group: readonly Writer[]): (() => void)[] {
    try {
      return this.#attempt(group);
    } catch (error) {
      if (!isOfOneWriter(error)) throw error;
      return this.#attemptApart(group);
    }
  }

  /**
   * Returns the file guard's error if the database file is gone, because it explains SQLite's error.
   * Otherwise returns SQLite's error.
   */
  #reasonOf(error: unknown): unknown {
    try {
      this.#assertFileInPlace();
      return error;
    } catch (lost) {
      return lost;
    }
  }

  /** Rejects the write calls that have waited long enough and returns the others. */
  #patient(group: readonly Writer[], error: unknown): Writer[] {
    const now = this.#timing.now();
    return group.filter((writer) => {
      if (now < writer.deadline) return true;
      writer.reject(error);
      return false;
    });
  }
}

/**
 * Checks whether an error concerns only one write call of a group. Disk, memory and lock errors concern the
 * whole group.
 */
function isOfOneWriter(error: unknown): boolean {
  const code = codeOf(error);
  return !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code);
}
