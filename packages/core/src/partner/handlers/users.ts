import { z } from 'zod';
import type { Core } from '../../context.ts';
import type { Owner } from '../../ports/partners.ts';
import type { UserRecord } from '../../ports/users.ts';
import { requireUser, type UserLookup } from '../../users/lookup.ts';
import { type PartnerAnswer, type PartnerRoute, route } from '../request.ts';
import { kid, phone, userSchema } from '../schemas.ts';
import { shownFields } from '../shown-user.ts';

const always = ['kid', 'handle', 'name', 'role', 'country', 'createdAt'] as const;
const withoutKyc = shownFields(...always);
const withKyc = shownFields(...always, 'kycStatus', 'kycTier');

/** Looks users up by public id and by phone number. */
export function userRoutes(core: Core, users: UserLookup): PartnerRoute[] {
  const { consents } = core.storage;

  /** KYC data only goes to a partner that the user has allowed to see it. */
  async function answer({ partner, mode }: Owner, found: UserRecord | null): Promise<PartnerAnswer> {
    const user = requireUser(found);
    const allowed =
      mode === 'test' || (await consents.partnerHolds({ partner, sub: user.sub, scope: 'kyc' }));
    return { status: 200, body: allowed ? withKyc(user) : withoutKyc(user) };
  }

  const common = {
    method: 'GET',
    scope: 'users:read',
    limit: 'users',
    success: { status: 200, schema: userSchema },
  } as const;

  return [
    route({
      ...common,
      path: '/v1/partner/users/phone/:phone',
      tag: 'Users',
      operation: 'getUserByPhone',
      summary: 'Looks a user up by phone number (E.164).',
      pathSchema: z.object({ phone }),
      wrongPath: 'invalid_request',
      handle: async ({ path, partner, mode }) =>
        await answer({ partner, mode }, await users.byPhone({ partner, mode }, path.phone)),
    }),
    route({
      ...common,
      path: '/v1/partner/users/:kid',
      tag: 'Users',
      operation: 'getUser',
      summary: 'Looks a user up by public id.',
      pathSchema: z.object({ kid }),
      handle: async ({ path, partner, mode }) =>
        await answer({ partner, mode }, await users.byKid({ partner, mode }, path.kid)),
    }),
  ];
}
