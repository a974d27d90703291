import { z } from 'zod';
import { currency, givenTime, kidField, kycStatus, kycTier, modeField, text, time } from '../fields.ts';
import { amountFormat, parseAmount } from '../payments/money.ts';
import { transferSchema, transferStatus } from '../transfer-schema.ts';

/** A public user id. Whoever asks for anything else asks for nobody. */
export const kid = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'has to be a user id')
  .meta({ description: 'Public id of a user.', examples: ['KID-TEST-APPROVED'] });

/** E.164, strictly: a plus, a country code, digits; nothing that only looks like one. */
export const phone = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, 'has to be a phone number in E.164, such as +50937000001')
  .meta({ description: 'Phone number in E.164.', examples: ['+50900000001'] });

/** A positive amount. */
export const amount = z
  .string()
  .regex(amountFormat, 'has to be a decimal string with two digits, such as "125.00"')
  .refine((text) => !amountFormat.test(text) || parseAmount(text) > 0n, 'has to be above zero')
  .meta({
    description: 'Decimal string with two digits, above zero. A JSON number is refused.',
    examples: ['125.00'],
  });

/** Text that people read; not empty. */
const line = (max: number, description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(max)
    .meta({ description, examples: [example] });

const referenceOf = (description: string) => line(100, description, 'order-1017');

/** Free data of the partner, given back as it came. */
const metadata = z
  .record(z.string().min(1).max(40), z.string().max(500))
  .refine((value) => Object.keys(value).length <= 20, 'takes 20 members at most')
  .meta({
    description: 'Up to 20 strings of the partner’s own, given back as they came.',
    examples: [{ till: '4' }],
  });

/** How many items a list gives at most, in a query. */
export const pageSize = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'has to be 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1).max(100, 'has to be 1 to 100'))
  .optional()
  .meta({ description: 'How many items to give at most.', examples: [50], default: 25 });

/** Where a list goes on, in a query. */
export const cursor = z
  .string()
  .min(1)
  .max(300)
  .optional()
  .meta({
    description: 'The `nextCursor` of the page before, with the same filters.',
    examples: ['MTc2NzI2ODgwMDAwMA'],
  });

/** Where a list goes on, in its answer. */
export const nextCursor = text(
  'Send it as `cursor` for the next page; `null` on the last one.',
  'MTc2NzI2ODgwMDAwMA',
).nullable();

/** A request to pay somebody. */
export const paymentBody = z
  .strictObject({
    amount,
    currency,
    recipient: z
      .union(
        [
          z.strictObject({ kid }).meta({ id: 'RecipientByKid', description: 'A user by public id.' }),
          z.strictObject({ phone }).meta({ id: 'RecipientByPhone', description: 'A user by phone number.' }),
        ],
        'has to be either { kid } or { phone }',
      )
      .meta({ description: 'Who is paid: a user by public id or by phone number.' }),
    description: line(140, 'For the recipient.', 'Rent of March').optional(),
    reference: referenceOf(
      'Your own name for it. It belongs to one transfer for ever, so that nothing is paid twice.',
    ).optional(),
    metadata: metadata.optional(),
  })
  .meta({ description: 'A request to pay somebody.' });

/** Which transfers to list. */
export const listQuery = z
  .strictObject({
    status: transferStatus.optional().meta({ description: 'Only transfers with this status.' }),
    reference: referenceOf('Only the transfer with this reference.').optional(),
    createdFrom: givenTime('Only transfers initiated then or later.', '2026-01-01T00:00:00.000Z').optional(),
    createdTo: givenTime('Only transfers initiated before.', '2026-01-02T00:00:00.000Z').optional(),
    limit: pageSize,
    cursor,
  })
  .refine(({ createdFrom = '', createdTo = '' }) => !(Date.parse(createdFrom) > Date.parse(createdTo)), {
    path: ['createdFrom'],
    error: 'is after createdTo',
  });

export const transferList = z
  .object({ data: z.array(transferSchema).meta({ description: 'Newest first.' }), nextCursor })
  .meta({ id: 'TransferList', description: 'A page of transfers.' });

export const transferPath = z.object({
  id: z
    .string()
    .regex(/^tr_[0-9a-f]{32}$/)
    .meta({ description: 'Id of the transfer.', examples: ['tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'] }),
});

/** What a passport looks like; nobody signed this one. */
const passportExample = 'eyJhbGciOiJFUzI1NiIsInR5cCI6InBhc3Nwb3J0K2p3dCJ9.eyJtb2RlIjoidGVzdCJ9.c2lnbmF0dXJl';

/** A passport to verify. */
export const verifyBody = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(4096)
      .meta({ description: 'The passport that the user shows.', examples: [passportExample] }),
  })
  .meta({ description: 'A passport to verify.' });

