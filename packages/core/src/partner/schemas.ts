import { z } from 'zod';
import { amountFormat, positiveAmount } from '../payments/money.ts';
import {
  component,
  currency,
  field,
  givenTime,
  kidField,
  kycStatus,
  kycTier,
  modeField,
  requestBody,
  text,
  time,
} from '../schemas/fields.ts';
import { transferSchema, transferStatus } from '../schemas/transfer.ts';
import { userIdFormat, userIdWords } from '../scopes/user-ids.ts';
import { writePlace } from '../text/list-pages.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';

/** Schema of a public user id. Text in another format cannot be the id of a user. */
export const kid = field(
  z.string().regex(userIdFormat, userIdWords),
  'Public id of a user.',
  'KID-TEST-APPROVED',
);

/** Schema of a phone number in strict E.164: a plus sign, a country code and ASCII digits. */
export const phone = field(
  z.string().regex(/^\+[1-9][0-9]{6,14}$/, 'has to be a phone number in E.164, such as +50937000001'),
  'Phone number in E.164.',
  '+50900000001',
);

/** Schema of a positive amount. */
const amount = field(
  z.string().regex(positiveAmount, {
    error: ({ input }) =>
      amountFormat.test(String(input))
        ? 'has to be above zero'
        : 'has to be a decimal string with two digits, such as "125.00"',
  }),
  'Amount: a decimal string with two digits, above zero. A JSON number is refused.',
  '125.00',
);

