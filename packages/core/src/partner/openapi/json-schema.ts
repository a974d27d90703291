import { z } from 'zod';
import type { HostEventSchema } from '../../events.ts';

/** A JSON object in the OpenAPI document. */
export type Json = { readonly [name: string]: unknown };

/** Use of a schema in the OpenAPI document: `input` for requests, `output` for responses. */
export type Direction = 'input' | 'output';

/**
 * Keywords of JSON Schema by their content: `data` lists those that hold data, `named` those that hold
 * schemas by name. All other keywords hold a schema or a list of schemas.
 */
const data = new Set(['examples', 'default', 'enum', 'const']);
const named = new Set(['properties', 'patternProperties', 'dependentSchemas']);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Rewrites `anyOf` with `null` as one schema with two types, which all code generators understand; `null` if
 * the schema has another form.
 */
function nullable({ anyOf, ...rest }: Json): Json | null {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return null;
  const other: unknown = anyOf.find((part) => isObject(part) && part.type !== 'null');
  if (!isObject(other) || typeof other.type !== 'string' || !anyOf.some((part) => part.type === 'null'))
    return null;
  if ('enum' in other || 'const' in other) return null;
  return { ...other, ...rest, type: [other.type, 'null'] };
}

/**
 * Bounds that zod adds for safe integers. The API has no such limits, so the OpenAPI document leaves them
 * out.
 */
const countable = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

/** Largest integer in generated clients, unless its format says otherwise. */
const maxInt32 = 2 ** 31 - 1;

/**
 * Simplifies a schema for client generators: leaves out true statements that they handle wrongly. The
 * validation itself does not change.
 */
function plain(part: Json, direction: Direction): Json {
  const result: Record<string, unknown> = { ...(nullable(part) ?? part) };
  // Responses may gain members within a version. Say so explicitly, because clients of openapi-generator
  // refuse unknown members otherwise.
  if (direction === 'output' && result.properties !== undefined) result.additionalProperties = true;
  // Generated clients would match the pattern against the date into which they converted the text.
  if (result.format !== undefined) delete result.pattern;
  // Describe tuples as lists: some generators lack tuples, and none enforces their length.
  if (Array.isArray(result.prefixItems)) {
    result.items = { anyOf: result.prefixItems };
    delete result.prefixItems;
  }
  // Generated clients support constants as text only.
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

/** Simplifies a schema and all schemas inside it. `follow` returns the schema that replaces a reference. */
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

/** JSON Schema that a validation library generated. */
interface Generated {
  readonly schema: Json;
  readonly definitions: Readonly<Record<string, Json>>;
}

function generatedBy(made: unknown): Generated {
  // The JSON round trip drops undefined members.
  const { $schema: _, $defs = {}, ...schema } = JSON.parse(JSON.stringify(made)) as Json;
  return { schema, definitions: $defs as Generated['definitions'] };
}

const definition = '#/$defs/';

export type Components = ReturnType<typeof createComponents>;

/**
 * Creates the collector of the OpenAPI document's schemas. Each named schema becomes one component, with
 * references from its uses.
 */
export function createComponents() {
  const schemas: Record<string, Json> = {};
  const refer = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
  const follow = (reference: string): Json => refer(reference.slice(definition.length));
  return {
    /** Collected JSON schemas, by their component name in the OpenAPI document. */
    schemas: schemas as Readonly<typeof schemas>,
    /**
     * Adds a schema to the OpenAPI components and returns a reference to it. @param name - component name for
     * a schema without an `id`; a schema with neither is inlined
     */
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
 * Returns the JSON Schema of a host application's event type, inlined, because oapi-codegen leaves out
 * components to which only a webhook refers. If the host's library cannot describe the schema, the result
 * accepts any object.
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
        // Describe a schema that contains itself only once.
        return part === undefined || above.includes(reference)
          ? {}
          : adapted(part, 'output', within([...above, reference]));
      };
    return adapted(whole, 'output', within([]));
  } catch {
    // Libraries throw if a check cannot be expressed in JSON Schema.
    return { type: 'object' };
  }
}
