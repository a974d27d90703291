import { z } from 'zod';
import type { Core } from '../../options/context.ts';
import type { UserRecord } from '../../ports/users.ts';
import { requireUser, type UserLookup } from '../../users/lookup.ts';
import { type PartnerAnswer, type PartnerRequest, type PartnerRoute, route } from '../request.ts';
import { kid, phone, userSchema } from '../schemas.ts';
import { shownFields } from '../shown-user.ts';

const always = ['kid', 'handle', 'name', 'role', 'country', 'createdAt'] as const;

/** Routes that find users by public id and by phone number. */
export function userRoutes(core: Core, users: UserLookup): PartnerRoute[] {
  const { consents } = core.storage;
  const withoutKyc = shownFields(core, always);
  const withKyc = shownFields(core, [...always, 'kycStatus', 'kycTier']);

  /**
   * Responds with a user. In live mode, data of the identity check (KYC) goes only to a partner that the user
   * has allowed to see it.
   */
  async function answer({ partner, mode }: PartnerRequest, found: UserRecord | null): Promise<PartnerAnswer> {
    const user = requireUser(found);
    const allowed =
      mode === 'test' || (await consents.partnerHolds({ partner, sub: user.sub, scope: 'kyc' }));
    if (!allowed) return { status: 200, body: withoutKyc(user) };
    return { status: 200, body: withKyc(await users.withKyc({ partner, mode }, user)) };
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
      sdk: { call: 'users.retrieveByPhone(phone)' },
      summary: 'Looks a user up by phone number (E.164).',
      pathSchema: z.object({ phone }),
      wrongPath: 'invalid_request',
      handle: async (request) => await answer(request, await users.byPhone(request, request.path.phone)),
    }),
    route({
      ...common,
      path: '/v1/partner/users',
      tag: 'Users',
      operation: 'findUser',
      sdk: { call: 'users.retrieve(kid)' },
      summary: 'Looks a user up by public id in the query: no URL can hold `.` and `..` as a path segment.',
      query: z.strictObject({ kid }),
      handle: async (request) => await answer(request, await users.byKid(request, request.query.kid)),
    }),
    route({
      ...common,
      path: '/v1/partner/users/:kid',
      tag: 'Users',
      operation: 'getUser',
      sdk: { call: 'users.retrieve(kid)' },
      summary: 'Looks a user up by public id.',
      pathSchema: z.object({ kid }),
      handle: async (request) => await answer(request, await users.byKid(request, request.path.kid)),
    }),
  ];
}
