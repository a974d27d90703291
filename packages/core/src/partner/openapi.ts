import { z } from 'zod';
import type { Core } from '../context.ts';
import { partnerErrors } from '../errors.ts';
import type { PartnerRoute } from './request.ts';
import { errorSchema } from './schemas.ts';

type Json = { readonly [name: string]: unknown };

/** JSON Schema of what is sent or answered, with named schemas as components. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): Json {
  const generated = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    reused: 'inline',
    override({ jsonSchema: part }) {
      // Answers may gain members within a version.
      if (io === 'output' && part.additionalProperties === false) delete part.additionalProperties;
    },
  });
  const {
    $schema: _,
    $defs = {},
    ...own
  } = JSON.parse(JSON.stringify(generated).replaceAll('#/$defs/', '#/components/schemas/')) as Json & {
    $defs?: { readonly [name: string]: Json };
  };
  for (const [name, { id: _id, ...definition }] of Object.entries($defs)) components[name] = definition;
  const { id, ...rest } = own;
  if (typeof id !== 'string') return own;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

/** Parameters in the path or in the query, one by one. */
function parameters(
  schema: z.ZodType | undefined,
  place: 'path' | 'query',
  components: Record<string, unknown>,
): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input', components) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, definition]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: definition,
  }));
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** Errors by status: every code that a route can answer with. */
function errorResponses(route: PartnerRoute): Record<string, Json> {
  const applies: Record<keyof typeof partnerErrors, boolean> = {
    invalid_request: true,
    invalid_api_key: true,
    invalid_signature: true,
    insufficient_scope: route.scope !== null,
    ip_not_allowed: true,
    not_found: true,
    idempotency_conflict: route.idempotent,
    token_expired: route.operation === 'verifyPassport',
    rate_limit_exceeded: true,
    internal_error: true,
  };
  const byStatus = new Map<number, string[]>();
  for (const [code, { status }] of Object.entries(partnerErrors)) {
    if (applies[code as keyof typeof partnerErrors])
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const status of [405, 408, 413, 415]) byStatus.set(status, ['invalid_request']);
  byStatus.set(503, ['internal_error']);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: codes.join(', '), content: errorContent },
    ]),
  );
}

const rateLimitHeaders = Object.fromEntries(
  ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [
    name,
    { schema: { type: 'integer' } },
  ]),
);

function headerParameter(name: string, schema: Json): Json {
  return { name, in: 'header', required: false, schema };
}

function operation(route: PartnerRoute, prefix: string, components: Record<string, unknown>): Json {
  const wire = prefix.toUpperCase();
  const idempotencyKey = headerParameter('Idempotency-Key', { type: 'string', minLength: 1, maxLength: 255 });
  const signature = [
    headerParameter(`X-${wire}-Signature`, { type: 'string', pattern: '^[0-9a-f]{64}$' }),
    headerParameter(`X-${wire}-Timestamp`, { type: 'string', pattern: '^[0-9]{10,16}$' }),
  ];
  const answer = jsonSchema(route.success.schema, 'output', components);
  const texts = (route.success.texts ?? []).map((type) => [type, { schema: { type: 'string' } }] as const);
  return {
    operationId: route.operation,
    summary: route.summary,
    security: [{ apiKey: [] }],
    ...(route.scope === null ? {} : { 'x-scope': route.scope }),
    'x-limit-group': route.limit,
    parameters: [
      ...parameters(route.pathSchema, 'path', components),
      ...parameters(route.query, 'query', components),
      ...(route.idempotent ? [idempotencyKey] : []),
      ...(route.body === undefined ? [] : signature),
    ],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(route.body, 'input', components) } },
          },
        }),
    responses: {
      [route.success.status]: {
        description: 'Success',
        headers: rateLimitHeaders,
        content: { 'application/json': { schema: answer }, ...Object.fromEntries(texts) },
      },
      ...errorResponses(route),
    },
  };
}

/** The OpenAPI 3.1 description of the partner API, made of the schemas that validate. */
export function openApiDocument({ options }: Core, table: readonly PartnerRoute[]): Json {
  const components: Record<string, unknown> = {};
  jsonSchema(errorSchema, 'output', components);
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of table) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(route, options.prefix, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${options.theme.name} partner API`,
      version: '1',
      description:
        'Verify passports, initiate and inspect transfers, look users up, export reconciliation data.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.baseUrl.href.replace(/\/$/, '') }],
    paths,
    components: {
      schemas: components,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
  };
}
