import type { Target } from '../../support/measure/report.ts';

/** One of these has to be met: which of them is in reach depends on the machine. */
export const targets = {
  peer: { name: 'deliveries, beside the faster peer', unit: '/s', scale: 1, ratio: { atLeast: 1.2 } },
  raw: { name: 'deliveries, beside POSTs alone', unit: '/s', scale: 1, ratio: { atLeast: 0.8 } },
} as const satisfies { readonly [name: string]: Target };
