import { setTimeout } from 'node:timers/promises';
import { tableOf } from './measure/table.ts';

/** Something that was promised. */
export interface Claim {
  readonly name: string;
  /** Contradictions; empty if the claim holds. */
  readonly problems: readonly string[];
  /** Further results. */
  readonly found?: string;
}

/** A claim that holds, or has one problem. */
export function claim(name: string, holds: boolean, found = 'it does not hold'): Claim {
  return { name, problems: holds ? [] : [found], found };
}

/** Every problem of every claim, for a test. */
export function problemsOf(claims: readonly Claim[]): string[] {
  return claims.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
}

/** So many problems of one claim are printed. */
const shown = 10;

/**
 * Prints which claims hold, and the problems of those that do not; then ends the process, with 1 when one does not.
 * @param seed - that repeats the run
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
  // Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
  process.exit(holds ? 0 : 1);
}

/** Time after which an event counts as missing. */
const patienceMs = 90_000;

/** Waits until it holds. @returns whether it does in the end */
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

/** Does something for each item, so many at a time. @returns what came of each */
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
