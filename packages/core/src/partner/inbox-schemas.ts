import { z } from 'zod';
import { component, field, requestBody, text, time } from '../schemas/fields.ts';
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

const header = component('InboxHeader', 'A header of a request.', {
  name: text('Name of the header.', 'X-SVC-Event'),
  value: text('Value of the header.', 'payment.completed'),
});

const answer = component('InboxAnswer', 'The response to a request.', {
  httpStatus: field(z.int().nullable(), 'Its status; `null`: there was no response.', 200),
  error: text('Why there was none; `null` when there was one.', 'timeout')
    .nullable()
    .meta({ examples: [null] }),
  response: text('The beginning of the response.', 'ok').nullable(),
});

export const inboxRequest = component('InboxItem', 'A request that arrived in an inbox.', {
  id: text('Id of the request.', `in_${idExample}`),
  endpointId,
  receivedAt: time('When it arrived.'),
  method: field(z.literal('POST'), 'Always POST.', 'POST'),
  headers: z.array(header).meta({ description: 'In the order in which they were sent.' }),
  body: text('The body: its bytes are the UTF-8 of this text.', '{"id":"evt_5b1f"}'),
  signatureError: text(
    'What a check of the signature found, a code of `@ostiary/webhook-verifier`; `null`: it is valid.',
    'signature_mismatch',
  )
    .nullable()
    .meta({ examples: [null] }),
  answer: answer
    .nullable()
    .meta({ description: 'The response; `null` while there is none.', examples: [null] }),
});

export const inboxRequestList = component('InboxItemList', 'The last requests of an inbox.', {
  data: z.array(inboxRequest).meta({ description: `Newest first, ${inboxSize} at most.` }),
});

export const takenRequests = component('TakenItems', 'Requests that wait for an answer.', {
  data: z.array(inboxRequest).meta({ description: 'Oldest first. Each is handed out once.' }),
});

export const takeBody = requestBody('How long to wait for requests.', {
  waitSeconds: field(
    z.int().min(0).max(longestWait, `has to be 0 to ${longestWait}`).default(0),
    'How long to wait for a first request.',
    longestWait,
  ),
});

export const inboxRequestPath = z.object({
  id: field(z.string().regex(/^in_[0-9a-f]{32}$/), 'Id of the request.', `in_${idExample}`),
});

export const answerBody = requestBody(
  'What the server behind a listener answered: its status, or why there was no response.',
  {
    httpStatus: field(z.int().min(100).max(599).optional(), 'The status of the response.', 200),
    response: field(z.string().max(16_384).optional(), 'The beginning of the response.', 'ok'),
    error: field(
      z.enum(listenerErrors).optional(),
      'Why there was no response. Needed without `httpStatus`, and ignored with it.',
      'connection_refused',
    ),
  },
).refine(({ httpStatus, error }) => httpStatus !== undefined || error !== undefined, {
  error: 'needs httpStatus or error',
  when: ({ issues }) => issues.length === 0,
});

export const answerTaken = component('InboxAnswerTaken', 'Whether the answer counts.', {
  counted: field(z.boolean(), '`false`: the attempt was over, or had an answer already.', true),
});
