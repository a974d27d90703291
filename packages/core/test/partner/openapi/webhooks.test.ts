import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events as builtInEvents, type HostEventSchema } from '../../../src/index.ts';
import { descriptionOf, type Schema, validatorOf } from '../../support/openapi.ts';
import type { Json } from '../../support/provider.ts';
import { sink } from '../../webhooks/support/sink.ts';
import { shop } from '../webhook-shop.ts';

/** Makes a Standard Schema object as a library other than zod would. */
function standard(jsonSchema?: () => Json): HostEventSchema {
  const props = { version: 1, vendor: 'by-hand', validate: (value: unknown) => ({ value }) } as const;
  return { '~standard': jsonSchema === undefined ? props : { ...props, jsonSchema: { input: jsonSchema } } };
}

const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});

const line = z.object({ sku: z.string() }).meta({ id: 'Transfer' });

const describedLine = {
  type: 'object',
  properties: { sku: { type: 'string' } },
  required: ['sku'],
  additionalProperties: true,
};

/** A host application's event types, with the description of their data. */
const types: Record<
  string,
  { schema: HostEventSchema; example: Json; described: unknown; summary?: string }
> = {
  'order.shipped': {
    summary: 'An order was shipped.',
    // The data is delivered as it was published, before the schema transforms it.
    schema: z.object({ at: z.string().transform(Number), first: line, second: line.optional() }),
    example: { at: '7', first: { sku: 'a' } },
    described: {
      type: 'object',
      properties: { at: { type: 'string' }, first: describedLine, second: describedLine },
      required: ['at', 'first'],
      additionalProperties: true,
    },
  },
  'tree.grown': {
    schema: z.object({ root: node }),
    example: { root: { name: 'a', children: [] } },
    described: expect.objectContaining({ properties: { root: expect.objectContaining({ type: 'object' }) } }),
  },
  'loyalty.points_changed': { schema: standard(), example: { points: 1 }, described: { type: 'object' } },
  'loyalty.points.changed': {
    schema: standard(() => ({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        points: { $ref: '#/$defs/points', description: 'How many.' },
        outside: { $ref: 'https://x.example/' },
      },
      $defs: { points: { type: 'integer', minimum: 0 } },
    })),
    example: { points: 1 },
    described: {
      type: 'object',
      properties: { points: { type: 'integer', minimum: 0, description: 'How many.' }, outside: {} },
      additionalProperties: true,
    },
  },
  'stock.counted': {
    schema: standard(() => {
      throw new Error('this cannot be described');
    }),
    example: { left: 3 },
    described: { type: 'object' },
  },
};

const events = Object.fromEntries(
  Object.entries(types).map(([type, { described: _, ...definition }]) => [type, definition]),
);

const { provider, key, register, call, work } = await shop({ events, prefix: 'acme' });
const description = await descriptionOf(provider);

const bodyOf = (type: string) => {
  const media = description.webhooks[type]?.post.requestBody?.content['application/json'];
  if (media === undefined) throw new Error(`${type} has no body`);
  return media;
};

describe('the webhooks of the description', () => {
  it('are every type of event, and what is delivered is what is described, headers too', async () => {
    const hook = await sink(() => provider.clock.now());
    const names = [...Object.keys(builtInEvents), ...Object.keys(types)];
    await register(hook.url, { events: names });
    expect(Object.keys(description.webhooks)).toEqual(names);
    const valid = validatorOf(description);
    for (const type of names) {
      await call('POST /v1/partner/sandbox/events', { type });
      while ((await work()) > 0);
      const delivery = hook.received.pop();
      const { post } = description.webhooks[type] ?? {};
      const body = JSON.parse(String(delivery?.body)) as Json;
      expect([body.type, delivery?.headers['content-type']]).toEqual([type, 'application/json']);
      const told = { event: type, eventid: body.id, partner: key.partner, attempt: '1' };
      for (const [name, value] of Object.entries(told))
        expect(delivery?.headers[`x-acme-${name}`]).toBe(value);
      expect(valid(bodyOf(type).schema, body), type).toEqual([]);
      // The description applies to this event type only.
      expect(valid(bodyOf(type).schema, { ...body, type: 'other' })).not.toEqual([]);
      expect(post?.parameters.map(({ name }) => name.toLowerCase())).toEqual(
        Object.keys(delivery?.headers ?? {}).filter((name) => name.startsWith('x-')),
      );
      for (const { name, schema, required } of post?.parameters ?? []) {
        const value = delivery?.headers[name.toLowerCase()];
        expect(valid(schema, schema.type === 'integer' ? Number(value) : value), name).toEqual([]);
        expect(required).toBe(name !== 'X-ACME-Attempt');
      }
      expect(valid(bodyOf(type).schema, bodyOf(type).example), type).toEqual([]);
    }
  });

  it('describe the host’s own types by their schemas, of any library', async () => {
    for (const [type, { described, example, summary }] of Object.entries(types)) {
      const { schema, example: whole } = bodyOf(type);
      expect((schema as { properties: Record<string, Schema> }).properties.data, type).toEqual(described);
      expect((whole as Json).data, type).toEqual(example);
      expect(description.webhooks[type]?.post.summary).toBe(summary ?? `The event ${type}.`);
    }
    // Names of the host do not override Ostiary's.
    expect(description.components.schemas?.Transfer?.properties).toHaveProperty('amount');
  });

  it('have unique names, also for similar types', async () => {
    const names = Object.values(description.webhooks).map(({ post }) => post.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('onPaymentCompleted');
  });
});
