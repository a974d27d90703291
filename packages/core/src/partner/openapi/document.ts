import type { z } from 'zod';
import type { Core } from '../../options/context.ts';
import { apiKeyHeader } from '../../secrets/api-key-format.ts';
import type { LimitOptions } from '../pipeline/limit.ts';
import { type PartnerRoute, partnerTags } from '../request.ts';
import { errorSchema } from '../schemas.ts';
import { exampleOf } from './examples.ts';
import { type Components, createComponents, type Json } from './json-schema.ts';
import { errorComponents, errorResponses, headerComponents, successHeaders } from './responses.ts';
import { deliveriesTag, webhooks } from './webhooks.ts';

const about = `Verify passports, initiate and inspect transfers, look up users, export final transfers, and receive events.

Every request carries an API key. Programs should decide by the \`code\` of an error; the text of an error may change.
Within a version, members, event types and optional parameters may be added: ignore members and types that you do not know.`;

/**
 * Describes path or query parameters one by one in the OpenAPI document, with the type to which their text is
 * parsed.
 */
function parameters(schema: z.ZodType | undefined, place: 'path' | 'query', components: Components): Json[] {
  if (schema === undefined) return [];
  const { properties = {} } = components.add(schema, 'output') as {
    readonly properties?: Record<string, Json>;
  };
  const { required = [] } = components.add(schema, 'input') as { readonly required?: readonly string[] };
  return Object.entries(properties).map(([name, { description, examples, ...definition }]) => ({
    name,
    in: place,
    description,
    required: required.includes(name),
    schema: definition,
    example: Array.isArray(examples) ? examples[0] : undefined,
  }));
}

/** Returns the OpenAPI components of request headers. */
function headerParameters(): Json {
  return {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Key of the operation: a new value for each operation, and the same value if the request is repeated. However often a request with the same key is sent within 24 hours, the operation takes effect only once. Printable ASCII.',
      // Describe the bare form without outer spaces, which servers strip (RFC 9110, section 5.5), and without
      // quotation marks, which this service strips.
      schema: { type: 'string', pattern: '^[!#-~]([ -~]{0,253}[!-~])?$', minLength: 1, maxLength: 255 },
      example: '5f0c3d2e-order-1017',
    },
  };
}

/**
 * Describes in the OpenAPI document how a request authenticates. The signature is an alternative, so that
 * tools which cannot sign send none.
 */
function securitySchemes(prefix: string): Json {
  const wire = prefix.toUpperCase();
  return {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: apiKeyHeader,
      description: `Live keys begin with \`${prefix}_live_\`, test keys with \`${prefix}_test_\`.`,
    },
    requestSignature: {
      type: 'apiKey',
      in: 'header',
      name: `X-${wire}-Signature`,
      description:
        'Lower-case hexadecimal HMAC-SHA-256 of the body under the signing secret of the key. Some keys require it.',
    },
    requestTimestamp: {
      type: 'apiKey',
      in: 'header',
      name: `X-${wire}-Timestamp`,
      description:
        'Time at which the request was signed, in milliseconds since the Unix epoch. Required with the signature.',
    },
  };
}

const withKey: Json = { apiKey: [] };
const signed: Json = { ...withKey, requestSignature: [], requestTimestamp: [] };

const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Returns explanations about a route for its OpenAPI description, in addition to its fields. */
function explanation(
  { summary, scope, limit, idempotent, testOnly }: PartnerRoute,
  { limits }: LimitOptions,
): string {
  const { requests, windowSeconds } = limits[limit];
  return [
    summary,
    scope === null ? 'Any API key may call the operation.' : `Requires the scope \`${scope}\`.`,
    ...(testOnly === true ? ['Requires a test key; with a live key the response is a 404.'] : []),
    `At most ${requests} requests in ${windowSeconds} seconds, counted together with the other operations of the limit group \`${limit}\`.`,
    ...(idempotent ? ['With an `Idempotency-Key`, a repeated request takes effect once.'] : []),
  ].join(' ');
}

/** Examples of exports in formats other than JSON, with their beginning and end. */
const textExamples: { readonly [type: string]: string } = {
  'text/csv':
    'id,reference,status,amount,currency,recipientKid,description,failureCode,createdAt,completedAt,updatedAt\r\n…\r\n#summary,"{""rows"":1,…}"\r\n',
  'application/x-ndjson': '{"id":"tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687",…}\n{"summary":{"rows":1,…}}\n',
};

function operation(route: PartnerRoute, limits: LimitOptions, components: Components): Json {
  const bodyOf = (schema: Json): Json => ({
    'application/json': { schema, example: exampleOf(schema, components.schemas) },
  });
  const { success } = route;
  const texts = (success.texts ?? []).map((type) => [
    type,
    { schema: { type: 'string' }, example: textExamples[type] },
  ]);
  return {
    operationId: route.operation,
    summary: route.summary,
    description: explanation(route, limits),
    tags: [route.tag],
    ...(route.scope === null ? {} : { 'x-scope': route.scope }),
    'x-limit-group': route.limit,
    parameters: [
      ...parameters(route.pathSchema, 'path', components),
      ...parameters(route.query, 'query', components),
      ...(route.idempotent ? [parameter('IdempotencyKey')] : []),
    ],
    ...(route.body === undefined
      ? {}
      : {
          security: [withKey, signed],
          requestBody: {
            required: route.bodyIsOptional !== true,
            content: bodyOf(components.add(route.body, 'input', `${capitalized(route.operation)}Request`)),
          },
        }),
    responses: {
      [success.status]: {
        description: success.schema.description,
        headers: successHeaders(route),
        content: {
          ...bodyOf(components.add(success.schema, 'output')),
          ...Object.fromEntries(texts),
        },
      },
      ...errorResponses(route),
    },
  };
}

/** Creates the OpenAPI 3.1 description of the partner API from the schemas that also validate requests. */
export function openApiDocument(
  { options: { baseUrl, prefix, theme, events, webhooks: delivery } }: Core,
  table: readonly PartnerRoute[],
  limits: LimitOptions,
): Json {
  const components = createComponents();
  components.add(errorSchema, 'output');
  const paths: Record<string, Json> = {};
  for (const route of table) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, limits, components) };
  }
  const site = baseUrl.href.replace(/\/$/, '');
  return {
    openapi: '3.1.0',
    info: {
      title: `${theme.name} partner API`,
      version: '1',
      description: about,
      contact: { name: theme.name, url: site },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: site }],
    security: [withKey],
    tags: [
      ...Object.entries(partnerTags).map(([name, description]) => ({ name, description })),
      deliveriesTag,
    ],
    paths,
    webhooks: webhooks(events.descriptions, components, {
      prefix,
      isStandard: delivery.standardHeaders,
    }),
    components: {
      schemas: components.schemas,
      responses: errorComponents,
      parameters: headerParameters(),
      headers: headerComponents,
      securitySchemes: securitySchemes(prefix),
    },
  };
}
