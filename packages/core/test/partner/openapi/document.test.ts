import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../../src/index.ts';
import { descriptionOf, type Media, operationsOf, type Schema } from '../../support/openapi.ts';
import { partnerProvider } from '../../support/partner-api.ts';

const shipped = {
  summary: 'An order was shipped.',
  schema: z.object({
    orderId: z.string().meta({ description: 'Which one.', examples: ['o-1'] }),
    at: z.iso.datetime(),
    parcel: z.tuple([z.string(), z.int()]),
    gift: z.literal(true).optional(),
  }),
  example: { orderId: 'o-1', at: '2026-01-01T00:00:00Z', parcel: ['p-1', 2] },
};

const { provider } = await partnerProvider({
  partnerLimits: { verify: { requests: 7, windowSeconds: 30 } },
  events: { 'order.shipped': shipped },
});
const description = await descriptionOf(provider);
const { text } = await provider.request('/v1/openapi.json');

/**
 * Yields every schema of the OpenAPI document with its location. Named schemas are visited where they are
 * defined.
 */
function* schemasIn(part: unknown, where: string): Generator<readonly [string, Schema]> {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, one] of Object.entries(part)) {
    const here = `${where}/${name}`;
    if (name === 'schema') yield* within(one as Schema, here);
    else if (name !== 'example' && name !== 'examples') yield* schemasIn(one, here);
  }
}

function* within(schema: Schema, where: string): Generator<readonly [string, Schema]> {
  yield [where, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* within(member, `${where}.${name}`);
  for (const part of [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    if (part !== undefined) yield* within(part, `${where}[]`);
}

const everySchema = () => [
  ...schemasIn({ paths: description.paths, webhooks: description.webhooks }, ''),
  ...Object.entries(description.components.schemas ?? {}).flatMap(([name, schema]) => [
    ...within(schema, name),
  ]),
];

/** Lists the bodies that the OpenAPI document describes: of requests, responses and webhook deliveries. */
const everyBody = (): (readonly [string, Media])[] => {
  const operations = [
    ...operationsOf(description).map(({ operation }) => operation),
    ...Object.values(description.webhooks).map(({ post }) => post),
  ];
  return operations.flatMap(({ operationId, requestBody, responses }) => [
    ...Object.values(requestBody?.content ?? {}).map((media) => [operationId, media] as const),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, media]) => [`${operationId} ${status} ${type}`, media] as const),
    ),
  ]);
};

