import { z } from 'zod';
import type { Currency } from '../ports/transfers.ts';

/**
 * Fields that several schemas of the partner API share. Name and description of a field stand beside its
 * check, and the OpenAPI description is made of them. Enumerations have no `id`: openapi-generator turns
 * those that have one into Go constants named after their values alone, and `pending` is a value of several.
 */

/** A field, with what it is. */
export const field = <Schema extends z.ZodType>(schema: Schema, description: string, example: unknown) =>
  schema.meta({ description, examples: [example] });

/** Gives a schema a name in the description. */
export const component = <Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description });

/** A request body; other members are refused. */
export const requestBody = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).meta({ description });

/** Text, with what it is. */
export const text = (description: string, example: string) => field(z.string(), description, example);

/** A moment, as the API writes it. */
export const time = (description: string, example = '2026-01-01T12:00:00.000Z') =>
  field(z.iso.datetime(), `${description} ISO 8601, UTC.`, example);

/** Explains why text is no moment. The `+` of an offset arrives as a space where it was not encoded for a query. */
function wrongTime({ code, input }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_format') return undefined;
  if (/T\S* \d\d:\d\d$/.test(String(input))) return 'has a space for the + of its offset: write %2B in a URL';
  return 'has to be a time such as 2026-01-31T12:00:00Z or 2026-01-31T07:00:00-05:00';
}

/** A moment, as the API reads it. Clients generated for Python write `+00:00` and not `Z`. */
export const givenTime = (description: string, example: string) =>
  field(
    z.iso.datetime({ offset: true, error: wrongTime }),
    `${description} ISO 8601, with \`Z\` or an offset.`,
    example,
  );

/** A public user id, as answers show it. */
export const kidField = text('Public id of the user.', 'KID-TEST-APPROVED');

export const modeField = field(
  z.enum(['live', 'test']),
  '`test` moves no money and sees no real user.',
  'test',
);

export const kycStatus = field(
  z.enum(['approved', 'pending', 'rejected']),
  'How the identity check stands.',
  'approved',
);

export const kycTier = field(z.int().min(0).max(3), 'How far the identity was checked, 0 to 3.', 2);

export const amountField = text('Decimal string with two digits.', '125.00');

const currencyNames = ['HTG', 'USD'] as const satisfies readonly Currency[];

export const currency = field(z.enum(currencyNames), 'ISO 4217.', 'HTG');
