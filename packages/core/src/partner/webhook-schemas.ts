import { z } from 'zod';
import { unknownType as wordsFor } from '../events.ts';

const iso = z.iso.datetime();

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
    .refine((names) => new Set(names).size === names.length, 'names a type twice');

const url = z.string().min(1).max(2048).meta({ description: 'Public https address.' });

/** Whatever its characters are, its UTF-8 bytes are the key; a lone surrogate has none. */
const secret = z
  .string()
  .min(16, 'has to have 16 to 256 characters')
  .max(256, 'has to have 16 to 256 characters')
  .refine((text) => text.isWellFormed(), 'is not well-formed Unicode');

/** An endpoint to register. */
export const endpointBody = (types: readonly string[]) =>
  z.strictObject({ url, events: eventTypes(types), secret });

/** What to change of an endpoint. */
export const endpointChanges = (types: readonly string[]) =>
  z
    .strictObject({
      url: url.optional(),
      events: eventTypes(types).optional(),
      secret: secret.optional(),
      enabled: z.boolean().optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'names nothing to change',
      // What is not known is named as such.
      when: ({ issues }) => issues.length === 0,
    });

/** An endpoint. */
export const endpointSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    enabled: z.boolean(),
    mode: z.enum(['live', 'test']),
    createdAt: iso,
    updatedAt: iso,
  })
  .meta({ id: 'WebhookEndpoint' });

export const endpointList = z.object({ data: z.array(endpointSchema) }).meta({ id: 'WebhookEndpointList' });

export const endpointRemoved = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'WebhookEndpointRemoved' });

export const endpointId = z
  .string()
  .regex(/^we_[0-9a-f]{32}$/, 'has to be the id of a webhook endpoint, we_…');
export const endpointPath = z.object({ id: endpointId });

const pageSize = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'has to be 1 to 100')
  .transform(Number)
  .refine((size) => size <= 100, 'has to be 1 to 100')
  .optional();

/** Which deliveries to list. */
export const deliveriesQuery = z.strictObject({
  status: z.enum(['pending', 'delivered', 'dropped', 'cancelled']).optional(),
  limit: pageSize,
  cursor: z.string().min(1).max(300).optional(),
});

/** A delivery. */
export const deliverySchema = z
  .object({
    id: z.string(),
    eventId: z.string(),
    eventType: z.string(),
    endpointId: z.string(),
    status: z.enum(['pending', 'delivered', 'dropped', 'cancelled']),
    createdAt: iso,
    nextAttemptAt: iso.nullable(),
    attempts: z.array(
      z.object({
        number: z.int(),
        at: iso,
        durationMs: z.number(),
        httpStatus: z.int().nullable(),
        error: z.string().nullable(),
        response: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Delivery' });

export const deliveryList = z
  .object({ data: z.array(deliverySchema), nextCursor: z.string().nullable() })
  .meta({ id: 'DeliveryList' });

export const redeliveries = z.object({ data: z.array(deliverySchema) }).meta({ id: 'Redeliveries' });

/** Since when dropped deliveries are sent again. */
export const recoverBody = z.strictObject({ since: iso });

export const recovered = z.object({ queued: z.int() }).meta({ id: 'Recovered' });

/** Which events to list: those after a place in the sequence. */
export const eventsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,14})$/, 'has to be a sequence number')
    .transform(Number)
    .optional(),
  limit: pageSize,
});

export const sentEvent = z
  .object({
    id: z.string(),
    type: z.string(),
    createdAt: iso,
    mode: z.enum(['live', 'test']),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'SentEvent' });

export const eventSchema = sentEvent.extend({ sequence: z.int().min(1) }).meta({ id: 'Event' });

export const eventList = z
  .object({
    data: z.array(eventSchema),
    hasMore: z.boolean(),
    /** What to pass as `after` next. */
    nextAfter: z.int().min(0),
    oldestSequence: z.int().min(1).nullable(),
  })
  .meta({ id: 'EventList' });

export const eventPath = z.object({ id: z.string().regex(/^evt_[0-9a-f]{32}$/) });

/** Where to deliver again. */
export const redeliverBody = z.strictObject({ endpointId: endpointId.optional() });

/** A sandbox event. */
export const sandboxEventBody = (types: readonly string[]) =>
  z.strictObject({
    type: z.enum(types, unknownType(types)),
    data: z.record(z.string(), z.unknown()).optional(),
  });