const role = text('What the user is to the service; the service names its roles.', 'member');
const country = text('ISO 3166-1 alpha-2.', 'HT');

export const verification = z
  .object({
    valid: z
      .literal(true)
      .meta({ description: 'Always true: what is not valid is an error.', examples: [true] }),
    user: z
      .object({ kid: kidField, role, country, kycStatus, kycTier })
      .meta({ id: 'VerifiedUser', description: 'Whose passport it is.' }),
    issuedAt: time('When the passport was issued.'),
    expiresAt: time('When the passport ends.', '2026-01-01T12:05:00.000Z'),
  })
  .meta({ id: 'Verification', description: 'A passport that is valid.' });

const onlyWithConsent = 'Only while the user’s consent with `kyc` is in the hands of a client of yours.';

export const userSchema = z
  .object({
    kid: kidField,
    handle: text('Short name that the user chose.', 'test-approved'),
    name: text('Full name.', 'Test Approved'),
    role,
    country,
    createdAt: time('When the user joined.', '2024-01-01T00:00:00.000Z'),
    kycStatus: kycStatus
      .optional()
      .meta({ description: `How the identity check stands. ${onlyWithConsent}` }),
    kycTier: kycTier
      .optional()
      .meta({ description: `How far the identity was checked, 0 to 3. ${onlyWithConsent}` }),
  })
  .meta({ id: 'User', description: 'A user.' });

const day = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: ['2026-01-01'], format: 'date' });

/** What to export. */
export const reconciliationQuery = z.strictObject({
  date: day('The day, UTC. Either this, or `from` and `to`.'),
  from: day('The first day, UTC.'),
  to: day('The last day, UTC, included; 31 days at most.'),
  format: z
    .enum(['json', 'ndjson', 'csv'])
    .default('json')
    .meta({
      description: 'The media type of the answer follows it; `Accept` does not matter.',
      examples: ['json'],
    }),
});

/** A passport for a user of the sandbox. */
export const sandboxPassportBody = z
  .strictObject({
    kid: kid.optional().meta({ description: 'A user of the sandbox. Without it the approved one.' }),
    expired: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether it is too old already.', examples: [false] }),
  })
  .meta({ description: 'A passport for a user of the sandbox.' });

export const sandboxPassport = z
  .object({
    token: text('What the user would show.', passportExample),
    kid: kidField,
    issuedAt: time('When it was issued.'),
    expiresAt: time('When it ends.', '2026-01-01T12:05:00.000Z'),
  })
  .meta({ id: 'SandboxPassport', description: 'A passport of the sandbox.' });

/** What a key is. */
export const whoamiSchema = z
  .object({
    partner: text('Slug of the partner.', 'acme'),
    mode: modeField,
    key: z
      .object({
        id: text('Id of the key.', 'key_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
        name: text('What the account manager called it.', 'Tills'),
        scopes: z
          .array(z.string())
          .meta({ description: 'What it may do.', examples: [['payments:read', 'payments:write']] }),
        requireSignature: z
          .boolean()
          .meta({ description: 'Whether requests with a body have to be signed.', examples: [false] }),
        expiresAt: time('When it ends; `null` without an end.')
          .nullable()
          .meta({ examples: [null] }),
      })
      .meta({ id: 'ApiKey', description: 'The key of the request.' }),
    address: text('From which address the request came, as the service sees it.', '203.0.113.7').nullable(),
  })
  .meta({ id: 'Whoami', description: 'Whose key it is.' });

const errorDetail = z
  .object({
    path: text('The field, parameter or header.', 'amount'),
    message: text('For people.', 'has to be above zero'),
  })
  .meta({ id: 'ErrorDetail', description: 'A field that is to blame.' });

export const errorSchema = z
  .object({
    code: text('Decide by this. Codes may be added.', 'invalid_request'),
    message: text('For people; may change.', 'The request is malformed.'),
    requestId: text('The header `X-Request-Id` once more.', '4b1d7f0e-8a53-4c39-9a56-0d2f6c1b7e21'),
    details: z.array(errorDetail).optional().meta({ description: 'Only where a field is to blame.' }),
  })
  .meta({ id: 'Error', description: 'Why a request failed.' });
