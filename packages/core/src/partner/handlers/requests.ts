import { z } from 'zod';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { JsonObject } from '../../ports/interactions.ts';
import type { LoggedRequest } from '../../ports/request-log.ts';
import { iso } from '../../time/clock.ts';
import { inBothDirections } from '../paging.ts';
import { operation, type PartnerOperation } from '../request.ts';
import { bothDirections, cursor, pageSize } from '../schemas.ts';

function requestView({ partner: _, mode: __, createdAt, ...request }: LoggedRequest): JsonObject {
  return { ...request, createdAt: iso(createdAt) };
}

/** Console operations for the log of API requests. */
export function requestOperations({ storage: { requestLog } }: Core): PartnerOperation[] {
  return [
    operation({
      operation: 'listRequests',
      portal: 'view',
      scope: 'webhooks',
      query: z.strictObject({
        failed: z.literal('true').optional(),
        limit: pageSize,
        cursor,
        ...bothDirections,
      }),
      /** Returns a page of the list, and the number of requests in the list. */
      async handle({ query: { failed, ...page }, partner, mode }) {
        const filter = { partner, mode, failed: failed === 'true' };
        const body = await inBothDirections({
          ...page,
          read: (page) => requestLog.list({ ...filter, ...page }),
          count: (most) => requestLog.count(filter, most),
          // Lists leave out the bodies.
          view: ({ sent: _, answered: __, ...request }) =>
            requestView({ ...request, sent: null, answered: null }),
        });
        return { status: 200, body };
      },
    }),

    operation({
      operation: 'getRequest',
      portal: 'view',
      scope: 'webhooks',
      pathSchema: z.object({ id: z.string().max(100) }),
      async handle({ path, partner, mode }) {
        const request = await requestLog.find({ partner, mode }, path.id);
        if (request === null)
          throw new PartnerError('not_found', { description: 'There is no such request.' });
        return { status: 200, body: requestView(request) };
      },
    }),
  ];
}
