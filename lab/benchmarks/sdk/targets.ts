import type { Target } from '../../support/measure/report.ts';
import type { CallName } from './fixture.ts';

const atLeast = 0.8;

/** What the SDK has to reach beside bare fetch, by the name of the call. */
export const targets = {
  verify: { name: 'passports.verify', unit: '/s', scale: 1, ratio: { atLeast } },
  create: { name: 'payments.create', unit: '/s', scale: 1, ratio: { atLeast } },
  retrieve: { name: 'payments.retrieve', unit: '/s', scale: 1, ratio: { atLeast } },
  list: { name: 'payments.list, one page', unit: '/s', scale: 1, ratio: { atLeast } },
} as const satisfies { readonly [Name in CallName]: Target };

/** What may be left over by many calls. */
export const growth = {
  /** Bytes of heap a call, from the first quarter of the calls to the last. A kept listener, timer or promise is more than ten times as much. */
  bytesPerCall: 10,
  listeners: 0,
} as const;
