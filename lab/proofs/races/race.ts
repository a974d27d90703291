import { setTimeout } from 'node:timers/promises';
import type { Claim } from '../../support/proof.ts';

/** A definite response, and the number of 503 responses before that response. */
type Definite<Answer> = Answer & { readonly unavailable: number };

const patienceMs = 60_000;

/**
 * Repeats the request until the response is definite: 503 means that the result is not known yet. After a
 * minute, a 503 is returned.
 */
async function definite<Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
): Promise<Definite<Answer>> {
  const deadline = performance.now() + patienceMs;
  for (let unavailable = 0; ; unavailable += 1) {
    const answer = await ask();
    if (answer.status !== 503 || performance.now() > deadline) return { ...answer, unavailable };
    await setTimeout(100);
  }
}

/** Sends concurrent requests to all processes in turns. */
export function atOnce<Answer extends { readonly status: number }>(
  count: number,
  origins: readonly string[],
  ask: (origin: string) => Promise<Answer>,
): Promise<Definite<Answer>[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => definite(() => ask(origins[index % origins.length] ?? ''))),
  );
}

/** Counts the 503 responses of a race. */
export function unavailableIn(answers: readonly { readonly unavailable: number }[]): number {
  return answers.reduce((sum, { unavailable }) => sum + unavailable, 0);
}

/** Records a problem unless the condition holds. */
type Expect = (holds: boolean, problem: string) => void;

/**
 * Repeats a race of concurrent requests.
 * @param once - makes one run, and returns its counts
 * @returns the problems of all runs, and the sums of their counts
 */
export async function race(
  name: string,
  runs: number,
  once: (expect: Expect, run: number) => Promise<Readonly<Record<string, number>>>,
): Promise<Claim> {
  const problems: string[] = [];
  const sums: Record<string, number> = {};
  for (let run = 0; run < runs; run += 1) {
    const expect: Expect = (holds, problem) => {
      if (!holds) problems.push(`run ${run}: ${problem}`);
    };
    for (const [what, count] of Object.entries(await once(expect, run)))
      sums[what] = (sums[what] ?? 0) + count;
  }
  const found = Object.entries(sums).map(([what, count]) => `${count} ${what}`);
  return { name, problems, found: `${runs} runs: ${found.join(', ')}` };
}
