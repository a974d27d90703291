import { setTimeout as delay } from 'node:timers/promises';
import { type Pool, type PoolClient, types } from 'pg';
import { DatabaseUnavailable } from './errors.ts';
import { endsConnection, isConflict, translated } from './postgres-errors.ts';
import type { Value } from './queries.ts';

/** How often work is tried that loses against other transactions, or whose connection turns out to be dead. */
const attempts = 5;
/** Between two attempts, times their number: the one that won goes first. */
const pauseMs = 10;

/** `bigint` comes as a number: ids, times and counts. Amounts are read as text. */
const parsers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
};

/** A time by which a call is over, one way or the other. */
function deadlineIn(ms: number) {
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    over.reject(new DatabaseUnavailable(`the database did not answer within ${ms} ms`));
  }, ms);
  return {
    get isOver() {
      return isOver;
    },
    race<Result>(promise: Promise<Result>): Promise<Result> {
      // Who is late is not listened to any more.
      promise.catch(() => undefined);
      return Promise.race([promise, over.promise]);
    },
    clear: () => clearTimeout(timer),
  };
}

type Deadline = ReturnType<typeof deadlineIn>;

/** What a statement led to. */
interface Answer {
  readonly rows: unknown[];
  readonly count: number;
  /** The tag, such as `COMMIT`. */
  readonly command: string;
}

/** A connection that is lent for one attempt, and watched. */
export interface Loan {
  readonly client: PoolClient;
  query(text: string, values?: readonly Value[]): Promise<Answer>;
  /** Set before a statement that can commit: what fails from then on may have taken effect. */
  isCommitting: boolean;
  isBroken: boolean;
  /** What the connection said last; errors of the work's own say nothing of it. */
  failure: unknown;
}

async function borrow(pool: Pool, deadline: Deadline): Promise<PoolClient> {
  const connecting = pool.connect();
  try {
    return await deadline.race(connecting);
  } catch (error) {
    // One that comes too late goes straight back.
    if (deadline.isOver) connecting.then((late) => late.release()).catch(() => undefined);
    throw translated(error);
  }
}

function loanOf(client: PoolClient): Loan {
  return {
    client,
    isCommitting: false,
    isBroken: false,
    failure: null,
    async query(text, values = []) {
      try {
        // Without values it may be several statements; without a name any pooler may give the next one another connection.
        const { rows, rowCount, command } = await (values.length === 0
          ? client.query({ text, types: parsers })
          : client.query({ text, values: [...values], types: parsers }));
        return { rows, count: rowCount ?? 0, command };
      } catch (error) {
        this.isBroken ||= endsConnection(error);
        this.failure = translated(error);
        throw this.failure;
      }
    },
  };
}

/** Lends a connection to an attempt; tries again what lost a conflict, or whose connection was dead before a commit. */
export async function lend<Result>(
  pool: Pool,
  patienceMs: number,
  attempt: (loan: Loan) => Promise<Result>,
): Promise<Result> {
  const deadline = deadlineIn(patienceMs);
  try {
    for (let number = 1; ; number += 1) {
      const client = await borrow(pool, deadline);
      const loan = loanOf(client);
      const onError = (): void => {
        loan.isBroken = true;
      };
      // Between two statements nobody else listens, and an error that nobody hears ends the process.
      client.on('error', onError);
      try {
        return await deadline.race(attempt(loan));
      } catch (error) {
        // A connection that is closed takes its transaction back on the server.
        loan.isBroken ||= deadline.isOver;
        // What Ostiary publishes in this transaction has errors of its own, with the same cause.
        const cause = error instanceof Error ? (error.cause ?? error) : error;
        const again = isConflict(cause) || (loan.isBroken && error === loan.failure && !loan.isCommitting);
        if (!again || number === attempts || deadline.isOver) throw error;
      } finally {
        client.removeListener('error', onError);
        client.release(loan.isBroken);
      }
      await delay(pauseMs * number);
    }
  } finally {
    deadline.clear();
  }
}
