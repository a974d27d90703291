import { z } from 'zod';
import { unknownType as wordsFor } from '../events.ts';
import { component, field, givenTime, modeField, requestBody, text, time } from '../schemas/fields.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { deliveryStates } from '../webhooks/delivery-state.ts';
import { encodingProblem } from '../webhooks/standard-webhooks.ts';
import { cursor, nextCursor, pageSize } from './schemas.ts';

const unknownType = (types: readonly string[]) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? undefined : wordsFor(input, types),
});

/**
 * Schema of an endpoint's event types: names of types, or `*` for all. The service's options decide which
 * types exist.
 */
const eventTypes = (types: readonly string[]) =>
  field(
    z
      .array(z.enum(['*', ...types], unknownType(types)))
      .min(1)
      .refine((names) => names.length === 1 || !names.includes('*'), {
        error: 'takes "*" alone',
        abort: true,
      })
      .refine((names) => new Set(names).size === names.length, 'names a type twice')
      .meta({ uniqueItems: true }),
    'Event types, without duplicates; or `["*"]` for all event types, including types that are added later.',
    ['payment.completed', 'payment.failed'],
  );

const url = field(
  z.string().min(1).max(2048).meta({ pattern: '^(https://|inbox:)' }),
  'Public https URL whose host name resolves. With a test key also an inbox of the service, which shows the requests that arrive: `inbox:200` answers 200, `inbox:500` answers 500, `inbox:timeout` does not answer, `inbox:listen` hands its requests to a program such as `@ostiary/listen`.',
  'https://partner.example.com/webhooks',
);

/**
 * Schema of a webhook secret. The signing key is its UTF-8 bytes, so a lone surrogate, which UTF-8 cannot
 * encode, is refused.
 */
const secretText = z
  .string()
  .min(16, fieldProblems.secret_length)
  .max(256, fieldProblems.secret_length)
  .refine((text) => text.isWellFormed(), 'is not well-formed Unicode');

const secret = field(
  secretText,
  'Secret that signs deliveries: 16 to 256 characters, never shown again. The UTF-8 bytes of the secret are the HMAC key.',
  'whsec_change-me-0123456789abcdef',
);

/** Schema of an endpoint's secret if deliveries also have the headers of Standard Webhooks. */
const standardSecret = field(
  secretText.refine((text) => encodingProblem(text) === null, {
    error: ({ input }) => encodingProblem(String(input)) ?? undefined,
    abort: true,
  }),
  'Secret that signs deliveries: 16 to 256 characters, never shown again. The UTF-8 bytes of the secret are the HMAC key. For `webhook-signature`, the key is the decoded text after `whsec_`, which then has to be base64 of 24 to 64 bytes.',
  'whsec_Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWU=',
);

/** Settings of the service that affect the schema of an endpoint. */
interface EndpointOptions {
  /** Names of all event types. */
  readonly types: readonly string[];
  /** True if deliveries also have the headers of Standard Webhooks. */
  readonly standardHeaders: boolean;
}

const secretOf = ({ standardHeaders }: EndpointOptions) => (standardHeaders ? standardSecret : secret);

export const endpointBody = (options: EndpointOptions) =>
  requestBody('An endpoint to register.', {
    url,
    events: eventTypes(options.types),
    secret: secretOf(options),
  });

export const endpointChanges = (options: EndpointOptions) =>
  z
    .strictObject({
      url: url.optional(),
      events: eventTypes(options.types).optional(),
      secret: secretOf(options).optional(),
      enabled: field(
        z.boolean().optional(),
        '`false` disables the endpoint and cancels its pending deliveries; `true` enables the endpoint.',
        true,
      ),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'names nothing to change',
      // Check only changes whose members are valid; otherwise the errors of the members suffice.
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ description: 'Changes to an endpoint: at least one member.', minProperties: 1 });

const idExample = '5b1f0c9e7d3a4826b0e4c1d2f3a59687';
const eventIdField = text('Id of the event: the same in every delivery of the event.', `evt_${idExample}`);
const eventTypeField = text(
  'Type of the event. Types may be added: ignore types that you do not know.',
  'payment.completed',
);

export const endpointSchema = component('WebhookEndpoint', 'A webhook endpoint, without its secret.', {
  id: text('Id of the webhook endpoint.', `we_${idExample}`),
  url: text('URL to which deliveries are sent.', 'https://partner.example.com/webhooks'),
  events: field(z.array(z.string()), 'Types of the events that are delivered, or `["*"]` for all.', [
    'payment.completed',
    'payment.failed',
  ]),
  enabled: field(z.boolean(), 'True if events are delivered to the endpoint.', true),
  mode: modeField,
  createdAt: time('Time at which the endpoint was registered.'),
  updatedAt: time('Time of the last change of the endpoint.'),
});

export const endpointList = component('WebhookEndpointList', 'All webhook endpoints.', {
  data: z.array(endpointSchema).meta({ description: 'Webhook endpoints, the oldest first.' }),
});

export const endpointRemoved = component(
  'WebhookEndpointRemoved',
  'Confirmation that a webhook endpoint was removed.',
  {
    id: text('Id of the webhook endpoint.', `we_${idExample}`),
    deleted: field(z.literal(true), 'Always true.', true),
  },
);

export const endpointId = field(
  z.string().regex(/^we_[0-9a-f]{32}$/, 'has to be the id of a webhook endpoint, we_…'),
  'Id of the webhook endpoint.',
  `we_${idExample}`,
);
export const endpointPath = z.object({ id: endpointId });

