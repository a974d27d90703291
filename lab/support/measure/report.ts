import { arch, availableParallelism, cpus, platform } from 'node:os';
import { type Comparison, median, ratios } from './statistics.ts';
import { tableOf } from './table.ts';

/** What is compared, and what is asked for. */
export interface Target {
  readonly name: string;
  readonly unit: string;
  /** From a measured value to one in that unit. */
  readonly scale: number;
  /** Whether Ostiary's value by the bare provider's has to be at least or at most this. */
  readonly ratio: { readonly atLeast: number } | { readonly atMost: number };
}

/** One line of the table. */
export interface Row {
  readonly cells: readonly string[];
  readonly passed: boolean;
}

/** A whole number, with commas. */
export function shown(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** The cells that say what was measured. */
function measured({ name, unit, scale }: Omit<Target, 'ratio'>, comparison: Comparison): string[] {
  const middle = (values: readonly number[]) => shown(median(values) * scale) + unit;
  const all = ratios(comparison);
  const spread = `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`;
  return [name, middle(comparison.bare), middle(comparison.ostiary), median(all).toFixed(2), spread];
}

/** A line of which nothing is asked. */
export function informationOf(figure: Omit<Target, 'ratio'>, comparison: Comparison): Row {
  return { cells: [...measured(figure, comparison), '', ''], passed: true };
}

export function rowOf(target: Target, comparison: Comparison): Row {
  const ratio = median(ratios(comparison));
  const passed = 'atLeast' in target.ratio ? ratio >= target.ratio.atLeast : ratio <= target.ratio.atMost;
  const limit =
    'atLeast' in target.ratio
      ? `>= ${target.ratio.atLeast.toFixed(2)}`
      : `<= ${target.ratio.atMost.toFixed(2)}`;
  return { cells: [...measured(target, comparison), limit, passed ? 'PASS' : 'MISS'], passed };
}

const heads = ['', 'bare', 'Ostiary', 'ratio', 'spread', 'target', ''];

/** Ostiary beside what it is compared with. */
export function ratioTable(rows: readonly Row[]): string {
  return tableOf(
    heads,
    rows.map(({ cells }) => cells),
  );
}

/** What the figures depend on. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return `Node ${process.version}, ${platform()} ${arch()}, ${availableParallelism()} CPUs (${model})`;
}
