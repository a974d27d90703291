import type { Target } from '../../support/measure/report.ts';
import type { CandidateName } from './fixture.ts';

/** What the verifier has to reach, by the name of what it is compared with. */
export const targets = {
  svix: { name: 'svix', unit: '/s', scale: 1, ratio: { atLeast: 1 } },
  standardwebhooks: { name: 'standardwebhooks', unit: '/s', scale: 1, ratio: { atLeast: 1 } },
  stripe: { name: 'stripe', unit: '/s', scale: 1, ratio: { atLeast: 1 } },
  limit: { name: 'limit', unit: '/s', scale: 1, ratio: { atLeast: 0.8 } },
} as const satisfies { readonly [Name in Exclude<CandidateName, 'ostiary'>]: Target };
