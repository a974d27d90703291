import { PartnerError } from '../../errors.ts';
import { type Passports, passportLifetimeMs } from '../../passports/passports.ts';
import { sandboxUsers } from '../../users/sandbox.ts';
import { type PartnerRoute, route } from '../request.ts';
import { sandboxPassport, sandboxPassportBody } from '../schemas.ts';

/** What test keys can do to try things out. */
export function sandboxRoutes(passports: Passports): PartnerRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v1/partner/sandbox/passports',
      scope: 'identity:verify',
      limit: 'other',
      tag: 'Sandbox',
      operation: 'createSandboxPassport',
      summary: 'Mints a passport for a user of the sandbox, also an expired one.',
      body: sandboxPassportBody,
      success: { status: 201, schema: sandboxPassport },
      testOnly: true,
      async handle({ body, now }) {
        const user = sandboxUsers.find(({ kid }) => kid === (body.kid ?? sandboxUsers[0]?.kid));
        if (user === undefined)
          throw new PartnerError('not_found', { description: 'There is no such user in the sandbox.' });
        const issuedAt = body.expired ? now - passportLifetimeMs - 1_000 : now;
        const passport = await passports.issue(user.sub, 'test', issuedAt);
        return {
          status: 201,
          body: {
            token: passport.token,
            kid: user.kid,
            issuedAt: passport.issuedAt.toISOString(),
            expiresAt: passport.expiresAt.toISOString(),
          },
        };
      },
    }),
  ];
}
