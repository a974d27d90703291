import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from './browser.ts';
import type { TestProvider } from './provider.ts';

/** Members of an OpenAPI schema that tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly 'x-scope'?: string;
  readonly 'x-limit-group'?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

/** Description of the partner API in which all references are resolved, except those to schemas. */
export interface Description {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

/** Resolves references in the API description, except those to schemas. */
function followed(part: unknown, document: Record<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((one) => followed(one, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref } = part as { readonly $ref?: unknown };
  if (typeof $ref === 'string' && !$ref.startsWith('#/components/schemas/')) {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
    if (target === undefined) throw new Error(`${$ref} leads nowhere`);
    return followed(target, document);
  }
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, followed(one, document)]));
}

/** Returns a provider's description of its partner API. */
export async function descriptionOf(provider: TestProvider): Promise<Description> {
  const document = (await provider.request('/v1/openapi.json')).json();
  return followed(document, document) as Description;
}

/** Lists all operations of the API description with their paths and methods. */
export function operationsOf({ paths }: Pick<Description, 'paths'>) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/**
 * Cache of validators by the components to which schemas refer: making a validator takes as long as a hundred
 * requests.
 */
const validators = new WeakMap<object, (schema: Schema, value: unknown) => string[]>();

function newValidator(components: Description['components']) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const compiled = new Map<string, ValidateFunction>();
  return (schema: Schema, value: unknown): string[] => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile({ ...schema, components });
    compiled.set(text, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}

/** Makes a JSON Schema validator, which returns problems as texts. */
export function validatorOf({ components }: Pick<Description, 'components'>) {
  const validator = validators.get(components) ?? newValidator(components);
  validators.set(components, validator);
  return validator;
}

/** Validates a response against its operation's description of its status; returns the problems as text. */
export function misdescribed(description: Description, operation: Operation, answer: Answer): string[] {
  const response = operation.responses[answer.status];
  if (response === undefined) return [`${operation.operationId} does not answer ${answer.status}`];
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const media = response.content?.[type];
  if (media === undefined) return [`${operation.operationId} ${answer.status} is no ${type}`];
  const valid = validatorOf(description);
  const sent = [...answer.headers].filter(([name]) =>
    /^(x-r|retry-after|idempotent|content-disp)/.test(name),
  );
  const known = new Map(
    Object.entries(response.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
  );
  return [
    ...sent.flatMap(([name, value]) => {
      const schema = known.get(name)?.schema as Schema | undefined;
      if (schema === undefined) return [`the header ${name} is not described`];
      return valid(schema, schema.type === 'integer' ? Number(value) : value).map((text) => `${name}${text}`);
    }),
    ...valid(media.schema, type === 'application/json' ? answer.json() : answer.text),
  ];
}
