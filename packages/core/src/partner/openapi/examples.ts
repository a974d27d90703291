import type { Json } from './json-schema.ts';

/**
 * Builds an example of a body from the examples of its fields. Each field's example stands beside its check,
 * so that no example is written twice.
 *
 * @returns the example; `undefined` for a schema without one
 */
export function exampleOf(schema: Json, schemas: Readonly<Record<string, Json>>): unknown {
  const part = schema as {
    readonly examples?: readonly unknown[];
    readonly $ref?: string;
    readonly oneOf?: readonly Json[];
    readonly properties?: Readonly<Record<string, Json>>;
    readonly items?: Json;
  };
  if (part.examples !== undefined) return part.examples[0];
  if (part.$ref !== undefined) return exampleOf(schemas[part.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if (part.oneOf !== undefined) return exampleOf(part.oneOf[0] ?? {}, schemas);
  if (part.items !== undefined) return [exampleOf(part.items, schemas)];
  if (part.properties === undefined) return undefined;
  const members = Object.entries(part.properties).map(([name, member]) => [name, exampleOf(member, schemas)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
