import { z } from 'zod';
import type { Currency } from './ports/transfers.ts';

/**
 * Fields that several schemas of the partner API share. What a field is and how it looks stands beside its check: the
 * OpenAPI description is made of it. Enumerations have no `id`: openapi-generator makes constants of Go out of those
 * that have, called after their values alone, and `pending` is a value of several.
 */

export const text = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] });

/** A moment, as the API writes it. */
export const time = (description: string, example = '2026-01-01T12:00:00.000Z') =>
  z.iso.datetime().meta({ description: `${description} ISO 8601, UTC.`, examples: [example] });

/** A moment, as the API reads it. Clients generated for Python write `+00:00` and not `Z`. */
export const givenTime = (description: string, example: string) =>
  z.iso.datetime({ offset: true }).meta({
    description: `${description} ISO 8601, with \`Z\` or an offset.`,
    examples: [example],
  });

/** A public user id, as answers show it. */
export const kidField = text('Public id of the user.', 'KID-TEST-APPROVED');

export const modeField = z
  .enum(['live', 'test'])
  .meta({ description: '`test` moves no money and sees no real user.', examples: ['test'] });

export const kycStatus = z
  .enum(['approved', 'pending', 'rejected'])
  .meta({ description: 'How the identity check stands.', examples: ['approved'] });

export const kycTier = z
  .int()
  .min(0)
  .max(3)
  .meta({ description: 'How far the identity was checked, 0 to 3.', examples: [2] });

export const amountField = text('Decimal string with two digits.', '125.00');

const currencyNames = ['HTG', 'USD'] as const satisfies readonly Currency[];

export const currency = z.enum(currencyNames).meta({ description: 'ISO 4217.', examples: ['HTG'] });
