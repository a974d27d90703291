import type { Core } from '../../options/context.ts';
import type { Passports } from '../../passports/passports.ts';
import { iso } from '../../time/clock.ts';
import { requireUser, type UserLookup } from '../../users/lookup.ts';
import { type PartnerRoute, route } from '../request.ts';
import { verification, verifyBody } from '../schemas.ts';
import { shownFields } from '../shown-user.ts';

/** Route that verifies the passport shown by a user. */
export function verifyRoutes(core: Core, passports: Passports, users: UserLookup): PartnerRoute[] {
  const shown = shownFields(core, ['kid', 'role', 'country', 'kycStatus', 'kycTier']);

  return [
    route({
      method: 'POST',
      path: '/v1/partner/verify',
      scope: 'identity:verify',
      limit: 'verify',
      tag: 'Passports',
      operation: 'verifyPassport',
      sdk: { call: 'passports.verify(body)' },
      summary: 'Verifies a passport token in real time.',
      body: verifyBody,
      success: { status: 200, schema: verification },
      async handle({ body, partner, mode }) {
        const passport = await passports.read(body.token, mode);
        const owner = { partner, mode };
        const user = await users.withKyc(owner, requireUser(await users.bySub(owner, passport.sub)));
        return {
          status: 200,
          body: {
            valid: true,
            user: shown(user),
            issuedAt: iso(passport.issuedAt),
            expiresAt: iso(passport.expiresAt),
          },
        };
      },
    }),
  ];
}
