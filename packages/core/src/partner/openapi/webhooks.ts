import type { EventDescription } from '../../events.ts';
import type { JsonObject } from '../../ports/interactions.ts';
import { sentEvent } from '../webhook-schemas.ts';
import { exampleOf } from './examples.ts';
import { type Components, hostSchema, type Json } from './json-schema.ts';

/** Descriptions of the headers of a webhook, by the part of the header name after `X-<PREFIX>-`. */
const headers: { readonly [suffix: string]: { readonly description: string; readonly schema: Json } } = {
  Event: {
    description: 'Type of the event, as in the body.',
    schema: { type: 'string', examples: ['payment.completed'] },
  },
  EventId: {
    description:
      'Id of the event, as in the body: the same on every attempt. Use the id to detect duplicates.',
    schema: { type: 'string', examples: ['evt_5b1f0c9e7d3a4826b0e4c1d2f3a59687'] },
  },
  Timestamp: {
    description:
      'Time at which the attempt was signed, in Unix seconds. Refuse a time that is more than 300 seconds from now.',
    schema: { type: 'integer', format: 'int64', examples: [1767268801] },
  },
  Signature: {
    description:
      'Lower-case hexadecimal HMAC-SHA-256 of the timestamp, a full stop and the raw body, keyed with the secret of the endpoint. Compare in constant time.',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$', examples: ['5f'.repeat(32)] },
  },
  Partner: {
    description: 'Slug of the partner that receives the event.',
    schema: { type: 'string', examples: ['acme'] },
  },
  Attempt: {
    description: 'Number of the attempt, counted from 1. The header may be absent.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
};

/** OpenAPI descriptions of the headers that Standard Webhooks adds to a delivery. */
const standardHeaders: readonly Json[] = [
  {
    name: 'webhook-id',
    description: 'Id of the event, as in the body: the same on every attempt.',
    schema: { type: 'string', examples: ['evt_5b1f0c9e7d3a4826b0e4c1d2f3a59687'] },
  },
  {
    name: 'webhook-timestamp',
    description: 'Time at which the attempt was signed, in Unix seconds.',
    schema: { type: 'integer', format: 'int64', examples: [1767268801] },
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of HMAC-SHA-256 of `webhook-id`, `webhook-timestamp` and the raw body with full stops between the three, as Standard Webhooks defines.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=$', examples: [`v1,${'5f'.repeat(21)}5=`] },
  },
];

/**
 * Converts an event type to a name for generated code: `order.shipped` to `OrderShipped`. Keeps underscores,
 * so that no two types get the same name.
 */
function nameOf(type: string): string {
  return type.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** OpenAPI tag of webhook deliveries. */
export const deliveriesTag = {
  name: 'Deliveries',
  description: 'Requests that your webhook endpoints receive.',
};

/**
 * Describes the webhook of each event type for the OpenAPI document. Schemas are inlined, because
 * oapi-codegen leaves out components to which only a webhook refers.
 */
export function webhooks(
  descriptions: readonly EventDescription[],
  components: Components,
  { prefix, isStandard }: { readonly prefix: string; readonly isStandard: boolean },
): Json {
  components.add(sentEvent, 'output');
  const envelope = components.schemas.SentEvent as { readonly properties: Readonly<Record<string, Json>> };
  const own = Object.entries(headers).map(([suffix, rest]) => ({
    name: `X-${prefix.toUpperCase()}-${suffix}`,
    in: 'header',
    // Optional, because receivers must not rely on the attempt's number.
    required: suffix !== 'Attempt',
    ...rest,
  }));
  const standard = standardHeaders.map((header) => ({ ...header, in: 'header', required: true }));
  const parameters = isStandard ? [...own, ...standard] : own;

  function delivery({ type, summary, when, schema: data, example }: EventDescription): Json {
    const schema = {
      ...envelope,
      description: summary,
      properties: {
        ...envelope.properties,
        type: { ...envelope.properties.type, enum: [type], examples: [type] },
        data: 'own' in data ? components.add(data.own, 'output') : hostSchema(data.host),
      },
    };
    const body = exampleOf(schema, components.schemas) as JsonObject;
    return {
      post: {
        operationId: `on${nameOf(type)}`,
        summary,
        description: when ?? summary,
        tags: [deliveriesTag.name],
        // Deliveries need no credentials: the receiver checks the signature.
        security: [],
        parameters,
        requestBody: {
          required: true,
          content: { 'application/json': { schema, example: { ...body, data: example } } },
        },
        responses: {
          '200': {
            description:
              'Any 2xx status within ten seconds means success. After any other result, the delivery is attempted again, until its last attempt has failed.',
          },
        },
      },
    };
  }

  return Object.fromEntries(descriptions.map((event) => [event.type, delivery(event)]));
}