describe('the description', () => {
  // Linters in the lab check the examples against the schemas.
  it('has an example of every body', () => {
    const bodies = everyBody();
    expect(bodies.length).toBeGreaterThan(150);
    for (const [where, { example, examples = {} }] of bodies)
      expect(example ?? Object.values(examples)[0]?.value, where).toBeDefined();
  });

  it('explains every member, with an example', () => {
    const named = description.components.schemas ?? {};
    const own = Object.entries(named).flatMap(([name, schema]) => [...within(schema, name)]);
    for (const [where, schema] of own) {
      const target = schema.$ref === undefined ? schema : named[schema.$ref.split('/').at(-1) ?? ''];
      const isList = where.endsWith('[]');
      if (!isList) expect(target?.description, where).toMatch(/^\S.*\.$/s);
      const isWhole = ['properties', 'items', 'anyOf', 'oneOf'].some(
        (keyword) => target?.[keyword] !== undefined,
      );
      if (!isList && !isWhole) expect(target?.examples, where).toHaveLength(1);
    }
  });

  it('has nothing in it that generators trip over', () => {
    for (const [where, schema] of everySchema()) {
      expect(schema, where).not.toHaveProperty('prefixItems');
      expect(schema.items, where).not.toBe(false);
      expect(typeof schema.const, where).not.toBe('boolean');
      if (schema.format !== undefined) expect(schema, where).not.toHaveProperty('pattern');
      // Unions with null use a list of types, unless the type has a name.
      for (const part of schema.anyOf ?? [])
        if (part.type === 'null') expect(schema.anyOf?.[0], where).toHaveProperty('$ref');
      if (schema.format !== 'int64')
        expect(Math.abs(Number(schema.maximum ?? 0)), where).toBeLessThan(2 ** 31);
    }
    expect(text).not.toContain('$defs');
  });

  it('has no two components whose names are one name in Go: ogen makes types of schemas and schemes alike', () => {
    const { schemas = {}, securitySchemes = {} } = description.components;
    const names = [...Object.keys(schemas), ...Object.keys(securitySchemes)].map((name) =>
      name.toLowerCase(),
    );
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  });

  it('says of alternatives that one of them applies: ogen leaves out operations with anyOf', () => {
    expect(JSON.stringify(description.paths)).not.toContain('"anyOf":[{"$ref"');
    const { CreatePaymentRequest } = description.components.schemas ?? {};
    expect(CreatePaymentRequest?.properties?.recipient?.oneOf).toHaveLength(2);
  });

  it('signs nothing unless the caller does: the signature is another security requirement', () => {
    for (const { operation } of operationsOf(description)) {
      const { operationId, parameters, requestBody, security } = operation;
      expect(parameters.map(({ name }) => name).join(), operationId).not.toMatch(/signature|timestamp/i);
      const both = [{ apiKey: [] }, { apiKey: [], requestSignature: [], requestTimestamp: [] }];
      expect([operationId, security]).toEqual([operationId, requestBody === undefined ? undefined : both]);
    }
  });

  it('has examples of lists that end, and a cursor that the list takes', async () => {
    const { schemas = {} } = description.components;
    for (const name of ['TransferList', 'DeliveryList'])
      expect([name, schemas[name]?.properties?.nextCursor?.examples]).toEqual([name, [null]]);
    const list = operationsOf(description).find(({ operation }) => operation.operationId === 'listPayments');
    const cursor = list?.operation.parameters.find(({ name }) => name === 'cursor')?.example;
    const key = await provider.key();
    const answer = await provider.partnerCall(key, `GET /v1/partner/payments?cursor=${cursor}`);
    expect(answer.status, answer.text).toBe(200);
  });

  it('has examples of a period that go together, as tools send all of them', async () => {
    const found = operationsOf(description).find(({ path }) => path.endsWith('/reconciliation'));
    const examples = (found?.operation.parameters ?? []).map(({ name, example }) => [name, String(example)]);
    const key = await provider.key();
    const target = `GET ${found?.path}?${new URLSearchParams(examples)}`;
    const answer = await provider.partnerCall(key, target);
    expect([target, answer.status]).toEqual([
      expect.stringContaining('date=2026-01-01&from=2026-01-01'),
      200,
    ]);
  });

  it('names no enumeration: its values would be constants of Go, and collide', () => {
    for (const [name, schema] of Object.entries(description.components.schemas ?? {}))
      expect(schema, name).not.toHaveProperty('enum');
  });

  it('has no component that only webhooks refer to: oapi-codegen would leave it out', () => {
    const { schemas = {} } = description.components;
    const reached = new Set<string>();
    const visit = (part: unknown): void => {
      for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (reached.has(name)) continue;
        reached.add(name);
        visit(schemas[name]);
      }
    };
    visit(description.paths);
    expect([...reached].sort()).toEqual(Object.keys(schemas).sort());
  });

  it('lets every answer gain members, and no request', () => {
    const { schemas = {} } = description.components;
    const open = (name: string) => schemas[name]?.additionalProperties;
    for (const name of Object.keys(schemas))
      expect([name, open(name)]).toEqual([name, !/Request$|^RecipientBy/.test(name)]);
  });

  it('has open lists of event types in responses, and the types of this service in requests', () => {
    const { Event, SentEvent, Delivery, WebhookEndpoint, CreateWebhookRequest, UpdateWebhookRequest } =
      description.components.schemas ?? {};
    expect(Event?.properties?.type).not.toHaveProperty('enum');
    expect(SentEvent?.properties?.type).not.toHaveProperty('enum');
    expect(Delivery?.properties?.eventType).not.toHaveProperty('enum');
    expect(WebhookEndpoint?.properties?.events?.items).toEqual({ type: 'string' });
    const names = ['*', ...Object.keys(events), 'order.shipped'];
    for (const request of [CreateWebhookRequest, UpdateWebhookRequest])
      expect(request?.properties?.events?.items).toEqual({ type: 'string', enum: names });
  });

  it('says what parameters are, and not that an address is text', () => {
    const operations = operationsOf(description).map(({ operation }) => operation);
    const query = operations.flatMap(({ operationId, parameters }) =>
      parameters.map(({ name, schema }) => [`${operationId}.${name}`, [schema.type, schema.format]]),
    );
    expect(Object.fromEntries(query)).toMatchObject({
      'listPayments.limit': ['integer', undefined],
      'listPayments.createdFrom': ['string', 'date-time'],
      'listEvents.after': ['integer', 'int64'],
      'exportReconciliation.date': ['string', 'date'],
    });
    for (const { operationId, parameters } of operations) {
      for (const { name, example, description: words, ...rest } of parameters) {
        const where = `${operationId}.${name}`;
        expect(words, where).toMatch(/^\S.*\.$/s);
        expect(example, where).toBeDefined();
        expect(rest.required, where).toBe(rest.in === 'path' || where === 'findUser.kid');
      }
    }
  });

  it('gives every operation a described group, and a description for its callers', () => {
    const groups = new Map(description.tags.map((tag) => [tag.name, tag.description]));
    for (const { operation } of operationsOf(description)) {
      expect(operation.tags).toHaveLength(1);
      expect(groups.get(operation.tags[0] ?? ''), operation.operationId).toMatch(/\.$/);
      const scope = operation['x-scope'];
      expect(operation.description).toContain(scope === undefined ? 'Any API key' : `the scope \`${scope}\``);
    }
    const verify = operationsOf(description).find(({ path }) => path.endsWith('/verify'));
    expect(verify?.operation.description).toContain('At most 7 requests in 30 seconds');
  });
});
