import { z } from 'zod';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import { type Passports, passportLifetimeMs } from '../../passports/passports.ts';
import { kycStatus } from '../../schemas/fields.ts';
import { type SandboxUser, sandboxUsers } from '../../users/sandbox.ts';
import { originalKyc, sandboxKycStore } from '../../users/sandbox-kyc.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { operation, type PartnerOperation, type PartnerRoute, route } from '../request.ts';
import { changeSandboxKyc } from '../sandbox-kyc.ts';
import { kid, sandboxPassport, sandboxPassportBody } from '../schemas.ts';

/** Returns the sandbox user with a public id. @throws PartnerError `not_found` if there is none */
function sandboxUser(kid: string | undefined): SandboxUser {
  const user = sandboxUsers.find((user) => user.kid === kid);
  if (user !== undefined) return user;
  throw new PartnerError('not_found', { description: 'There is no such user in the sandbox.' });
}

/** Partner API routes that provide sandbox data to test keys. */
export function sandboxRoutes(passports: Passports): PartnerRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v1/partner/sandbox/passports',
      scope: 'identity:verify',
      limit: 'other',
      tag: 'Sandbox',
      operation: 'createSandboxPassport',
      sdk: { call: 'sandbox.createPassport(body)' },
      summary: 'Mints a passport for a user of the sandbox, also an expired one.',
      body: sandboxPassportBody,
      bodyIsOptional: true,
      success: { status: 201, schema: sandboxPassport },
      testOnly: true,
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
  ];
}

/** Console operations for the sandbox, in addition to the partner API. */
export function sandboxOperations(
  core: Core,
  { catalogue }: Pick<Webhooks, 'catalogue'>,
): PartnerOperation[] {
  const kept = sandboxKycStore(core);
  const changeKyc = changeSandboxKyc(core, catalogue);
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

    operation({
      operation: 'changeSandboxKyc',
      scope: 'identity:verify',
      testOnly: true,
      pathSchema: z.object({ kid }),
      body: z.strictObject({ kycStatus }),
      idempotent: true,
      handle: ({ path, body, ...request }) =>
        changeKyc({ ...request, user: sandboxUser(path.kid), kycStatus: body.kycStatus }),
    }),
  ];
}
