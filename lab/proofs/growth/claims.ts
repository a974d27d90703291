import type { Claim } from '../../support/proof.ts';
import type { Taken } from './measure.ts';

/** Maximum growth of an operation's cost from the smallest table size to larger sizes. */
interface Limits {
  /** Maximum ratio of the median times, beyond the growth of a plain look-up in the same seconds. */
  readonly median: number;
  /**
   * Maximum ratio of the database pages, with `morePages` in addition. An index gets a level deeper when its
   * table is a few hundred times as large: two or three pages per look-up become three or four.
   */
  readonly pages: number;
  readonly morePages: number;
}

export const flat: Limits = { median: 1.3, pages: 1.5, morePages: 4 };

/** Reasons why some operations take longer in larger tables. */
const reasons: Readonly<Record<string, string>> = {
  'deliveries: dropped': 'up to some thousand dropped ones are sorted rather than walked along',
};

/** Returns the time for each table size divided by the time for the smallest size. */
const growthOf = (times: readonly number[]): number[] => times.map((time) => time / (times[0] ?? Number.NaN));

/**
 * Makes the guarantee that an operation takes about the same time and reads about the same number of pages for
 * every table size, within `limits`. Where the tables exceed the memory, a plain look-up takes longer too, and
 * the operation may take longer by the same factor. An operation in `reasons` is only reported.
 */
export function growthClaim(name: string, taken: readonly Taken[], limits: Limits): Claim {
  const [smallest] = taken;
  if (smallest === undefined) throw new Error(`${name} was not called`);
  const ratios = growthOf(taken.map(({ p50 }) => p50));
  const bare = growthOf(taken.map(({ bareP50 }) => bareP50));
  const allowed = smallest.pages * limits.pages + limits.morePages;
  const of = (value: (one: Taken) => string) => taken.map(value).join(' / ');
  const reason = reasons[name];
  const found = [
    `${of(({ p50 }) => p50.toFixed(2))} ms beside ${of(({ bareP50 }) => bareP50.toFixed(2))} ms of a look-up`,
    `p99 ${of(({ p99 }) => p99.toFixed(2))}`,
    `pages ${of(({ pages }) => pages.toFixed(1))}`,
  ].join('; ');
  const grew = ratios.some((ratio, size) => ratio > limits.median * Math.max(1, bare[size] ?? 1));
  const problems = [
    ...(grew ? [`the median grows more than that of a look-up: ${found}`] : []),
    ...(taken.some(({ pages }) => pages > allowed) ? [`it reads more pages: ${found}`] : []),
    ...(taken.at(-1)?.scanned ?? []).map((table) => `all of ${table} is read`),
  ];
  if (reason !== undefined) return { name, problems: [], found: `${found} (${reason})` };
  return { name, problems, found };
}
