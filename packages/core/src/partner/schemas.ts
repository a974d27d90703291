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
  'Decimal string with two digits, above zero. A JSON number is refused.',
  '125.00',
);

/** Creates a schema for a non-empty line of text that people read. */
const line = (max: number, description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(max)
    .meta({ description, examples: [example] });

const referenceOf = (description: string) => line(100, description, 'order-1017');

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
  'Up to 20 strings of the partner’s own, given back as they came.',
  { till: '4' },
);

/** Schema of the query parameter for the maximum number of items of a list. */
export const pageSize = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'has to be 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1).max(100, 'has to be 1 to 100'))
  .optional()
  .meta({ description: 'How many items to give at most.', examples: [50], default: 25 });

/** Example of a cursor for a list of transfers. */
const cursorExample = Buffer.from(
  writePlace({ time: Date.parse('2026-01-01T12:00:00.000Z'), id: 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687' }),
).toString('base64url');

/** Schema of the query parameter for the position where a list continues. */
export const cursor = field(
  z.string().min(1).max(300).optional(),
  'The `nextCursor` of the page before, with the same filters.',
  cursorExample,
);

/**
 * Schema of the response field for the position where a list continues. The example is that of a last page,
 * so that a client which follows a mock server's pages comes to an end.
 */
export const nextCursor = field(
  z.string().nullable(),
  'Send it as `cursor` for the next page; `null` on the last one.',
  null,
);

export const paymentBody = requestBody('A request to pay somebody.', {
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
    .meta({ description: 'Who is paid: a user by public id or by phone number.' }),
  description: line(140, 'For the recipient.', 'Rent of March').optional(),
  reference: referenceOf(
    'Your own name for it. It belongs to one transfer for ever, so that nothing is paid twice.',
  ).optional(),
  metadata: metadata.optional(),
});

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

export const transferList = component('TransferList', 'A page of transfers.', {
  data: z.array(transferSchema).meta({ description: 'Newest first.' }),
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
const passportExample = 'eyJhbGciOiJFUzI1NiIsInR5cCI6InBhc3Nwb3J0K2p3dCJ9.eyJtb2RlIjoidGVzdCJ9.c2lnbmF0dXJl';

export const verifyBody = requestBody('A passport to verify.', {
  token: field(z.string().min(1).max(4096), 'The passport that the user shows.', passportExample),
});

const whereKnown = 'Missing where the service does not know it.';
const role = text(`What the user is to the service; the service names its roles. ${whereKnown}`, 'member');
const country = text(`ISO 3166-1 alpha-2. ${whereKnown}`, 'HT');

export const verification = component('Verification', 'A passport that is valid.', {
  valid: field(z.literal(true), 'Always true: what is not valid is an error.', true),
  user: component('VerifiedUser', 'Whose passport it is.', {
    kid: kidField,
    role: role.optional(),
    country: country.optional(),
    kycStatus: kycStatus.optional().meta({ description: `How the identity check stands. ${whereKnown}` }),
    kycTier: kycTier
      .optional()
      .meta({ description: `How far the identity was checked, 0 to 3. ${whereKnown}` }),
  }),
  issuedAt: time('When the passport was issued.'),
  expiresAt: time('When the passport ends.', '2026-01-01T12:05:00.000Z'),
});

const onlyWithConsent = `Only while a client of yours holds the user’s consent with \`kyc\`. ${whereKnown}`;

export const userSchema = component('User', 'A user.', {
  kid: kidField,
  handle: text(`Short name that the user chose. ${whereKnown}`, 'test-approved').optional(),
  name: text(`Full name. ${whereKnown}`, 'Test Approved').optional(),
  role: role.optional(),
  country: country.optional(),
  createdAt: time(`When the user joined. ${whereKnown}`, '2024-01-01T00:00:00.000Z').optional(),
  kycStatus: kycStatus.optional().meta({ description: `How the identity check stands. ${onlyWithConsent}` }),
  kycTier: kycTier
    .optional()
    .meta({ description: `How far the identity was checked, 0 to 3. ${onlyWithConsent}` }),
});

const day = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: ['2026-01-01'], format: 'date' });

export const reconciliationQuery = z.strictObject({
  date: day('The day, UTC. Either this, or `from` and `to`; with them only if both are this day.'),
  from: day('The first day, UTC; not in the future.'),
  to: day('The last day, UTC, included; 31 days at most.'),
  format: field(
    z.enum(['json', 'ndjson', 'csv']).default('json'),
    'The media type of the answer follows it; `Accept` does not matter.',
    'json',
  ),
});

export const sandboxPassportBody = requestBody('A passport for a user of the sandbox.', {
  kid: kid.optional().meta({ description: 'A user of the sandbox. Without it the approved one.' }),
  expired: field(z.boolean().default(false), 'Whether it is too old already.', false),
});

export const sandboxPassport = component('SandboxPassport', 'A passport of the sandbox.', {
  token: text('What the user would show.', passportExample),
  kid: kidField,
  issuedAt: time('When it was issued.'),
  expiresAt: time('When it ends.', '2026-01-01T12:05:00.000Z'),
});

export const whoamiSchema = component('Whoami', 'Whose key it is.', {
  partner: text('Slug of the partner.', 'acme'),
  mode: modeField,
  key: component('WhoamiKey', 'The key of the request.', {
    id: text('Id of the key.', 'key_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
    name: text('What the account manager called it.', 'Tills'),
    scopes: field(z.array(z.string()), 'What it may do.', ['payments:read', 'payments:write']),
    requireSignature: field(z.boolean(), 'Whether requests with a body have to be signed.', false),
    expiresAt: time('When it ends; `null` without an end.')
      .nullable()
      .meta({ examples: [null] }),
  }),
  address: text('From which address the request came, as the service sees it.', '203.0.113.7').nullable(),
});

const errorDetail = component('ErrorDetail', 'A field that is to blame.', {
  path: text('The field, parameter or header.', 'amount'),
  message: text('For people.', 'has to be above zero'),
});

export const errorSchema = component('Error', 'Why a request failed.', {
  code: text('Decide by this. Codes may be added.', 'invalid_request'),
  message: text('For people; may change.', 'The request is malformed.'),
  requestId: text('The header `X-Request-Id` once more.', '4b1d7f0e-8a53-4c39-9a56-0d2f6c1b7e21'),
  details: z.array(errorDetail).optional().meta({ description: 'Only where a field is to blame.' }),
});
