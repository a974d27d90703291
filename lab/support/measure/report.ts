import { arch, availableParallelism, cpus, platform } from 'node:os';
import { type Comparison, median, ratios } from './statistics.ts';

/**
 * Name of a comparison, and the required ratio of Ostiary's value to the other value, if a ratio is required.
 */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** A row of the table of results. */
export interface Row {
  readonly cells: readonly string[];
  readonly passed: boolean;
}

/** Column titles of the table of results. */
export const heads = ['', 'bare', 'Ostiary', 'ratio', 'spread', 'target', ''];

/** Formats a whole number with commas as thousands separators. */
export function shown(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Makes the table cells with the target and whether Ostiary met the target. */
export function judged(target: string, passed: boolean): string[] {
  return [target, passed ? 'PASS' : 'MISS'];
}

export function rowOf({ name, unit, atLeast, atMost }: Figure, comparison: Comparison): Row {
  const all = ratios(comparison);
  const ratio = median(all);
  const middle = (values: readonly number[]) => shown(median(values)) + unit;
  const spread = `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`;
  const cells = [name, middle(comparison.bare), middle(comparison.ostiary), ratio.toFixed(2), spread];
  if (atLeast === undefined && atMost === undefined) return { cells, passed: true };
  const passed = ratio >= (atLeast ?? 0) && ratio <= (atMost ?? Number.POSITIVE_INFINITY);
  const target = atLeast === undefined ? `<= ${atMost?.toFixed(2)}` : `>= ${atLeast.toFixed(2)}`;
  return { cells: [...cells, ...judged(target, passed)], passed };
}

/** Describes the machine and the version of Node with which a measurement is made. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return `Node ${process.version}, ${platform()} ${arch()}, ${availableParallelism()} CPUs (${model})`;
}
