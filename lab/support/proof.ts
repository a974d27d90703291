import { setTimeout } from 'node:timers/promises';
import { tableOf } from './measure/table.ts';

/** A guarantee, and the result of its check. */
export interface Claim {
  readonly name: string;
  /** Observations that contradict the guarantee; empty if the guarantee holds. */
  readonly problems: readonly string[];
  /** Additional findings to print beside the guarantee. */
  readonly found?: string;
}

/** Makes a guarantee that holds, or has one problem. */
export function claim(name: string, holds: boolean, found = ''): Claim {
  return { name, problems: holds ? [] : [found === '' ? 'it does not hold' : found], found };
}

/** Lists all problems of all guarantees, for a test. */
export function problemsOf(claims: readonly Claim[]): string[] {
  return claims.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
}

/** Maximum number of problems that are printed for a guarantee. */
const shown = 10;

/**
 * Prints a table of all guarantees, and the problems of those that do not hold; then ends the process, with
 * exit code 1 if a guarantee does not hold.
 * @param seed - seed that repeats the run
 */
export function endProof(claims: readonly Claim[], seed?: number): never {
  const width = Math.max(0, ...claims.map(({ found = '' }) => found.length));
  console.log(
    tableOf(
      ['claim', '', ''.padEnd(width)],
      claims.map(({ name, problems, found = '' }) => [
        name,
        problems.length === 0 ? 'ok' : 'NO',
        found.padEnd(width),
      ]),
    ),
  );
  for (const { name, problems } of claims) {
    for (const problem of problems.slice(0, shown)) console.log(`\n${name}: ${problem.slice(0, 2_000)}`);
    if (problems.length > shown) console.log(`\n${name}: ${problems.length - shown} more`);
  }
  const holds = claims.every(({ problems }) => problems.length === 0);
  if (!holds && seed !== undefined) console.log(`\nrepeat with --seed ${seed}`);
  // Call exit, because the package of PostgreSQL overwrites `process.exitCode` when a process ends by itself.
  process.exit(holds ? 0 : 1);
}

/** Time after which an awaited event counts as missing, in milliseconds. */
const patienceMs = 90_000;

/** Waits until a condition holds. @returns true if the condition holds in the end */
export async function until(
  holds: () => Promise<boolean> | boolean,
  { everyMs = 50, withinMs = patienceMs }: { readonly everyMs?: number; readonly withinMs?: number } = {},
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await setTimeout(everyMs);
  }
  return true;
}

/** Runs a task for each item of a list, a limited number at the same time. @returns the results in order */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const drive = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, drive));
  return results;
}
