import { z } from 'zod';
import { amountSchema } from '../ledger/money.ts';

const text = z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters');

/** Makes the schema of a whole number from 0 to `most`. */
const upTo = (most: number) => {
  const words = `must be a whole number from 0 to ${most}`;
  return z.int(words).min(0, words).max(most, words);
};

/** Schema of a user's handle. Only ASCII, so that handles that look the same are the same. */
const handleSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,28}[A-Za-z0-9])?$/,
    'must be 1 to 30 letters, digits, dots, hyphens and underscores',
  );

/** Schema of a phone number (E.164). */
const phoneSchema = z.string().regex(/^\+[1-9][0-9]{6,14}$/, 'must be a number such as +50937001122 (E.164)');

/** Schema of the e-mail address to which notices for a user are sent. */
export const emailSchema = z
  .email('must be an e-mail address such as anaika@example.com')
  .max(254, 'must be an e-mail address of at most 254 characters');

/** Schema of a new password. Only its length is restricted (NIST SP 800-63B, section 3.1.1.2). */
export const passwordSchema = z
  .string()
  .min(10, 'must have at least 10 characters')
  .max(256, 'must have at most 256 characters');

/** Schema of the input for a new user. */
export const newUserSchema = z.strictObject({
  handle: handleSchema,
  password: passwordSchema,
  name: text,
  phone: phoneSchema,
  email: emailSchema.nullable().default(null),
  role: text.default('member'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a country code such as HT (ISO 3166-1)')
    .default('HT'),
  avatarUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2048, 'must have at most 2048 characters')
    .nullable()
    .default(null),
  kycStatus: z
    .enum(['approved', 'pending', 'rejected'], 'must be approved, pending or rejected')
    .default('pending'),
  kycTier: upTo(3).default(0),
  htgBalance: amountSchema.default(0n),
  usdBalance: amountSchema.default(0n),
  trustScore: upTo(100).default(0),
  trustTier: text.default('new'),
  credentials: z
    .array(
      z.strictObject({
        type: text,
        issuedAt: z.date(),
        expiresAt: z.date().nullable().default(null),
      }),
    )
    .default([]),
});

/** Input for a new user. */
export type NewUser = z.input<typeof newUserSchema>;
