import { z } from 'zod';
import type { JsonObject } from './ports/interactions.ts';
import { kidField, kycStatus, kycTier, text, time } from './schemas/fields.ts';
import { checkedNow, type SchemaIssue, type StandardSchema } from './schemas/standard-schema.ts';
import { transferSchema } from './schemas/transfer.ts';
import { inPlainWords } from './text/plain-words.ts';

/** Definition of a built-in event type. */
export interface EventDefinition {
  /** One-line description, for the generated documentation. */
  readonly summary: string;
  /** Situation in which the event is published, and its recipients. */
  readonly when: string;
  /** Schema of the member `data` in the event's body. */
  readonly schema: z.ZodType;
  /** Data of a sandbox event of this type if the caller gives no data. */
  readonly example: JsonObject;
}

const exampleTransfer = {
  id: 'tr_00000000000000000000000000000000',
  mode: 'test',
  amount: '125.00',
  currency: 'HTG',
  recipient: { kid: 'KID-TEST-APPROVED' },
  description: 'Sandbox event',
  reference: null,
  metadata: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:01.000Z',
} as const;

/**
 * Catalogue of built-in event types (specification, "Events"). To add a type, add an entry here and publish
 * it where the change happens: registrations accept it, the sandbox triggers it and the documentation lists
 * it.
 */
export const events = {
  'payment.completed': {
    summary: 'A transfer was completed.',
    when: 'Published in the transaction that makes the transfer final, to the partner that initiated the transfer. `data` is the transfer as the API shows it.',
    schema: transferSchema,
    example: {
      ...exampleTransfer,
      status: 'completed',
      failure: null,
      completedAt: '2026-01-01T12:00:01.000Z',
    },
  },
  'payment.failed': {
    summary: 'A transfer failed.',
    when: 'Published in the transaction that makes the transfer final, to the partner that initiated the transfer. `data` is the transfer as the API shows it; `failure` is the reason why the transfer failed.',
    schema: transferSchema,
    example: {
      ...exampleTransfer,
      status: 'failed',
      amount: '125.01',
      failure: { code: 'sandbox_failure', message: 'Amounts that end in .01 fail in the sandbox.' },
      completedAt: null,
    },
  },
  'kyc.updated': {
    summary: 'The identity check of a user changed.',
    when: 'Published when the status or tier of the identity check changes, to live partners with a client that holds the user’s consent with `kyc` at that moment, and to partners that the host names.',
    schema: z.object({
      kid: kidField,
      kycStatus,
      kycTier,
      previous: z
        .object({ kycStatus, kycTier })
        .meta({ description: 'Status and tier of the identity check before the change.' }),
      changedAt: time('Time at which the identity check changed.'),
    }),
    example: {
      kid: 'KID-TEST-APPROVED',
      kycStatus: 'approved',
      kycTier: 2,
      previous: { kycStatus: 'pending', kycTier: 1 },
      changedAt: '2026-01-01T12:00:00.000Z',
    },
  },
  'webhook.test': {
    summary: 'A test event.',
    when: 'Published only in the sandbox, on request.',
    schema: z.object({ message: text('Text of the test event.', 'The webhook works.').max(500) }),
    example: { message: 'The webhook works.' },
  },
} as const satisfies { readonly [type: string]: EventDefinition };

/** Name of an event type that Ostiary publishes itself. */
export type EventType = keyof typeof events;

/** Definition of an event type of the host application. */
export interface HostEventDefinition {
  /** One-line description, for the generated documentation. */
  readonly summary?: string;
  /**
   * Validates `data`: a schema of zod, valibot, arktype or any other library that implements Standard Schema.
   * Must be synchronous.
   */
  readonly schema: HostEventSchema;
  /** Data of a sandbox event of this type if the caller gives no data. It must match the schema. */
  readonly example: JsonObject;
}

/** A Standard Schema that may also convert itself to JSON Schema. */
export interface HostEventSchema {
  readonly '~standard': StandardSchema['~standard'] & {
    /**
     * Converts the schema to JSON Schema (Standard JSON Schema, version 1) for the OpenAPI description. If
     * left out, `data` is described as an object.
     */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => { readonly [name: string]: unknown };
    };
  };
}

/** A built-in or host event type, in the form that checks and documentation use. */
export interface EventDescription {
  readonly type: string;
  readonly summary: string;
  /** Situation in which the event is published; `null` for types of the host application. */
  readonly when: string | null;
  /** Schema of `data`: zod for built-in types, or the library that the host application uses. */
  readonly schema: { readonly own: z.ZodType } | { readonly host: HostEventSchema };
  readonly example: JsonObject;
  /** Validates a value and returns the result that Standard Schema defines. */
  readonly validate: (value: unknown) => unknown;
}

