import { setImmediate } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { codeOf, isBusy, patienceMs, pauseBefore, type Timing } from './busy.ts';

/** How many writers share one commit at most, so that a flood does not hold the event loop for long. */
const groupLimit = 500;

/** One call that waits for its commit. */
interface Writer {
  /** Does the work inside the transaction; what it returns tells the caller, and runs after the commit. */
  attempt(): () => void;
  reject(error: unknown): void;
  readonly deadline: number;
}

/**
 * Commits writes in groups. With `synchronous = FULL` every commit waits for the disk, so one commit serves all
 * writes that wait in the same turn of the event loop. Each has a savepoint of its own: one that fails takes
 * nobody along. Nobody is answered before the commit is on the disk.
 */
export class GroupCommit {
  readonly #connection: Sqlite.Database;
  readonly #timing: Timing;
  readonly #sql: Readonly<
    Record<'begin' | 'commit' | 'rollback' | 'save' | 'release' | 'undo', Sqlite.Statement<[]>>
  >;
  readonly #waiting: Writer[] = [];
  #draining: Promise<void> | null = null;

  constructor(connection: Sqlite.Database, timing: Timing) {
    this.#connection = connection;
    this.#timing = timing;
    this.#sql = {
      begin: connection.prepare('BEGIN IMMEDIATE'),
      commit: connection.prepare('COMMIT'),
      rollback: connection.prepare('ROLLBACK'),
      save: connection.prepare('SAVEPOINT writer'),
      release: connection.prepare('RELEASE writer'),
      undo: connection.prepare('ROLLBACK TO writer'),
    };
  }

  /**
   * Runs synchronous work in a transaction and resolves with its result once that is durable. The work may run
   * more than once, when the database turns out to be busy: it must do nothing but use the connection.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        attempt() {
          const result = work();
          return () => resolve(result);
        },
        reject,
        deadline: this.#timing.now() + patienceMs,
      });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    let retry = 0;
    while (this.#waiting.length > 0) {
      // Everything that is written in this turn of the event loop joins the group.
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

  /** Commits the group and answers its writers. When the database is busy nobody is answered, and that is returned. */
  #commit(group: readonly Writer[]): { readonly error: unknown } | null {
    const answers: (() => void)[] = [];
    try {
      this.#sql.begin.run();
      for (const writer of group) answers.push(this.#inSavepoint(writer));
      this.#sql.commit.run();
    } catch (error) {
      this.#rollBack();
      if (isBusy(error)) return { error };
      for (const writer of group) writer.reject(error);
      return null;
    }
    for (const answer of answers) answer();
    return null;
  }

  #inSavepoint(writer: Writer): () => void {
    this.#sql.save.run();
    try {
      const answer = writer.attempt();
      this.#sql.release.run();
      return answer;
    } catch (error) {
      if (!isOfOneWriter(error)) throw error;
      this.#sql.undo.run();
      this.#sql.release.run();
      return () => writer.reject(error);
    }
  }

  #rollBack(): void {
    // SQLite rolls back by itself after some errors. If even this fails the connection is lost, and every later
    // call will say so; the writers of this group must hear the first error.
    try {
      if (this.#connection.inTransaction) this.#sql.rollback.run();
    } catch {}
  }

  /** Refuses the writers that have waited long enough and returns the others. */
  #patient(group: readonly Writer[], error: unknown): Writer[] {
    const now = this.#timing.now();
    return group.filter((writer) => {
      if (now < writer.deadline) return true;
      writer.reject(error);
      return false;
    });
  }
}

/** Whether an error comes from what one writer asked for; disk, memory and lock errors concern the whole group. */
function isOfOneWriter(error: unknown): boolean {
  const code = codeOf(error);
  return !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code);
}
