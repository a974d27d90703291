/** Makes the reference page of the partner API from its OpenAPI document and its table of routes. */
import type { ConsoleRoute } from '@ostiary/core/console';
import { codeOf, type SampleCall } from './api-code.ts';

/** JSON Schema of a field, as far as the reference page shows it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly example: unknown;
}

type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly example?: unknown; readonly examples?: object }>
>;

interface Response {
  readonly description: string;
  readonly content: Content;
}

interface Reference {
  readonly $ref: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** OpenAPI document of the partner API. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

const nameIn = ({ $ref }: Reference): string => $ref.split('/').at(-1) ?? '';

/**
 * Returns a part of the OpenAPI document, or the component to which the part refers. @throws Error if the
 * component is missing
 */
function resolved<Part extends object>(
  part: Part | Reference,
  components: Readonly<Record<string, Part>>,
): Part {
  if (!('$ref' in part)) return part;
  const found = components[nameIn(part)];
  if (found === undefined) throw new Error(`the description lacks ${part.$ref}`);
  return found;
}

/**
 * Sample values for operations whose example in the OpenAPI document is no valid request, or lacks a
 * parameter.
 */
const samples: Readonly<Record<string, Partial<SampleCall>>> = {
  exportReconciliation: { query: { date: '2026-01-01' } },
  answerInboxRequest: { body: { httpStatus: 200, response: 'ok' } },
};

const code = (text: unknown): string => `\`${String(text)}\``;
/** Formats the type of a field. A type with a name becomes a link to its section of the page. */
function typeOf(schema: Schema): string {
  const { $ref, type, format, items } = schema;
  if ($ref !== undefined) {
    const name = nameIn({ $ref });
    return `[${name}](#${name.toLowerCase()}-object)`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map(code).join(' or ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const types = [type ?? 'any'].flat().join(' or ');
  return format === undefined ? types : `${types} (${format})`;
}

/** Describes a field: its text, its default and its bounds. */
function textOf({ description = '', ...schema }: Schema): string {
  const { minimum, maximum, minLength, maxLength } = schema;
  return [
    description,
    ...(schema.default === undefined ? [] : [`Default: ${code(JSON.stringify(schema.default))}.`]),
    ...(minimum === undefined || maximum === undefined ? [] : [`From ${minimum} to ${maximum}.`]),
    ...(maxLength === undefined ? [] : [`${minLength ?? 0} to ${maxLength} characters.`]),
  ].join(' ');
}

/**
 * Formats a field as a list item: its name, its type, whether it is required or may be missing, and its text.
 */
function item(name: string, schema: Schema, ...more: readonly string[]): string {
  const text = textOf(schema).replaceAll('\n', ' ');
  return `- ${code(name)} (${[typeOf(schema), ...more].join(', ')})${text === '' ? '' : `: ${text}`}`;
}

/** Lists the fields of an object. `required` or `optional` marks the fields that differ from most others. */
function fieldsOf({ properties = {}, required = [] }: Schema, mark: 'required' | 'optional'): string {
  const fields = Object.entries(properties).map(([name, schema]) =>
    item(name, schema, ...(required.includes(name) === (mark === 'required') ? [mark] : [])),
  );
  return fields.join('\n');
}

/** Lists parameters of paths, queries and headers. */
function parametersOf(parameters: readonly Parameter[]): string {
  const items = parameters.map(({ name, in: place, required, description, schema }) =>
    item(name, { ...schema, description }, place, ...(required ? ['required'] : [])),
  );
  return items.join('\n');
}

/** Lists the errors of an operation by HTTP status. */
function errorsOf(responses: readonly (readonly [status: string, Response])[]): string {
  const errors = responses.map(([status, { content }]) => {
    const codes = Object.keys(content['application/json']?.examples ?? {});
    return `${status} ${codes.map(code).join(', ')}`;
  });
  return `**Errors**: ${errors.join('; ')}. See [what they mean](partner-errors.md).`;
}

/** Returns the sample call of an operation, made from the examples of the OpenAPI document. */
function sampleOf({ operationId, requestBody }: Operation, parameters: readonly Parameter[]): SampleCall {
  const inPath = parameters.find(({ in: place }) => place === 'path');
  const inQuery = parameters.filter(({ in: place, required }) => place === 'query' && required);
  return {
    operation: operationId,
    id: inPath === undefined ? null : String(inPath.example),
    query: Object.fromEntries(inQuery.map(({ name, example }) => [name, String(example)])),
    body: requestBody?.content['application/json']?.example ?? null,
    ...samples[operationId],
  };
}

function operationSection({ components }: ApiDocument, route: ConsoleRoute, operation: Operation): string {
  const parameters = operation.parameters.map((part) => resolved(part, components.parameters));
  const responses = Object.entries(operation.responses).map(
    ([status, part]) => [status, resolved(part, components.responses)] as const,
  );
  const [[status, { description, content }] = ['', { description: '', content: {} }]] = responses;
  const { 'application/json': json, ...others } = content;
  const body = operation.requestBody?.content['application/json'];
  const also = Object.keys(others).map(code);
  return [
    `### ${operation.operationId}`,
    `${code(`${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`)}`,
    operation.description,
    codeOf(route, sampleOf(operation, parameters)),
    ...(parameters.length === 0 ? [] : [`**Parameters**\n\n${parametersOf(parameters)}`]),
    ...(body === undefined
      ? []
      : [`**Body**\n\n${fieldsOf(resolved(body.schema, components.schemas), 'required')}`]),
    `**Response ${status}**: ${json === undefined ? '' : typeOf(json.schema)}. ${description}${also.length === 0 ? '' : ` Other formats: ${also.join(', ')}.`}`,
    `\`\`\`json\n${JSON.stringify(json?.example, null, 2)}\n\`\`\``,
    errorsOf(responses.slice(1)),
    `<!-- try ${operation.operationId} -->`,
  ].join('\n\n');
}

/**
 * Returns the sections of the reference page: the operations by group, and the objects in their responses.
 * Generated clients use the names in the headings, too, so links to the headings stay valid.
 */
export function apiSections(document: ApiDocument, routes: readonly ConsoleRoute[]): string {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const groups = document.tags.flatMap(({ name, description }) => {
    const own = operations.filter(({ tags }) => tags.includes(name));
    if (own.length === 0) return [];
    const sections = own.map((operation) => {
      const route = routes.find((candidate) => candidate.operation === operation.operationId);
      if (route === undefined) throw new Error(`there is no route for ${operation.operationId}`);
      return operationSection(document, route, operation);
    });
    return [`## ${name}\n\n${description}`, ...sections];
  });
  const objects = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith('Request'))
    .map(
      ([name, schema]) => `### ${name} object\n\n${schema.description}\n\n${fieldsOf(schema, 'optional')}`,
    );
  return [...groups, '## Objects', ...objects].join('\n\n');
}
