import { z } from 'zod';
import { unknownType as wordsFor } from '../events.ts';
import { givenTime, modeField, text, time } from '../fields.ts';
import { cursor, nextCursor, pageSize } from './schemas.ts';

const unknownType = (types: readonly string[]) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? undefined : wordsFor(input, types),
});

/** Names of events, or the one that stands for all of them. Which names there are depends on the service. */
const eventTypes = (types: readonly string[]) =>
  z
    .array(z.enum(['*', ...types], unknownType(types)))
    .min(1)
    .refine((names) => names.length === 1 || !names.includes('*'), { error: 'takes "*" alone', abort: true })
    .refine((names) => new Set(names).size === names.length, 'names a type twice')
    .meta({
      description: 'Types of events, each once; or `["*"]` for all, also those that are added later.',
      examples: [['payment.completed', 'payment.failed']],
    });

const url = z
  .string()
  .min(1)
  .max(2048)
  .meta({ description: 'Public https address.', examples: ['https://partner.example.com/webhooks'] });

/** Whatever its characters are, its UTF-8 bytes are the key; a lone surrogate has none. */
const secret = z
  .string()
  .min(16, 'has to have 16 to 256 characters')
  .max(256, 'has to have 16 to 256 characters')
  .refine((text) => text.isWellFormed(), 'is not well-formed Unicode')
  .meta({
    description:
      'What deliveries are signed with: 16 to 256 characters, never shown again. Its UTF-8 bytes are the key.',
    examples: ['whsec_change-me-0123456789abcdef'],
  });

/** An endpoint to register. */
export const endpointBody = (types: readonly string[]) =>
  z
    .strictObject({ url, events: eventTypes(types), secret })
    .meta({ description: 'An endpoint to register.' });

/** What to change of an endpoint. */
export const endpointChanges = (types: readonly string[]) =>
  z
    .strictObject({
      url: url.optional(),
      events: eventTypes(types).optional(),
      secret: secret.optional(),
      enabled: z
        .boolean()
        .optional()
        .meta({ description: '`false` cancels what is pending.', examples: [true] }),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'names nothing to change',
      // What is not known is named as such.
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ description: 'What to change of an endpoint: at least one member.' });

const idExample = '5b1f0c9e7d3a4826b0e4c1d2f3a59687';
const eventIdField = text('Id of the event: the same on every delivery of it.', `evt_${idExample}`);
const eventTypeField = text(
  'What happened. Types may be added: ignore those that you do not know.',
  'payment.completed',
);

/** An endpoint. */
export const endpointSchema = z
  .object({
    id: text('Id of the endpoint.', `we_${idExample}`),
    url: text('Where deliveries are sent.', 'https://partner.example.com/webhooks'),
    events: z.array(z.string()).meta({
      description: 'Types of events, or `["*"]`.',
      examples: [['payment.completed', 'payment.failed']],
    }),
    enabled: z.boolean().meta({ description: 'Whether anything is delivered.', examples: [true] }),
    mode: modeField,
    createdAt: time('When it was registered.'),
    updatedAt: time('When it was changed last.'),
  })
  .meta({ id: 'WebhookEndpoint', description: 'A webhook endpoint. Its secret is never shown.' });

export const endpointList = z
  .object({ data: z.array(endpointSchema).meta({ description: 'Oldest first.' }) })
  .meta({ id: 'WebhookEndpointList', description: 'All webhook endpoints.' });

export const endpointRemoved = z
  .object({
    id: text('Id of the endpoint.', `we_${idExample}`),
    deleted: z.literal(true).meta({ description: 'Always true.', examples: [true] }),
  })
  .meta({ id: 'WebhookEndpointRemoved', description: 'The endpoint is gone.' });

export const endpointId = z
  .string()
  .regex(/^we_[0-9a-f]{32}$/, 'has to be the id of a webhook endpoint, we_…')
  .meta({ description: 'Id of the webhook endpoint.', examples: [`we_${idExample}`] });
export const endpointPath = z.object({ id: endpointId });

const deliveryStatus = z.enum(['pending', 'delivered', 'dropped', 'cancelled']).meta({
  description: '`dropped`: every attempt failed. `cancelled`: the endpoint was disabled or removed.',
  examples: ['delivered'],
});

/** Which deliveries to list. */
export const deliveriesQuery = z.strictObject({
  status: deliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
  limit: pageSize,
  cursor,
});

