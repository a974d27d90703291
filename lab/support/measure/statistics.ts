/** The middle of some numbers, which one slow round does not move. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error('no values');
  return (low + high) / 2;
}

/** One figure of both providers, a value for each round. */
export interface Comparison {
  readonly bare: readonly number[];
  readonly ostiary: readonly number[];
}

/** Ostiary's value by the bare provider's of the same round, so that a machine that slows down hits both. */
export function ratios({ bare, ostiary }: Comparison): number[] {
  return ostiary.map((value, round) => value / (bare[round] ?? Number.NaN));
}

/**
 * Measures several sides in turns, a value of each for every round, and nobody is always the first. The round before the first one
 * is not counted.
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
