import { setTimeout } from 'node:timers/promises';

/** What the runs of one race came to. */
export interface RaceReport {
  readonly name: string;
  readonly runs: number;
  /** The figures, as they are shown. */
  readonly figures: string;
  /** Answers that were 503 and asked for again. */
  readonly unavailable: number;
  readonly problems: readonly string[];
}

const patienceMs = 60_000;

/** Asks until the answer is a definite one: 503 says that nobody knows yet. */
export async function definite<Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
): Promise<Answer & { readonly unavailable: number }> {
  const deadline = performance.now() + patienceMs;
  for (let unavailable = 0; ; unavailable += 1) {
    const answer = await ask();
    if (answer.status !== 503 || performance.now() > deadline) return { ...answer, unavailable };
    await setTimeout(100);
  }
}

/** How many answers were 503. */
export function unavailableIn(answers: readonly { readonly unavailable: number }[]): number {
  return answers.reduce((sum, { unavailable }) => sum + unavailable, 0);
}

/** The web process whose turn it is. */
export function inTurn(origins: readonly string[], index: number): string {
  return origins[index % origins.length] ?? '';
}
