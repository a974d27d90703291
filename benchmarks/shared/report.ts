import { arch, availableParallelism, cpus, platform } from 'node:os';
import { type Comparison, median, ratios } from './statistics.ts';

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

export function rowOf(target: Target, comparison: Comparison): Row {
  const shown = (values: readonly number[]) =>
    Math.round(median(values) * target.scale).toLocaleString('en-US') + target.unit;
  const all = ratios(comparison);
  const ratio = median(all);
  const passed = 'atLeast' in target.ratio ? ratio >= target.ratio.atLeast : ratio <= target.ratio.atMost;
  const limit =
    'atLeast' in target.ratio
      ? `>= ${target.ratio.atLeast.toFixed(2)}`
      : `<= ${target.ratio.atMost.toFixed(2)}`;
  const spread = `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`;
  return {
    cells: [
      target.name,
      shown(comparison.bare),
      shown(comparison.ostiary),
      ratio.toFixed(2),
      spread,
      limit,
      passed ? 'PASS' : 'MISS',
    ],
    passed,
  };
}

const heads = ['', 'bare', 'Ostiary', 'ratio', 'spread', 'target', ''];

export function tableOf(rows: readonly Row[]): string {
  const lines = [heads, ...rows.map(({ cells }) => cells)];
  const widths = heads.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

/** What the figures depend on. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return `Node ${process.version}, ${platform()} ${arch()}, ${availableParallelism()} CPUs (${model})`;
}
