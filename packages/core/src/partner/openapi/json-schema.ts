import { z } from 'zod';
import type { HostEventSchema } from '../../events.ts';

/** A part of the document. */
export type Json = { readonly [name: string]: unknown };

/** Direction of a schema: sent, or returned. */
export type Direction = 'input' | 'output';

/** Keywords of JSON Schema that hold data, and those that hold schemas by name; others hold a schema or a list of them. */
const data = new Set(['examples', 'default', 'enum', 'const']);
const named = new Set(['properties', 'patternProperties', 'dependentSchemas']);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `X or null` as one schema with two types, which is how every generator knows it. */
function nullable({ anyOf, ...rest }: Json): Json | null {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return null;
  const other: unknown = anyOf.find((part) => isObject(part) && part.type !== 'null');
  if (!isObject(other) || typeof other.type !== 'string' || !anyOf.some((part) => part.type === 'null'))
    return null;
  if ('enum' in other || 'const' in other) return null;
  return { ...other, ...rest, type: [other.type, 'null'] };
}

/** Bounds of what JavaScript can count: no rule of the API. */
const countable = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

/** Limit of a number in generated clients, unless its format says otherwise. */
const maxInt32 = 2 ** 31 - 1;

/** Takes away what is true and trips generators. The checks stay as they are; only what is said about them is less. */
function plain(part: Json, direction: Direction): Json {
  const result: Record<string, unknown> = { ...(nullable(part) ?? part) };
  // Answers may gain members within a version. Said in so many words: clients of openapi-generator would refuse them.
  if (direction === 'output' && result.properties !== undefined) result.additionalProperties = true;
  // Generated clients match the pattern against the date that they have made of the text.
  if (result.format !== undefined) delete result.pattern;
  // Not every generator knows tuples, and none that nothing may follow them.
  if (Array.isArray(result.prefixItems)) {
    result.items = { anyOf: result.prefixItems };
    delete result.prefixItems;
  }
  // Generated clients know constants as text only.
  if (typeof result.const === 'boolean') delete result.const;
  if (result.type === 'number') result.format ??= 'double';
  if (result.minimum === countable.minimum) delete result.minimum;
  if (result.maximum === countable.maximum) {
    delete result.maximum;
    result.format ??= 'int64';
  }
  if (result.type === 'integer' && Number(result.maximum) > maxInt32) result.format ??= 'int64';
  return result;
}

/** The same with all that is inside. `follow` says what stands in the place of a reference. */
function adapted(schema: Json, direction: Direction, follow: (reference: string) => Json): Json {
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside);
    return isObject(part) ? adapted(part, direction, follow) : part;
  };
  const { $ref, ...own } = schema;
  const parts = Object.entries(own).map(([keyword, value]): [string, unknown] => {
    if (data.has(keyword)) return [keyword, value];
    if (!named.has(keyword) || !isObject(value)) return [keyword, inside(value)];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inside(part)]))];
  });
  const adapt = plain(Object.fromEntries(parts), direction);
  return $ref === undefined ? adapt : { ...follow(String($ref)), ...adapt };
}

/** Result of a library for a schema. */
interface Generated {
  readonly schema: Json;
  readonly definitions: Readonly<Record<string, Json>>;
}

function generatedBy(made: unknown): Generated {
  // Drop undefined members.
  const { $schema: _, $defs = {}, ...schema } = JSON.parse(JSON.stringify(made)) as Json;
  return { schema, definitions: $defs as Generated['definitions'] };
}

const definition = '#/$defs/';

export type Components = ReturnType<typeof createComponents>;

/** The schemas of the document. Each named schema is one component, with references from its uses. */
export function createComponents() {
  const schemas: Record<string, Json> = {};
  const refer = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
  const follow = (reference: string): Json => refer(reference.slice(definition.length));
  return {
    /** By name. */
    schemas: schemas as Readonly<typeof schemas>,
    /** @param name - for a schema that has no `id` of its own; without either it is written out where it is used */
    add(added: z.ZodType, direction: Direction, name?: string): Json {
      const { schema, definitions } = generatedBy(
        z.toJSONSchema(added, { io: direction, target: 'draft-2020-12', reused: 'inline' }),
      );
      for (const [id, part] of Object.entries(definitions)) schemas[id] = adapted(part, direction, follow);
      const part = adapted(schema, direction, follow);
      if (name === undefined) return part;
      schemas[name] = part;
      return refer(name);
    },
  };
}

/**
 * Returns a host's schema, written out, because oapi-codegen leaves out components to which only a webhook
 * refers. Parts that the library does not describe, or describes in another way, may be anything.
 */
export function hostSchema(schema: HostEventSchema): Json {
  try {
    const said = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
    if (said === undefined) return { type: 'object' };
    const { schema: whole, definitions } = generatedBy(said);
    const within =
      (above: readonly string[]) =>
      (reference: string): Json => {
        const part = definitions[reference.slice(definition.length)];
        // Describe a schema that contains itself once.
        return part === undefined || above.includes(reference)
          ? {}
          : adapted(part, 'output', within([...above, reference]));
      };
    return adapted(whole, 'output', within([]));
  } catch {
    // Not everything that can be checked can be described.
    return { type: 'object' };
  }
}