const attempt = z
  .object({
    number: z
      .int()
      .min(1)
      .meta({ description: 'Counted from 1.', examples: [1] }),
    at: time('When it was made.'),
    durationMs: z.number().meta({ description: 'How long it took, in milliseconds.', examples: [84.5] }),
    httpStatus: z
      .int()
      .nullable()
      .meta({ description: 'What the endpoint answered; `null`: nothing.', examples: [204] }),
    error: text('Why it failed; `null` when it did not.', 'timeout')
      .nullable()
      .meta({ examples: [null] }),
    response: text('The beginning of what the endpoint said.', '').nullable(),
  })
  .meta({ id: 'DeliveryAttempt', description: 'One attempt of a delivery.' });

/** A delivery. */
export const deliverySchema = z
  .object({
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
  })
  .meta({ id: 'Delivery', description: 'One event on its way to one webhook endpoint.' });

export const deliveryList = z
  .object({ data: z.array(deliverySchema).meta({ description: 'Newest first.' }), nextCursor })
  .meta({ id: 'DeliveryList', description: 'A page of deliveries.' });

export const redeliveries = z
  .object({ data: z.array(deliverySchema).meta({ description: 'One for each endpoint.' }) })
  .meta({ id: 'Redeliveries', description: 'The deliveries that were queued.' });

/** Since when dropped deliveries are sent again. */
export const recoverBody = z
  .strictObject({
    since: givenTime('Deliveries that were dropped then or later.', '2026-01-01T00:00:00.000Z'),
  })
  .meta({ description: 'Since when dropped deliveries are sent again.' });

export const recovered = z
  .object({
    queued: z
      .int()
      .min(0)
      .meta({ description: 'How many deliveries were queued.', examples: [3] }),
  })
  .meta({ id: 'Recovered', description: 'How many deliveries are sent again.' });

/** Which events to list: those after a place in the sequence. */
export const eventsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,14})$/, 'has to be a sequence number')
    .transform(Number)
    .pipe(z.int().min(0))
    .optional()
    .meta({ description: 'Only events with a greater `sequence`.', examples: [1016], default: 0 }),
  limit: pageSize,
});

export const sentEvent = z
  .object({
    id: eventIdField,
    type: eventTypeField,
    createdAt: time('When it happened.'),
    mode: modeField,
    data: z.record(z.string(), z.unknown()).meta({
      description: 'Depends on the type; see the webhooks of this description.',
      examples: [{ message: 'The webhook works.' }],
    }),
  })
  .meta({ id: 'SentEvent', description: 'An event, as it is delivered.' });

export const eventSchema = sentEvent
  .extend({
    sequence: z
      .int()
      .min(1)
      .meta({ description: 'Its place, without a gap, counted from 1.', examples: [1017] }),
  })
  .meta({ id: 'Event', description: 'An event, and its place in the sequence.' });

export const eventList = z
  .object({
    data: z.array(eventSchema).meta({ description: 'In their sequence.' }),
    hasMore: z.boolean().meta({ description: 'Whether there are more now.', examples: [false] }),
    nextAfter: z
      .int()
      .min(0)
      .meta({ description: 'What to pass as `after` next.', examples: [1017] }),
    oldestSequence: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'The oldest event that is kept; `null` when there is none.', examples: [1] }),
  })
  .meta({ id: 'EventList', description: 'A page of events.' });

export const eventPath = z.object({
  id: z
    .string()
    .regex(/^evt_[0-9a-f]{32}$/)
    .meta({ description: 'Id of the event.', examples: [`evt_${idExample}`] }),
});

/** Where to deliver again. */
export const redeliverBody = z
  .strictObject({
    endpointId: endpointId
      .optional()
      .meta({ description: 'Only there. Without it, where its type matches now.' }),
  })
  .meta({ description: 'Where to deliver again.' });

/** A sandbox event. */
export const sandboxEventBody = (types: readonly string[]) =>
  z
    .strictObject({
      type: z
        .enum(types, unknownType(types))
        .meta({ description: 'Which type of event.', examples: ['webhook.test'] }),
      data: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({
          description: 'Has to fit the type. Without it the example of the type.',
          examples: [{ message: 'The webhook works.' }],
        }),
    })
    .meta({ description: 'An event to trigger.' });
