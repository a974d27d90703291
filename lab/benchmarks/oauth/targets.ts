import type { Target } from '../../support/measure/report.ts';

/** What is compared, and what is asked for. */
export const targets = {
  userinfo: { name: 'userinfo', unit: '/s', scale: 1, ratio: { atLeast: 2 } },
  exchange: { name: 'code exchange', unit: '/s', scale: 1, ratio: { atLeast: 1 } },
  start: { name: 'start', unit: ' ms', scale: 1, ratio: { atMost: 1.3 } },
  memory: { name: 'resident memory', unit: ' MiB', scale: 1 / 1024 ** 2, ratio: { atMost: 1.2 } },
} as const satisfies { readonly [name: string]: Target };

/** One of {@link targets}. */
export type TargetName = keyof typeof targets;
