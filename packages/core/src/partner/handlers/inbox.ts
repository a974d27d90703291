import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { inboxSize } from '../../webhooks/inbox.ts';
import { inboxRequestView } from '../../webhooks/views.ts';
import {
  answerBody,
  answerTaken,
  inboxRequestList,
  inboxRequestPath,
  takeBody,
  takenRequests,
} from '../inbox-schemas.ts';
import { operation, type PartnerOperation, type PartnerRoute, route } from '../request.ts';
import { endpointPath } from '../webhook-schemas.ts';

const common = { scope: 'webhooks', tag: 'Sandbox', testOnly: true } as const;

/**
 * Routes that show the requests of an inbox, and let a partner's program take these requests and respond to
 * them.
 */
export function inboxRoutes(
  { storage: { inbox } }: Core,
  { endpoints, listening }: Webhooks,
): PartnerRoute[] {
  return [
    route({
      ...common,
      limit: 'other',
      method: 'GET',
      path: '/v1/partner/webhooks/:id/requests',
      operation: 'listInboxRequests',
      sdk: { call: 'sandbox.listRequests(id)' },
      summary: 'Lists the last requests that arrived in the inbox of an endpoint, newest first.',
      pathSchema: endpointPath,
      success: { status: 200, schema: inboxRequestList },
      async handle({ path, partner, mode }) {
        const owner = { partner, mode };
        const { id: endpointId } = await endpoints.find(owner, path.id);
        const data = await inbox.list({ ...owner, endpointId, limit: inboxSize });
        return { status: 200, body: { data: data.map(inboxRequestView) } };
      },
    }),

    route({
      ...common,
      limit: 'listening',
      method: 'POST',
      path: '/v1/partner/webhooks/:id/take',
      operation: 'takeInboxRequests',
      sdk: { call: 'sandbox.takeRequests(id, body)' },
      summary: 'Takes the requests of an endpoint with the URL inbox:listen that wait for an answer.',
      pathSchema: endpointPath,
      body: takeBody,
      bodyIsOptional: true,
      success: { status: 200, schema: takenRequests },
      isLogged: false,
      async handle({ path, body, partner, mode, isOver, readmit }) {
        const waitMs = body.waitSeconds * 1_000;
        const call = { partner, mode, endpointId: path.id, waitMs, isOver, readmit };
        return { status: 200, body: { data: (await listening.take(call)).map(inboxRequestView) } };
      },
    }),

    route({
      ...common,
      limit: 'listening',
      method: 'POST',
      path: '/v1/partner/inbox/:id/answer',
      operation: 'answerInboxRequest',
      sdk: { call: 'sandbox.answerRequest(id, body)' },
      summary: 'Answers a request that was taken: the delivery attempt ends with this result.',
      pathSchema: inboxRequestPath,
      body: answerBody,
      success: { status: 200, schema: answerTaken },
      isLogged: false,
      async handle({ path, body: { httpStatus = null, error = null, response }, partner, mode }) {
        const answer =
          httpStatus === null
            ? { httpStatus, error, response: null }
            : { httpStatus, error: null, response: response ?? '' };
        const counted = await listening.answer({ partner, mode }, path.id, answer);
        return { status: 200, body: { counted } };
      },
    }),
  ];
}

/** Console operation that shows one request of an inbox, in addition to the partner API. */
export function inboxOperations({ storage: { inbox } }: Core): PartnerOperation[] {
  return [
    operation({
      operation: 'getInboxRequest',
      scope: 'webhooks',
      testOnly: true,
      pathSchema: inboxRequestPath,
      async handle({ path, partner, mode }) {
        const request = await inbox.find({ partner, mode }, path.id);
        if (request === null)
          throw new PartnerError('not_found', { description: 'The inbox no longer has this request.' });
        return { status: 200, body: inboxRequestView(request) };
      },
    }),
  ];
}
