import type { Core } from '../options/context.ts';
import type { Passports } from '../passports/passports.ts';
import type { UserLookup } from '../users/lookup.ts';
import type { Webhooks } from '../webhooks/create-webhooks.ts';
import { eventRoutes } from './handlers/events.ts';
import { inboxRoutes } from './handlers/inbox.ts';
import { paymentRoutes } from './handlers/payments.ts';
import { reconciliationRoutes } from './handlers/reconciliation.ts';
import { sandboxRoutes } from './handlers/sandbox.ts';
import { userRoutes } from './handlers/users.ts';
import { verifyRoutes } from './handlers/verify.ts';
import { deliveryRoutes, webhookRoutes } from './handlers/webhooks.ts';
import { whoamiRoutes } from './handlers/whoami.ts';
import type { PartnerRoute } from './request.ts';

/** Dependencies of the partner API's handlers. */
export interface PartnerTopics {
  readonly core: Core;
  readonly passports: Passports;
  readonly users: UserLookup;
  readonly webhooks: Webhooks;
}

/** Creates the table of the partner API's routes, grouped by topic. */
export function partnerRoutes({ core, passports, users, webhooks }: PartnerTopics): PartnerRoute[] {
  return [
    ...verifyRoutes(core, passports, users),
    ...paymentRoutes(core, users),
    ...userRoutes(core, users),
    ...reconciliationRoutes(core),
    ...webhookRoutes(webhooks),
    ...deliveryRoutes(core, webhooks),
    ...eventRoutes(core, webhooks),
    ...sandboxRoutes(passports),
    ...inboxRoutes(core, webhooks),
    ...whoamiRoutes(),
  ];
}
