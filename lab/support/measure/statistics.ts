/** Returns a percentile of values; `share` is from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Returns the median of values, which a single slow round does not change. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Measured values of Ostiary and of the compared server, one value for each round. */
export interface Comparison {
  readonly bare: readonly number[];
  readonly ostiary: readonly number[];
}

/**
 * Returns the ratio of Ostiary's value to the compared server's value of the same round, because a slower
 * machine affects both.
 */
export function ratios({ bare, ostiary }: Comparison): number[] {
  return ostiary.map((value, round) => value / (bare[round] ?? Number.NaN));
}

/**
 * Measures several servers or libraries in turns, one value of each per round, in changing order. The first
 * round only warms up.
 */
export async function inTurns<Side extends string>(
  rounds: number,
  sides: { readonly [name in Side]: () => Promise<number> },
): Promise<Record<Side, number[]>> {
  const names = Object.keys(sides) as Side[];
  const values = Object.fromEntries(names.map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await sides[name]();
      if (round >= 0) values[name]?.push(value);
    }
  }
  return values as Record<Side, number[]>;
}