/** Thrown when event data does not fit the schema of its type. */
export class EventDataError extends Error {
  override readonly name = 'EventDataError';
  /** Path of the field with the wrong value, such as `data.kid`. */
  readonly path: string;
  readonly problem: string;

  constructor(type: string, path: string, problem: string) {
    super(`${type}: ${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/**
 * Matches values that an error text may repeat to their sender. Other values might be secrets that were sent
 * in the wrong field.
 */
const repeatable = /^([A-Za-z0-9_ -]{1,15}|(?=.{1,64}$)[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)+)$/;

/** Error text for an unknown event type. */
export function unknownType(given: unknown, known: readonly string[]): string {
  const name = typeof given === 'string' && repeatable.test(given) ? `${JSON.stringify(given)} ` : '';
  return `${name}is not an event type; known are ${known.join(', ')}`;
}

function pathOf({ path = [] }: SchemaIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return ['data', ...keys].join('.');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns event data in the form in which the receiver will read it: after a conversion to JSON and back.
 * @throws TypeError for data that JSON cannot represent, such as a circular reference or a bigint
 */
function asSent(type: string, data: unknown): unknown {
  try {
    // A value that JSON cannot represent, such as a function, becomes `undefined` here.
    const text: string | undefined = JSON.stringify(data);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw new TypeError(`${type}: data: cannot be written as JSON`, { cause: error });
  }
}

/**
 * Runs a check of an event type's example and names the type if it fails. The cause has the message of the
 * host application's schema library. @throws TypeError
 */
function requireFittingExample(check: () => void, type: string): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof EventDataError)) throw error;
    const path = error.path.replace('data', 'example');
    throw new TypeError(`events.${type}.${path}: is not what the schema takes`, { cause: error });
  }
}

function builtInDescription([type, { schema, ...rest }]: [string, EventDefinition]): EventDescription {
  return {
    type,
    ...rest,
    schema: { own: schema },
    validate: (value) => ({ issues: schema.safeParse(value, inPlainWords).error?.issues }),
  };
}

function hostType([type, definition]: [string, HostEventDefinition]): EventDescription {
  const { summary = `The event ${type}.`, schema, example } = definition;
  if (Object.hasOwn(events, type)) throw new TypeError(`events: ${type} is one of Ostiary's own types`);
  const validate = (value: unknown) => schema['~standard'].validate(value);
  return { type, summary, when: null, schema: { host: schema }, example, validate };
}

export type Catalogue = ReturnType<typeof createCatalogue>;

/**
 * Combines built-in and host event types. Data is checked in the form that receivers will read: a value that
 * JSON changes, such as a `Date`, is checked as what it becomes.
 * @throws TypeError if a host type has the name of a built-in one, or its example does not fit its schema
 */
export function createCatalogue(hostEvents: { readonly [type: string]: HostEventDefinition }) {
  const hostTypes = Object.entries(hostEvents).map(hostType);
  const descriptions = [...Object.entries<EventDefinition>(events).map(builtInDescription), ...hostTypes];
  const types = descriptions.map(({ type }) => type);
  const typeOf = (name: string): EventDescription => {
    const found = descriptions.find(({ type }) => type === name);
    if (found === undefined) throw new TypeError(unknownType(name, types));
    return found;
  };
  const catalogue = {
    /** Names of all event types, built-in types first. */
    types,
    /** Descriptions of all event types, in the order of `types`. */
    descriptions,
    has: (type: string): boolean => types.includes(type),
    example: (type: string): JsonObject => typeOf(type).example,
    /**
     * Checks the data of an event and returns it as it will be published. @throws EventDataError if it does
     * not match the schema of its type
     */
    check(type: string, data: unknown): JsonObject {
      const { validate } = typeOf(type);
      const sent = asSent(type, data);
      if (!isObject(sent)) throw new EventDataError(type, 'data', 'has to be an object');
      const { issues } = checkedNow(validate, sent, `events: ${type}`);
      if (issues === undefined) return sent;
      const issue = issues[0] ?? { message: 'does not fit the schema' };
      throw new EventDataError(type, pathOf(issue), issue.message);
    },
  };
  for (const { type, example } of hostTypes)
    requireFittingExample(() => catalogue.check(type, example), type);
  return catalogue;
}
