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
    'Types of events, each once; or `["*"]` for all, also those that are added later.',
    ['payment.completed', 'payment.failed'],
  );

const url = field(
  z.string().min(1).max(2048).meta({ pattern: '^(https://|inbox:)' }),
  'Public https address, whose host name resolves. With a test key also an inbox of the service, which shows what arrives: `inbox:200` answers 200, `inbox:500` answers 500, `inbox:timeout` does not answer, `inbox:listen` hands its requests to a program such as `@ostiary/listen`.',
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
  'What deliveries are signed with: 16 to 256 characters, never shown again. Its UTF-8 bytes are the key.',
  'whsec_change-me-0123456789abcdef',
);

/** Schema of an endpoint's secret if deliveries also have the headers of Standard Webhooks. */
const standardSecret = field(
  secretText.refine((text) => encodingProblem(text) === null, {
    error: ({ input }) => encodingProblem(String(input)) ?? undefined,
    abort: true,
  }),
  'What deliveries are signed with: 16 to 256 characters, never shown again. Its UTF-8 bytes are the key. Of `webhook-signature` the key is what follows `whsec_`, which then is base64 of 24 to 64 bytes.',
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
      enabled: field(z.boolean().optional(), '`false` cancels what is pending.', true),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'names nothing to change',
      // Check only well-formed lists; the error names unknown types.
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ description: 'What to change of an endpoint: at least one member.', minProperties: 1 });

const idExample = '5b1f0c9e7d3a4826b0e4c1d2f3a59687';
const eventIdField = text('Id of the event: the same on every delivery of it.', `evt_${idExample}`);
const eventTypeField = text(
  'What happened. Types may be added: ignore those that you do not know.',
  'payment.completed',
);

export const endpointSchema = component('WebhookEndpoint', 'A webhook endpoint. Its secret is never shown.', {
  id: text('Id of the endpoint.', `we_${idExample}`),
  url: text('Where deliveries are sent.', 'https://partner.example.com/webhooks'),
  events: field(z.array(z.string()), 'Types of events, or `["*"]`.', ['payment.completed', 'payment.failed']),
  enabled: field(z.boolean(), 'Whether anything is delivered.', true),
  mode: modeField,
  createdAt: time('When it was registered.'),
  updatedAt: time('When it was changed last.'),
});

export const endpointList = component('WebhookEndpointList', 'All webhook endpoints.', {
  data: z.array(endpointSchema).meta({ description: 'Oldest first.' }),
});

export const endpointRemoved = component('WebhookEndpointRemoved', 'The endpoint is gone.', {
  id: text('Id of the endpoint.', `we_${idExample}`),
  deleted: field(z.literal(true), 'Always true.', true),
});

export const endpointId = field(
  z.string().regex(/^we_[0-9a-f]{32}$/, 'has to be the id of a webhook endpoint, we_…'),
  'Id of the webhook endpoint.',
  `we_${idExample}`,
);
export const endpointPath = z.object({ id: endpointId });

const deliveryStatus = field(
  z.enum(['pending', 'delivered', 'dropped', 'cancelled']),
  '`dropped`: every attempt failed. `cancelled`: the endpoint was disabled or removed.',
  'delivered',
);

export const deliveriesQuery = z.strictObject({
  status: z
    .enum(deliveryStates)
    .optional()
    .meta({
      description:
        'Only deliveries with this status. `failing`: only pending ones of which an attempt has failed.',
      examples: ['failing'],
    }),
  limit: pageSize,
  cursor,
});

const attempt = component('DeliveryAttempt', 'One attempt of a delivery.', {
  number: field(
    z.int().min(1),
    'Counted from 1. A number that is missing belongs to an attempt without a known result.',
    1,
  ),
  at: time('When it was made.'),
  durationMs: field(z.number(), 'How long it took, in milliseconds.', 84.5),
  httpStatus: field(z.int().nullable(), 'What the endpoint answered; `null`: nothing.', 204),
  error: text('Why it failed; `null` when it did not.', 'timeout')
    .nullable()
    .meta({ examples: [null] }),
  response: text('The beginning of what the endpoint said.', '').nullable(),
});

export const deliverySchema = component('Delivery', 'One event on its way to one webhook endpoint.', {
  id: text('Id of the delivery.', `dl_${idExample}`),
  eventId: eventIdField,
  eventType: eventTypeField,
  endpointId: text('Id of the webhook endpoint.', `we_${idExample}`),
  status: deliveryStatus,
  createdAt: time('When it was queued.'),
  nextAttemptAt: time('When it is tried next; `null` when it is not.')
    .nullable()
    .meta({ examples: [null] }),
  attempts: z.array(attempt).meta({ description: 'Oldest first.' }),
});

export const deliveryList = component('DeliveryList', 'A page of deliveries.', {
  data: z.array(deliverySchema).meta({ description: 'Newest first.' }),
  nextCursor,
});

export const redeliveries = component('Redeliveries', 'The deliveries that were queued.', {
  data: z.array(deliverySchema).meta({ description: 'One for each endpoint.' }),
});

export const recoverBody = requestBody('Since when dropped deliveries are sent again.', {
  since: givenTime('Deliveries that were dropped then or later.', '2026-01-01T00:00:00.000Z'),
});

export const recovered = component('Recovered', 'How many deliveries are sent again.', {
  queued: field(z.int().min(0), 'How many deliveries were queued.', 3),
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

export const sentEvent = component('SentEvent', 'An event, as it is delivered.', {
  id: eventIdField,
  type: eventTypeField,
  createdAt: time('When it happened.'),
  mode: modeField,
  data: field(
    z.record(z.string(), z.unknown()),
    'Depends on the type; see the webhooks of this description.',
    { message: 'The webhook works.' },
  ),
});

export const eventSchema = sentEvent
  .extend({
    sequence: field(z.int().min(1), 'Its place, without a gap, counted from 1.', 1017),
  })
  .meta({ id: 'Event', description: 'An event, and its place in the sequence.' });

export const eventList = component('EventList', 'A page of events.', {
  data: z.array(eventSchema).meta({ description: 'In their sequence.' }),
  hasMore: field(z.boolean(), 'Whether there are more now.', false),
  nextAfter: field(z.int().min(0), 'What to pass as `after` next.', 1017),
  oldestSequence: field(
    z.int().min(1).nullable(),
    'The oldest event that is kept; `null` when there is none.',
    1,
  ),
  newestSequence: field(z.int().min(0), 'The newest event, kept or not; 0 when there was none.', 1017),
});

export const eventPath = z.object({
  id: field(z.string().regex(/^evt_[0-9a-f]{32}$/), 'Id of the event.', `evt_${idExample}`),
});

export const redeliverBody = requestBody('Where to deliver again.', {
  endpointId: endpointId
    .optional()
    .meta({ description: 'Only there. Without it, where its type matches now.' }),
});

export const sandboxEventBody = (types: readonly string[]) =>
  requestBody('An event to trigger.', {
    type: field(z.enum(types, unknownType(types)), 'Which type of event.', 'webhook.test'),
    data: field(
      z.record(z.string(), z.unknown()).optional(),
      'Has to fit the type. Without it the example of the type.',
      { message: 'The webhook works.' },
    ),
  });
