import { z } from 'zod';
import type { Currency } from '../ports/transfers.ts';

/**
 * Fields that several schemas of the partner API share. Name, description and check of a field stand
 * together, and the OpenAPI description is generated from them. Enumerations have no `id`: openapi-generator
 * turns named ones into Go constants that are named after their values alone, and several enumerations
 * contain `pending`.
 */

/** Adds a description and an example to the schema of an API field. */
export const field = <Schema extends z.ZodType>(schema: Schema, description: string, example: unknown) =>
  schema.meta({ description, examples: [example] });

/** Creates an object schema with a name in the OpenAPI description. */
export const component = <Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description });

/** Creates the schema of a request body. The schema refuses unknown members. */
export const requestBody = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).meta({ description });

/** Creates a schema for a text field with a description and an example. */
export const text = (description: string, example: string) => field(z.string(), description, example);

/** Creates a schema for a point in time in responses: ISO 8601 in UTC. */
export const time = (description: string, example = '2026-01-01T12:00:00.000Z') =>
  field(z.iso.datetime(), `${description} ISO 8601, UTC.`, example);

/**
 * Returns the error text for a text that is no valid time. The `+` of an offset arrives as a space if a query
 * did not encode it.
 */
function wrongTime({ code, input }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_format') return undefined;
  if (/T\S* \d\d:\d\d$/.test(String(input))) return 'has a space for the + of its offset: write %2B in a URL';
  return 'has to be a time such as 2026-01-31T12:00:00Z or 2026-01-31T07:00:00-05:00';
}

/**
 * Creates a schema for a point in time in requests. It accepts an offset, because clients generated for
 * Python write `+00:00` and not `Z`.
 */
export const givenTime = (description: string, example: string) =>
  field(
    z.iso.datetime({ offset: true, error: wrongTime }),
    `${description} ISO 8601, with \`Z\` or an offset.`,
    example,
  );

/** Schema of a public user id in responses. */
export const kidField = text('Public id of the user.', 'KID-TEST-APPROVED');

export const modeField = field(
  z.enum(['live', 'test']),
  'Mode of the data. `test` moves no money and has no real users.',
  'test',
);

export const kycStatus = field(
  z.enum(['approved', 'pending', 'rejected']),
  'Status of the identity check.',
  'approved',
);

export const kycTier = field(z.int().min(0).max(3), 'Level of the identity check, 0 to 3.', 2);

export const amountField = text('Amount: a decimal string with two digits.', '125.00');

const currencyNames = ['HTG', 'USD'] as const satisfies readonly Currency[];

export const currency = field(z.enum(currencyNames), 'Currency, an ISO 4217 code.', 'HTG');