const deliveryStatus = field(
  z.enum(['pending', 'delivered', 'dropped', 'cancelled']),
  'Status of the delivery. `dropped`: every attempt failed. `cancelled`: the endpoint was disabled or removed, or the partner was disabled.',
  'delivered',
);

export const deliveriesQuery = z.strictObject({
  status: z
    .enum(deliveryStates)
    .optional()
    .meta({
      description:
        'Only deliveries with this status. `failing`: only pending deliveries with at least one failed attempt.',
      examples: ['failing'],
    }),
  limit: pageSize,
  cursor,
});

const attempt = component('DeliveryAttempt', 'An attempt to send a delivery to its endpoint.', {
  number: field(
    z.int().min(1),
    'Number of the attempt, counted from 1. A missing number belongs to an attempt without a known result.',
    1,
  ),
  at: time('Time at which the attempt started.'),
  durationMs: field(z.number(), 'Duration of the attempt, in milliseconds.', 84.5),
  httpStatus: field(
    z.int().nullable(),
    'HTTP status of the endpoint’s response; `null` if there was no response.',
    204,
  ),
  error: text('Reason why the attempt failed; `null` if the attempt succeeded.', 'timeout')
    .nullable()
    .meta({ examples: [null] }),
  response: text(
    'Beginning of the body of the endpoint’s response; `null` if there was no response.',
    '',
  ).nullable(),
});

export const deliverySchema = component('Delivery', 'The delivery of an event to a webhook endpoint.', {
  id: text('Id of the delivery.', `dl_${idExample}`),
  eventId: eventIdField,
  eventType: eventTypeField,
  endpointId: text('Id of the webhook endpoint.', `we_${idExample}`),
  status: deliveryStatus,
  createdAt: time('Time at which the delivery was queued.'),
  nextAttemptAt: time('Time of the next attempt; `null` if no attempt is planned.')
    .nullable()
    .meta({ examples: [null] }),
  attempts: z.array(attempt).meta({ description: 'Attempts of the delivery, the oldest first.' }),
});

export const deliveryList = component('DeliveryList', 'A page of deliveries.', {
  data: z.array(deliverySchema).meta({ description: 'Deliveries, the newest first.' }),
  nextCursor,
});

export const redeliveries = component('Redeliveries', 'Deliveries of the event that are pending.', {
  data: z
    .array(deliverySchema)
    .meta({ description: 'Deliveries, one for each endpoint: new ones, and those that were still pending.' }),
});

export const recoverBody = requestBody('A request to send dropped deliveries again.', {
  since: givenTime(
    'Start of the period: deliveries that were dropped at this time or later are sent again.',
    '2026-01-01T00:00:00.000Z',
  ),
});

export const recovered = component('Recovered', 'Result of a recovery of dropped deliveries.', {
  queued: field(z.int().min(0), 'Number of deliveries that were queued again.', 3),
});

/** Schema of the query of the list of events: those after a sequence number. */
export const eventsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,14})$/, 'has to be a sequence number')
    .transform(Number)
    .pipe(z.int().min(0).max(999_999_999_999_999))
    .optional()
    .meta({
      description: 'Only events with a greater `sequence`. A number beyond `newestSequence` is refused.',
      examples: [1016],
      default: 0,
    }),
  limit: pageSize,
});

export const sentEvent = component('SentEvent', 'An event in the form in which endpoints receive it.', {
  id: eventIdField,
  type: eventTypeField,
  createdAt: time('Time at which the event happened.'),
  mode: modeField,
  data: field(
    z.record(z.string(), z.unknown()),
    'Data of the event. Its members depend on the event type; see the webhooks of this description.',
    { message: 'The webhook works.' },
  ),
});

export const eventSchema = sentEvent
  .extend({
    sequence: field(
      z.int().min(1),
      'Number of the event in the sequence, counted from 1 without gaps.',
      1017,
    ),
  })
  .meta({ id: 'Event', description: 'An event with its sequence number.' });

export const eventList = component('EventList', 'A page of events.', {
  data: z.array(eventSchema).meta({ description: 'Events in ascending order of `sequence`.' }),
  hasMore: field(z.boolean(), 'True if there are events after this page now.', false),
  nextAfter: field(z.int().min(0), 'Value of `after` for the request of the next page.', 1017),
  oldestSequence: field(
    z.int().min(1).nullable(),
    'Sequence number of the oldest event that is still stored; `null` if there is none.',
    1,
  ),
  newestSequence: field(
    z.int().min(0),
    'Sequence number of the newest event, also if it is no longer stored; 0 if there was no event yet.',
    1017,
  ),
});

export const eventPath = z.object({
  id: field(z.string().regex(/^evt_[0-9a-f]{32}$/), 'Id of the event.', `evt_${idExample}`),
});

export const redeliverBody = requestBody('A request to deliver an event again.', {
  endpointId: endpointId.optional().meta({
    description:
      'Id of the only endpoint that gets the event. If missing, every endpoint that takes its type now gets the event.',
  }),
});

export const sandboxEventBody = (types: readonly string[]) =>
  requestBody('An event to trigger.', {
    type: field(z.enum(types, unknownType(types)), 'Type of the event to trigger.', 'webhook.test'),
    data: field(
      z.record(z.string(), z.unknown()).optional(),
      'Data of the event, which must match the schema of the type. If missing, the example data of the type.',
      { message: 'The webhook works.' },
    ),
  });
