import { z } from 'zod';
import type { EventDescription, HostEventSchema } from '../../events.ts';

/** A part of the document. */
export type Json = { readonly [name: string]: unknown };

/** What is sent, or what is answered. */
export type Direction = 'input' | 'output';

/** Keywords of JSON Schema that hold a schema, a list of schemas, and schemas by name. */
const one = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
]);
const several = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
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

/** Takes away what is true and trips generators. The checks stay as they are; only what is said about them is less. */
function plain(part: Json, direction: Direction): Json {
  const result: Record<string, unknown> = { ...(nullable(part) ?? part) };
  // Answers may gain members within a version.
  if (direction === 'output' && result.additionalProperties === false) delete result.additionalProperties;
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
  return result;
}

/** The same with all that is inside. @throws TypeError for a reference that leads elsewhere */
function adapted(schema: unknown, direction: Direction, nameOf: (definition: string) => string): unknown {
  if (!isObject(schema)) return schema;
  const inside = (part: unknown): unknown => adapted(part, direction, nameOf);
  const parts = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === '$ref') return [keyword, `#/components/schemas/${nameOf(String(value))}`];
    if (one.has(keyword)) return [keyword, inside(value)];
    if (several.has(keyword) && Array.isArray(value)) return [keyword, value.map(inside)];
    if (named.has(keyword) && isObject(value)) {
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inside(part)]))];
    }
    return [keyword, value];
  });
  return plain(Object.fromEntries(parts), direction);
}

/** The schemas of the document. Whatever has a name is one component, referred to from where it is used. */
export interface Components {
  /** By name. */
  readonly schemas: Readonly<Record<string, Json>>;
  /** @param name - for a schema that has no `id` of its own; without either it is written out where it is used */
  add(schema: z.ZodType, direction: Direction, name?: string): Json;
  /** Gives a name to a schema that was put together of others. */
  put(name: string, schema: Json): Json;
  /** What a type of event carries. */
  addEventData(event: EventDescription, name: string): Json;
}

const definitionOf = (reference: string): string => {
  const [, name] = /^#\/\$defs\/([\w.-]+)$/.exec(reference) ?? [];
  if (name === undefined) throw new TypeError(`the reference ${reference} leads out of its schema`);
  return name;
};

/** See {@link Components}. */
export function createComponents(): Components {
  const schemas: Record<string, Json> = {};

  const put: Components['put'] = (name, schema) => {
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };

  function addJson(
    { $schema: _, $defs = {}, ...own }: Json,
    direction: Direction,
    name: string | undefined,
    nameOf: (definition: string) => string,
  ): Json {
    const refer = (reference: string): string =>
      reference === '#' && name !== undefined ? name : nameOf(definitionOf(reference));
    const schema = adapted(own, direction, refer) as Json;
    const definitions = Object.entries($defs as Readonly<Record<string, Json>>).map(
      ([key, definition]) => [nameOf(key), adapted(definition, direction, refer)] as const,
    );
    // All or nothing: one of them may lead nowhere.
    for (const [key, definition] of definitions) put(key, definition as Json);
    // What has a name already needs no second one.
    return name === undefined || '$ref' in schema ? schema : put(name, schema);
  }

  const add: Components['add'] = (schema, direction, name) => {
    const generated = z.toJSONSchema(schema, { io: direction, target: 'draft-2020-12', reused: 'inline' });
    // Members that are undefined are none.
    return addJson(JSON.parse(JSON.stringify(generated)) as Json, direction, name, (key) => key);
  };

  /** What a host's library says about its schema; names in it are the host's, so they are put behind the event's. */
  function addHostData(schema: HostEventSchema, name: string): Json {
    try {
      const said = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
      if (said === undefined) return { type: 'object' };
      return addJson(JSON.parse(JSON.stringify(said)) as Json, 'output', name, (key) => `${name}_${key}`);
    } catch {
      // Not everything that can be checked can be described.
      return { type: 'object' };
    }
  }

  return {
    schemas,
    add,
    put,
    addEventData: ({ schema }, name) =>
      'own' in schema ? add(schema.own, 'output', name) : addHostData(schema.host, name),
  };
}