/** Creates a schema for a non-empty text that people read, which may have several lines. */
const prose = (max: number, description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(max)
    .meta({ description, examples: [example] });

const referenceOf = (description: string) => prose(100, description, 'order-1017');

/** Schema of `metadata`: the partner's own data on a transfer, which is returned unchanged. */
const metadata = field(
  z
    .record(
      z
        .string()
        .min(1)
        .max(40)
        .refine((name) => !isReservedName(name), reservedWords),
      z.string().max(500),
    )
    .refine((value) => Object.keys(value).length <= 20, 'takes 20 members at most')
    .meta({ maxProperties: 20 }),
  'Up to 20 strings of your own, returned unchanged with the transfer.',
  { till: '4' },
);

/** Schema of the query parameter for the maximum number of items of a list. */
export const pageSize = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'has to be 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1).max(100, 'has to be 1 to 100'))
  .optional()
  .meta({ description: 'Maximum number of items on the page.', examples: [50], default: 25 });

/** Example of a cursor for a list of transfers. */
const cursorExample = Buffer.from(
  writePlace({ time: Date.parse('2026-01-01T12:00:00.000Z'), id: 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687' }),
).toString('base64url');

/** Schema of the query parameter for the position where a list continues. */
export const cursor = field(
  z.string().min(1).max(300).optional(),
  'Value of `nextCursor` from the previous page, which was requested with the same filters.',
  cursorExample,
);

/**
 * Query parameters of a list that is sorted by time, newest first unless `order` is `oldest`, and read in
 * both directions; in addition to `limit` and `cursor`.
 */
export const bothDirections = { before: cursor, order: z.enum(['newest', 'oldest']).optional() };

/**
 * Schema of the response field for the position where a list continues. The example is that of a last page,
 * so that a client which follows a mock server's pages comes to an end.
 */
export const nextCursor = field(
  z.string().nullable(),
  'Value of `cursor` for the request of the next page; `null` on the last page.',
  null,
);

export const paymentBody = requestBody('A request to pay a user.', {
  amount,
  currency,
  recipient: z
    .xor(
      [
        z.strictObject({ kid }).meta({ id: 'RecipientByKid', description: 'A user by public id.' }),
        z.strictObject({ phone }).meta({ id: 'RecipientByPhone', description: 'A user by phone number.' }),
      ],
      'has to be either { kid } or { phone }',
    )
    .meta({ description: 'Recipient of the payment: a user by public id or by phone number.' }),
  description: prose(140, 'Text for the recipient.', 'Rent of March').optional(),
  reference: referenceOf(
    'Your own name for the transfer. A reference belongs to one transfer for ever, so that no payment is made twice. In test mode, the reference of a removed transfer can be used again.',
  ).optional(),
  metadata: metadata.optional(),
});

export const listQuery = z
  .strictObject({
    status: transferStatus.optional().meta({ description: 'Only transfers with this status.' }),
    reference: referenceOf('Only the transfer with this reference.').optional(),
    createdFrom: givenTime(
      'Only transfers that were initiated at this time or later.',
      '2026-01-01T00:00:00.000Z',
    ).optional(),
    createdTo: givenTime(
      'Only transfers that were initiated before this time.',
      '2026-01-02T00:00:00.000Z',
    ).optional(),
    limit: pageSize,
    cursor,
  })
  .refine(({ createdFrom = '', createdTo = '' }) => !(Date.parse(createdFrom) > Date.parse(createdTo)), {
    path: ['createdFrom'],
    error: 'is after createdTo',
  });

export const transferList = component('TransferList', 'A page of transfers.', {
  data: z.array(transferSchema).meta({ description: 'Transfers, the newest first.' }),
  nextCursor,
});

export const transferPath = z.object({
  id: field(
    z.string().regex(/^tr_[0-9a-f]{32}$/),
    'Id of the transfer.',
    'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687',
  ),
});

/** Example of a passport, without a valid signature. */
const passportExample = 'eyJhbGciOiJIUzI1NiIsInR5cCI6InBhc3Nwb3J0K2p3dCJ9.eyJtb2RlIjoidGVzdCJ9.c2lnbmF0dXJl';

export const verifyBody = requestBody('A passport to verify.', {
  token: field(z.string().min(1).max(4096), 'The passport that the user shows.', passportExample),
});

const whereKnown = 'Missing if the service does not know the value.';
const role = text(
  `Role of the user at the service, which defines the names of its roles. ${whereKnown}`,
  'member',
);
const country = text(`Country of the user, an ISO 3166-1 alpha-2 code. ${whereKnown}`, 'HT');

export const verification = component('Verification', 'A valid passport.', {
  valid: field(z.literal(true), 'Always true: an invalid passport gets an error response.', true),
  user: component('VerifiedUser', 'The user who owns the passport.', {
    kid: kidField,
    role: role.optional(),
    country: country.optional(),
    kycStatus: kycStatus.optional().meta({ description: `Status of the identity check. ${whereKnown}` }),
    kycTier: kycTier.optional().meta({ description: `Level of the identity check, 0 to 3. ${whereKnown}` }),
  }),
  issuedAt: time('Time at which the passport was issued.'),
  expiresAt: time('Time at which the passport expires.', '2026-01-01T12:05:00.000Z'),
});

const onlyWithConsent = `In live mode, present only while one of your clients holds the user’s consent with \`kyc\`. ${whereKnown}`;

export const userSchema = component('User', 'A user.', {
  kid: kidField,
  handle: text(`Public short name of the user at the service. ${whereKnown}`, 'test-approved').optional(),
  name: text(`Full name. ${whereKnown}`, 'Test Approved').optional(),
  role: role.optional(),
  country: country.optional(),
  createdAt: time(`Time at which the user joined. ${whereKnown}`, '2024-01-01T00:00:00.000Z').optional(),
  kycStatus: kycStatus.optional().meta({ description: `Status of the identity check. ${onlyWithConsent}` }),
  kycTier: kycTier
    .optional()
    .meta({ description: `Level of the identity check, 0 to 3. ${onlyWithConsent}` }),
});

const day = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: ['2026-01-01'], format: 'date' });

export const reconciliationQuery = z.strictObject({
  date: day(
    'Day of the export, UTC. Send either `date`, or `from` and `to`; all three only if they are the same day.',
  ),
  from: day('First day of the export, UTC; not in the future.'),
  to: day('Last day of the export, UTC, included. An export has at most 31 days.'),
  format: field(
    z.enum(['json', 'ndjson', 'csv']).default('json'),
    'Format of the export, which sets the media type of the response. The header `Accept` is ignored.',
    'json',
  ),
});

export const sandboxPassportBody = requestBody('A passport for a user of the sandbox.', {
  kid: kid
    .optional()
    .meta({ description: 'Public id of a user of the sandbox. If missing, the approved user.' }),
  expired: field(z.boolean().default(false), 'True if the passport is to be expired already.', false),
});

export const sandboxPassport = component('SandboxPassport', 'A passport of the sandbox.', {
  token: text('Passport, as a user would show it.', passportExample),
  kid: kidField,
  issuedAt: time('Time at which the passport was issued.'),
  expiresAt: time('Time at which the passport expires.', '2026-01-01T12:05:00.000Z'),
});

export const whoamiSchema = component('Whoami', 'Partner, API key and IP address of the request.', {
  partner: text('Slug of the partner.', 'acme'),
  mode: modeField,
  key: component('WhoamiKey', 'The API key of the request.', {
    id: text('Id of the API key.', 'key_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
    name: text('Name that the account manager gave the API key.', 'Tills'),
    scopes: field(z.array(z.string()), 'Scopes of the API key.', ['payments:read', 'payments:write']),
    requireSignature: field(z.boolean(), 'True if requests with a body must be signed.', false),
    expiresAt: time('Time at which the API key expires; `null` if the key does not expire.')
      .nullable()
      .meta({ examples: [null] }),
  }),
  address: text(
    'IP address of the client, as the service sees it; `null` if unknown.',
    '203.0.113.7',
  ).nullable(),
});

const errorDetail = component('ErrorDetail', 'A field, parameter or header that caused the error.', {
  path: text('Path of the field, or name of the parameter or header.', 'amount'),
  message: text('Problem with the value, as text for people.', 'has to be above zero'),
});

export const errorSchema = component('Error', 'Error response of a failed request.', {
  code: text('Code of the error, for decisions of programs. Codes may be added.', 'invalid_request'),
  message: text('Text of the error for people, which may change.', 'The request is malformed.'),
  requestId: text(
    'Id of the request, as in the header `X-Request-Id`.',
    '4b1d7f0e-8a53-4c39-9a56-0d2f6c1b7e21',
  ),
  details: z.array(errorDetail).optional().meta({
    description:
      'Fields, parameters or headers that caused the error; missing if the error has no such cause.',
  }),
});
