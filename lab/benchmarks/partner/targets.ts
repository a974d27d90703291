import type { Target } from '../../support/measure/report.ts';

/** What is compared, and what is asked for. */
export const targets = {
  verify: { name: 'verify', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
  users: { name: 'user lookup', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
  payments: { name: 'payments', unit: '/s', scale: 1, ratio: { atLeast: 0.7 } },
  export: { name: 'export, rows', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
} as const satisfies { readonly [name: string]: Target };

/** One of {@link targets}. */
export type TargetName = keyof typeof targets;

/** How much resident memory may grow while an export is read, in bytes. */
export const exportGrowthLimit = 30 * 1024 ** 2;
