import { iso } from '../../time/clock.ts';
import { type PartnerRoute, route } from '../request.ts';
import { whoamiSchema } from '../schemas.ts';

/** Route that describes the API key of the request and the client's address, for a partner's first call. */
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
      summary: 'Shows the partner, the scopes and the client IP address of the API key of the request.',
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
