import { z } from 'zod';
import type { Core } from '../../context.ts';
import { PartnerError } from '../../errors.ts';
import { type Passports, passportLifetimeMs } from '../../passports/passports.ts';
import { type SandboxUser, sandboxUsers } from '../../users/sandbox.ts';
import { originalKyc, sandboxKycStore, sandboxTierOf } from '../../users/sandbox-kyc.ts';
import type { Webhooks } from '../../webhooks/create.ts';
import { operation, type PartnerOperation, type PartnerRoute, route } from '../request.ts';
import { changeSandboxKyc } from '../sandbox-kyc.ts';
import { kid, sandboxKyc, sandboxKycBody, sandboxPassport, sandboxPassportBody } from '../schemas.ts';

/** @throws PartnerError `not_found` */
function sandboxUser(kid: string | undefined): SandboxUser {
  const user = sandboxUsers.find((user) => user.kid === kid);
  if (user !== undefined) return user;
  throw new PartnerError('not_found', { description: 'There is no such user in the sandbox.' });
}

const common = {
  method: 'POST',
  scope: 'identity:verify',
  limit: 'other',
  tag: 'Sandbox',
  testOnly: true,
} as const;

/** What test keys can do to try things out. */
export function sandboxRoutes(
  core: Core,
  passports: Passports,
  { catalogue }: Pick<Webhooks, 'catalogue'>,
): PartnerRoute[] {
  const changeKyc = changeSandboxKyc(core, catalogue);

  return [
    route({
      ...common,
      path: '/v1/partner/sandbox/passports',
      operation: 'createSandboxPassport',
      summary: 'Mints a passport for a user of the sandbox, also an expired one.',
      body: sandboxPassportBody,
      success: { status: 201, schema: sandboxPassport },
      async handle({ body, now }) {
        const user = sandboxUser(body.kid ?? sandboxUsers[0]?.kid);
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

    route({
      ...common,
      path: '/v1/partner/sandbox/users/:kid/kyc',
      operation: 'changeSandboxKyc',
      summary: 'Changes the identity check of a user of the sandbox, for your test keys and for 7 days.',
      pathSchema: z.object({ kid }),
      body: sandboxKycBody,
      success: { status: 200, schema: sandboxKyc },
      idempotent: true,
      async handle({ path, body, ...request }) {
        const { kycStatus, kycTier = sandboxTierOf(kycStatus) } = body;
        const user = sandboxUser(path.kid);
        return await changeKyc({ ...request, user, kyc: { kycStatus, kycTier } });
      },
    }),
  ];
}

/** What a console reads of the sandbox beside the partner API. */
export function sandboxOperations(core: Core): PartnerOperation[] {
  const kept = sandboxKycStore(core);
  return [
    operation({
      operation: 'listSandboxUsers',
      scope: null,
      testOnly: true,
      async handle({ partner, now }) {
        const data = [];
        for (const user of sandboxUsers) {
          const { kid, name, phone } = user;
          const kyc = await kept.find(partner, user, now);
          data.push({ kid, name, phone, ...kyc, original: originalKyc(user) });
        }
        return { status: 200, body: { data } };
      },
    }),
  ];
}
