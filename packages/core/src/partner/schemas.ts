import { z } from 'zod';
import { amountFormat, currencies, parseAmount } from '../payments/money.ts';
import type { Currency } from '../ports/transfers.ts';
import { transferSchema } from '../transfer-schema.ts';

const currencyNames = Object.keys(currencies) as [Currency, ...Currency[]];

/** A public user id. Whoever asks for anything else asks for nobody. */
export const kid = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'has to be a user id')
  .meta({ description: 'Public id of a user.' });

/** E.164, strictly: a plus, a country code, digits; nothing that only looks like one. */
export const phone = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, 'has to be a phone number in E.164, such as +50937000001')
  .meta({ description: 'Phone number in E.164.' });

/** A positive amount. */
export const amount = z
  .string()
  .regex(amountFormat, 'has to be a decimal string with two digits, such as "125.00"')
  .refine((text) => !amountFormat.test(text) || parseAmount(text) > 0n, 'has to be above zero')
  .meta({ description: 'Decimal string with two digits.' });

export const currency = z.enum(currencyNames);

/** Text that people read; not empty. */
const line = (max: number) => z.string().min(1).max(max);

/** Free data of the partner, given back as it came. */
const metadata = z
  .record(z.string().min(1).max(40), z.string().max(500))
  .refine((value) => Object.keys(value).length <= 20, 'takes 20 members at most')
  .meta({ description: 'Up to 20 strings of the partner’s own.' });

const iso = z.iso.datetime();

/** A request to pay somebody. */
export const paymentBody = z.strictObject({
  amount,
  currency,
  recipient: z.union(
    [z.strictObject({ kid }), z.strictObject({ phone })],
    'has to be either { kid } or { phone }',
  ),
  description: line(140).optional(),
  reference: line(100).optional(),
  metadata: metadata.optional(),
});

/** Which transfers to list. */
export const listQuery = z
  .strictObject({
    status: z.enum(['pending', 'completed', 'failed']).optional(),
    reference: line(100).optional(),
    createdFrom: iso.optional(),
    createdTo: iso.optional(),
    limit: z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/, 'has to be 1 to 100')
      .transform(Number)
      .refine((size) => size <= 100, 'has to be 1 to 100')
      .optional(),
    cursor: z.string().min(1).max(300).optional(),
  })
  .refine(({ createdFrom = '', createdTo = '' }) => !(Date.parse(createdFrom) > Date.parse(createdTo)), {
    path: ['createdFrom'],
    error: 'is after createdTo',
  });

export const transferList = z
  .object({ data: z.array(transferSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'TransferList' });

export const transferPath = z.object({ id: z.string().regex(/^tr_[0-9a-f]{32}$/) });

/** A passport to verify. */
export const verifyBody = z.strictObject({ token: z.string().min(1).max(4096) });

const kycStatus = z.enum(['approved', 'pending', 'rejected']);

export const verification = z
  .object({
    valid: z.literal(true),
    user: z.object({
      kid: z.string(),
      role: z.string(),
      country: z.string(),
      kycStatus,
      kycTier: z.int().min(0).max(3),
    }),
    issuedAt: iso,
    expiresAt: iso,
  })
  .meta({ id: 'Verification' });

export const userSchema = z
  .object({
    kid: z.string(),
    handle: z.string(),
    name: z.string(),
    role: z.string(),
    country: z.string(),
    createdAt: iso,
    kycStatus: kycStatus.optional(),
    kycTier: z.int().min(0).max(3).optional(),
  })
  .meta({ id: 'User' });

/** What to export. */
export const reconciliationQuery = z.strictObject({
  date: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  format: z.enum(['json', 'ndjson', 'csv']).default('json'),
});

/** A passport for a user of the sandbox. */
export const sandboxPassportBody = z.strictObject({
  kid: kid.optional(),
  expired: z.boolean().default(false),
});

export const sandboxPassport = z
  .object({ token: z.string(), kid: z.string(), issuedAt: iso, expiresAt: iso })
  .meta({ id: 'SandboxPassport' });

/** What a key is. */
export const whoamiSchema = z
  .object({
    partner: z.string(),
    mode: z.enum(['live', 'test']),
    key: z.object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.string()),
      requireSignature: z.boolean(),
      expiresAt: iso.nullable(),
    }),
    address: z.string().nullable(),
  })
  .meta({ id: 'Whoami' });

export const errorSchema = z
  .object({
    code: z.string(),
    message: z.string(),
    requestId: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Error' });
