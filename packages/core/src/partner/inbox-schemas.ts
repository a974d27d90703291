import { z } from 'zod';
import { component, field, requestBody, text, time } from '../schemas/fields.ts';
import { maxKeptBody } from '../webhooks/attempt-answer.ts';
import { inboxSize } from '../webhooks/inbox.ts';
import { endpointId } from './webhook-schemas.ts';

const idExample = '5b1f0c9e7d3a4826b0e4c1d2f3a59687';

/**
 * Longest time for which one call waits for inbox requests, in seconds: shorter than the time-outs of
 * proxies.
 */
const longestWait = 20;

/** Reasons why a program that forwards inbox requests has no response from the server behind it. */
const listenerErrors = [
  'timeout',
  'connection_refused',
  'connection_failed',
  'connection_reset',
  'certificate',
  'tls',
  'protocol',
] as const;

const header = component('InboxHeader', 'A header of an inbox request.', {
  name: text('Name of the header.', 'X-SVC-Event'),
  value: text('Value of the header.', 'payment.completed'),
});

const answer = component('InboxAnswer', 'The response to an inbox request.', {
  httpStatus: field(z.int().nullable(), 'HTTP status of the response; `null` if there was no response.', 200),
  error: text('Reason why there was no response; `null` if there was one.', 'timeout')
    .nullable()
    .meta({ examples: [null] }),
  response: text('Beginning of the body of the response; `null` if there was no response.', 'ok').nullable(),
});

export const inboxRequest = component('InboxItem', 'A request that arrived in an inbox.', {
  id: text('Id of the request.', `in_${idExample}`),
  endpointId,
  receivedAt: time('Time at which the request arrived.'),
  method: field(z.literal('POST'), 'HTTP method of the request: always POST.', 'POST'),
  headers: z
    .array(header)
    .meta({ description: 'Headers of the request, in the order in which they were sent.' }),
  body: text('Body of the request. Its bytes are the UTF-8 encoding of this text.', '{"id":"evt_5b1f"}'),
  signatureError: text(
    'Error code that `@ostiary/webhook-verifier` gives for the signature; `null` if the signature is valid.',
    'signature_mismatch',
  )
    .nullable()
    .meta({ examples: [null] }),
  answer: answer
    .nullable()
    .meta({ description: 'The response to the request; `null` while there is none.', examples: [null] }),
});

export const inboxRequestList = component('InboxItemList', 'The last requests of an inbox.', {
  data: z.array(inboxRequest).meta({ description: `Requests, the newest first, at most ${inboxSize}.` }),
});

export const takenRequests = component('TakenItems', 'Inbox requests that wait for a response.', {
  data: z
    .array(inboxRequest)
    .meta({ description: 'Requests, the oldest first. Each request is handed out once.' }),
});

export const takeBody = requestBody('A request to take waiting inbox requests.', {
  waitSeconds: field(
    z.int().min(0).max(longestWait, `has to be 0 to ${longestWait}`).default(0),
    'Longest time to wait for a first request, in seconds.',
    longestWait,
  ),
});

export const inboxRequestPath = z.object({
  id: field(z.string().regex(/^in_[0-9a-f]{32}$/), 'Id of the request.', `in_${idExample}`),
});

export const answerBody = requestBody(
  'Response of the server behind a listener: its status, or the reason why there was no response.',
  {
    httpStatus: field(z.int().min(100).max(599).optional(), 'HTTP status of the response.', 200),
    response: field(z.string().max(maxKeptBody).optional(), 'Beginning of the body of the response.', 'ok'),
    error: field(
      z.enum(listenerErrors).optional(),
      'Reason why there was no response. Required without `httpStatus`, and ignored with `httpStatus`.',
      'connection_refused',
    ),
  },
).refine(({ httpStatus, error }) => httpStatus !== undefined || error !== undefined, {
  error: 'needs httpStatus or error',
  when: ({ issues }) => issues.length === 0,
});

export const answerTaken = component(
  'InboxAnswerTaken',
  'Confirmation that a response to an inbox request arrived.',
  {
    counted: field(
      z.boolean(),
      'False if the request was not taken or has been removed, or if the delivery attempt had ended or already had a response.',
      true,
    ),
  },
);
