import { iso } from '../../time/clock.ts';
import { type PartnerRoute, route } from '../request.ts';
import { whoamiSchema } from '../schemas.ts';

/** Says what a key is and from where it is used: the first call of a partner who sets things up. */
export function whoamiRoutes(): PartnerRoute[] {
  return [
    route({
      method: 'GET',
      path: '/v1/partner/whoami',
      scope: null,
      limit: 'other',
      tag: 'Keys',
      operation: 'whoami',
      sdk: { call: 'whoami()' },
      summary: 'Says whose key this is, what it may do, and from which address it is used.',
      success: { status: 200, schema: whoamiSchema },
      async handle({ partner, mode, key, address }) {
        const { id, name, scopes, requireSignature, expiresAt } = key;
        return {
          status: 200,
          body: {
            partner,
            mode,
            key: {
              id,
              name,
              scopes,
              requireSignature,
              expiresAt: expiresAt === null ? null : iso(expiresAt),
            },
            address: address(),
          },
        };
      },
    }),
  ];
}
