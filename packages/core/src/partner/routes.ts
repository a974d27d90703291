import type { Core } from '../context.ts';
import type { Passports } from '../passports/passports.ts';
import type { UserLookup } from '../users/lookup.ts';
import { paymentRoutes } from './handlers/payments.ts';
import { reconciliationRoutes } from './handlers/reconciliation.ts';
import { sandboxRoutes } from './handlers/sandbox.ts';
import { userRoutes } from './handlers/users.ts';
import { verifyRoutes } from './handlers/verify.ts';
import { whoamiRoutes } from './handlers/whoami.ts';
import type { PartnerRoute } from './request.ts';

/** What the handlers work with. */
export interface PartnerTopics {
  readonly core: Core;
  readonly passports: Passports;
  readonly users: UserLookup;
  /** Called after a transfer was stored. */
  readonly transferCreated: () => void;
}

/** Every route of the partner API, by topic. */
export function partnerRoutes({ core, passports, users, transferCreated }: PartnerTopics): PartnerRoute[] {
  return [
    ...verifyRoutes(passports, users),
    ...paymentRoutes(core, users, transferCreated),
    ...userRoutes(core, users),
    ...reconciliationRoutes(core),
    ...sandboxRoutes(passports),
    ...whoamiRoutes(),
  ];
}
