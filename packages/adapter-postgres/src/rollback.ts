import { type Database, lockPatienceMs, patienceMs } from './database.ts';
import type { Connection } from './statement.ts';

/** Leaves the transaction with an answer and without its changes. */
export type RollBack<Answer> = (answer: Answer) => never;

/**
 * A transaction that may find out late that there is nothing to change: with an answer, not with an error.
 *
 * @param claim - of the key that it takes, if it takes one; then somebody else may hold that
 */
export async function writeOrRollBack<Answer>(
  database: Database,
  claim: object | null,
  work: (connection: Connection, rollBack: RollBack<Answer>) => Promise<Answer>,
): Promise<Answer> {
  const answers = new WeakMap<Error, { readonly answer: Answer }>();
  const rollBack: RollBack<Answer> = (answer) => {
    const reason = new Error('there is nothing to change');
    answers.set(reason, { answer });
    throw reason;
  };
  try {
    const lockPatience = claim === null ? patienceMs : lockPatienceMs;
    return await database.write((connection) => work(connection, rollBack), patienceMs, lockPatience);
  } catch (error) {
    const undone =
      error instanceof Error && error.cause instanceof Error ? answers.get(error.cause) : undefined;
    if (undone === undefined) throw error;
    return undone.answer;
  }
}
