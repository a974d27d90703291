import { setTimeout } from 'node:timers/promises';
import type { Claim } from '../../support/proof.ts';

/** What the runs of one race came to. */
export interface RaceReport extends Claim {
  /** Answers that were 503 and asked for again. */
  readonly unavailable: number;
}

/** One answer, and how often it was 503 before. */
export type Definite<Answer> = Answer & { readonly unavailable: number };

const patienceMs = 60_000;

/** Asks until the answer is a definite one: 503 says that nobody knows yet. */
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

/** One race of which there are several runs: what it finds wrong, and counts. */
export class Race {
  readonly #origins: readonly string[];
  readonly #problems: string[] = [];
  readonly #counts = new Map<string, number>();
  #run = 0;
  #unavailable = 0;

  /** @param origins - processes that are asked in turns */
  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  /** Makes the runs. @returns what came of them @param found - the figures, from what was counted */
  async run(
    name: string,
    runs: number,
    once: (run: number) => Promise<void>,
    found: (sum: (what: string) => number) => string,
  ): Promise<RaceReport> {
    for (; this.#run < runs; this.#run += 1) await once(this.#run);
    const figures = found((what) => this.#counts.get(what) ?? 0);
    return { name, problems: this.#problems, found: figures, unavailable: this.#unavailable };
  }

  /** Asks so often at once, all processes in turns. */
  async all<Answer extends { readonly status: number }>(
    count: number,
    ask: (origin: string) => Promise<Answer>,
  ): Promise<Definite<Answer>[]> {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        definite(() => ask(this.#origins[index % this.#origins.length] ?? '')),
      ),
    );
    this.#unavailable += unavailableIn(answers);
    return answers;
  }

  count(what: string, count: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** Notes what is wrong in this run, unless it holds. */
  expect(holds: boolean, problem: string): void {
    if (!holds) this.#problems.push(`run ${this.#run}: ${problem}`);
  }
}

/** How many answers were 503. */
export function unavailableIn(answers: readonly { readonly unavailable: number }[]): number {
  return answers.reduce((sum, { unavailable }) => sum + unavailable, 0);
}
