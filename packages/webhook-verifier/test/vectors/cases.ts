import { createHmac } from 'node:crypto';

/** One case of `vectors.json`. */
export interface Vector {
  readonly name: string;
  /** Base64 of the bytes of the body. */
  readonly body: string;
  /** A header that came more than once has a list. */
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly secrets: readonly string[];
  /** Unix seconds. */
  readonly now: number;
  readonly tolerance: number;
  readonly prefix: string;
  readonly expected:
    | {
        readonly valid: true;
        readonly id: string;
        readonly type: string;
        readonly timestamp: number;
        readonly attempt: number;
        readonly partner: string;
        readonly matchedSecret: number;
      }
    | { readonly valid: false; readonly code: string };
}

const timestamp = 1_780_000_000;
const secret = 'correct horse battery staple';
const former = 'whsec_4f1c2a9be07d4a6b8c3e5d7f90a1b2c3';
const id = 'evt_01J8ZQ4N5T';
const type = 'payment.completed';
const transfer = {
  id: 'tr_01J8ZQ4N5T',
  status: 'completed',
  mode: 'live',
  amount: '1250.00',
  currency: 'HTG',
  recipient: { kid: 'kid_7Q2M' },
  description: 'Café crème – 2 €',
  reference: 'invoice-42',
  metadata: { 'déjà vu': '日本語 🦉' },
  failure: null,
  createdAt: '2026-05-28T19:26:38.000Z',
  updatedAt: '2026-05-28T19:26:40.000Z',
  completedAt: '2026-05-28T19:26:40.000Z',
};
const event = { id, type, createdAt: '2026-05-28T19:26:40.000Z', mode: 'live', data: transfer };
const text = JSON.stringify(event);
const bytes = Buffer.from(text);

interface Signing {
  readonly body?: Uint8Array;
  readonly key?: string | Uint8Array;
  readonly at?: number | string;
  readonly prefix?: string;
  readonly of?: { readonly id: string; readonly type: string };
}

/** Written from the specification with nothing of the package, so that a mistake there does not repeat itself here. */
function signed({
  body = bytes,
  key = secret,
  at = timestamp,
  prefix = 'SVC',
  of = { id, type },
}: Signing = {}) {
  return {
    'Content-Type': 'application/json',
    [`X-${prefix}-Event`]: of.type,
    [`X-${prefix}-EventId`]: of.id,
    [`X-${prefix}-Timestamp`]: `${at}`,
    [`X-${prefix}-Signature`]: createHmac('sha256', key).update(`${at}.`).update(body).digest('hex'),
    [`X-${prefix}-Partner`]: 'acme-pay',
    [`X-${prefix}-Attempt`]: '1',
  };
}

type Given = Partial<Omit<Vector, 'name' | 'expected' | 'body'>> & { readonly body?: Uint8Array };

function vector(name: string, given: Given, expected: Vector['expected']): Vector {
  const { body = bytes, headers = signed(), secrets = [secret], now = timestamp, tolerance = 300 } = given;
  const prefix = given.prefix ?? 'svc';
  return {
    name,
    body: Buffer.from(body).toString('base64'),
    headers,
    secrets,
    now,
    tolerance,
    prefix,
    expected,
  };
}

function valid(name: string, given: Given = {}, expected: object = {}): Vector {
  const usual = {
    valid: true,
    id,
    type,
    timestamp,
    attempt: 1,
    partner: 'acme-pay',
    matchedSecret: 0,
  } as const;
  return vector(name, given, { ...usual, ...expected });
}

const invalid = (name: string, code: string, given: Given): Vector =>
  vector(name, given, { valid: false, code });

const header = (name: string, value: string | readonly string[]): Given => ({
  headers: { ...signed(), [name]: value },
});

function without(name: string): Given {
  const { [name]: _, ...headers } = signed() as { [name: string]: string };
  return { headers };
}

const signature = signed()['X-SVC-Signature'] ?? '';
const body = (altered: Uint8Array | string): Given => ({ body: Buffer.from(altered) });
/** Signed as it stands, so that only what comes after the signature can refuse it. */
const signedBody = (altered: Uint8Array): Given => ({ body: altered, headers: signed({ body: altered }) });
const kyc = {
  id: 'evt_kyc',
  type: 'kyc.updated',
  createdAt: '2026-05-28T19:26:40.000Z',
  mode: 'live',
  data: {
    kid: 'kid_7Q2M',
    kycStatus: 'approved',
    kycTier: 2,
    previous: { kycStatus: 'pending', kycTier: 1 },
    changedAt: '2026-05-28T19:26:39.000Z',
  },
};
const kycBytes = Buffer.from(JSON.stringify(kyc));
const pretty = Buffer.from(JSON.stringify(event, null, 2));

export const vectors: readonly Vector[] = [
  valid('a delivery'),
  valid(
    'a retry, with a number and a signature of its own',
    {
      headers: { ...signed({ at: timestamp + 60 }), 'X-SVC-Attempt': '2' },
      now: timestamp + 60,
    },
    { attempt: 2, timestamp: timestamp + 60 },
  ),
  valid('header names in lower case', {
    headers: Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value])),
  }),
  valid('a header that is a list of one', header('X-SVC-Signature', [signature])),
  valid('another wire prefix', { headers: signed({ prefix: 'ACME' }), prefix: 'acme' }),
  valid('the first of two secrets', { secrets: [secret, former] }),
  valid('the second of two secrets', { secrets: [former, secret] }, { matchedSecret: 1 }),
  valid('a secret with characters outside ASCII', {
    headers: signed({ key: Buffer.from('clé secrète à garder 🔑') }),
    secrets: ['clé secrète à garder 🔑'],
  }),
  valid('a secret longer than a block of SHA-256', {
    headers: signed({ key: 'long'.repeat(64) }),
    secrets: ['long'.repeat(64)],
  }),
  valid('exactly at the tolerance, in the past', { now: timestamp + 300 }),
  valid('exactly at the tolerance, in the future', { now: timestamp - 300 }),
  valid('a smaller tolerance', { now: timestamp + 5, tolerance: 5 }),
  valid('white space in the body', signedBody(pretty)),
  valid(
    'a body of 8 kB',
    signedBody(
      Buffer.from(JSON.stringify({ ...event, data: { ...transfer, description: 'é'.repeat(4_000) } })),
    ),
  ),
  valid(
    'another type',
    { body: kycBytes, headers: signed({ body: kycBytes, of: kyc }) },
    { id: kyc.id, type: kyc.type },
  ),
  valid('a field that is not known yet', signedBody(Buffer.from(JSON.stringify({ ...event, sequence: 7 })))),

  invalid(
    'one bit of the body',
    'signature_mismatch',
    body(Buffer.from(bytes).fill((bytes[9] ?? 0) ^ 1, 9, 10)),
  ),
  invalid('the last byte cut off', 'signature_mismatch', body(bytes.subarray(0, -1))),
  invalid('a line break after the body', 'signature_mismatch', body(`${text}\n`)),
  invalid('an empty body', 'signature_mismatch', body('')),
  invalid('the body parsed and written again', 'signature_mismatch', body(pretty)),
  invalid('a byte order mark that a proxy added', 'signature_mismatch', body(`\uFEFF${text}`)),
  invalid('a body that was decoded as Latin-1', 'signature_mismatch', body(bytes.toString('latin1'))),
  invalid('another secret', 'signature_mismatch', { secrets: [former] }),
  invalid('a secret in another case', 'signature_mismatch', { secrets: [secret.toUpperCase()] }),
  invalid('a secret with a line break after it', 'signature_mismatch', { secrets: [`${secret}\n`] }),
  invalid(
    'a signature without the timestamp',
    'signature_mismatch',
    header('X-SVC-Signature', createHmac('sha256', secret).update(bytes).digest('hex')),
  ),
  invalid(
    'a signature of the body before the timestamp',
    'signature_mismatch',
    header(
      'X-SVC-Signature',
      createHmac('sha256', secret).update(bytes).update(`.${timestamp}`).digest('hex'),
    ),
  ),
  invalid(
    'the signature of another timestamp',
    'signature_mismatch',
    header('X-SVC-Timestamp', `${timestamp + 1}`),
  ),
  invalid('a signature of zeros', 'signature_mismatch', header('X-SVC-Signature', '0'.repeat(64))),
  invalid(
    'the first digit of the signature',
    'signature_mismatch',
    header('X-SVC-Signature', (signature[0] === '0' ? '1' : '0') + signature.slice(1)),
  ),
  invalid(
    'the last digit of the signature',
    'signature_mismatch',
    header('X-SVC-Signature', signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0')),
  ),

  invalid('301 seconds old', 'timestamp_too_old', { now: timestamp + 301 }),
  invalid('301 seconds ahead', 'timestamp_too_new', { now: timestamp - 301 }),
  invalid('a year ahead, and signed', 'timestamp_too_new', {
    headers: signed({ at: timestamp + 31_536_000 }),
  }),
  invalid('a timestamp in milliseconds, and signed', 'malformed_header', {
    headers: signed({ at: timestamp * 1000 }),
  }),
  invalid('a timestamp with a fraction, and signed', 'malformed_header', {
    headers: signed({ at: `${timestamp}.5` }),
  }),
  invalid('a timestamp with a sign, and signed', 'malformed_header', {
    headers: signed({ at: `+${timestamp}` }),
  }),
  invalid('a timestamp with a zero before it, and signed', 'malformed_header', {
    headers: signed({ at: `0${timestamp}` }),
  }),
  invalid('a timestamp in hexadecimal, and signed', 'malformed_header', {
    headers: signed({ at: `0x${timestamp.toString(16)}` }),
  }),
  invalid('an empty timestamp', 'malformed_header', header('X-SVC-Timestamp', '')),

  invalid(
    'a signature in upper case',
    'malformed_header',
    header('X-SVC-Signature', signature.toUpperCase()),
  ),
  invalid(
    'a signature in base64',
    'malformed_header',
    header('X-SVC-Signature', Buffer.from(signature, 'hex').toString('base64')),
  ),
  invalid(
    'a signature with its algorithm before it',
    'malformed_header',
    header('X-SVC-Signature', `sha256=${signature}`),
  ),
  invalid(
    'a signature that is too short',
    'malformed_header',
    header('X-SVC-Signature', signature.slice(0, 62)),
  ),
  invalid('a signature that is too long', 'malformed_header', header('X-SVC-Signature', `${signature}00`)),
  invalid('an empty signature', 'malformed_header', header('X-SVC-Signature', '')),
  invalid(
    'a signature twice, joined by a proxy',
    'malformed_header',
    header('X-SVC-Signature', `${signature}, ${signature}`),
  ),
  invalid(
    'a signature twice, as a list',
    'malformed_header',
    header('X-SVC-Signature', [signature, signature]),
  ),
  invalid('an id twice', 'malformed_header', header('X-SVC-EventId', `${id}, ${id}`)),
  invalid('a type twice', 'malformed_header', header('X-SVC-Event', `${type}, ${type}`)),
  invalid('a timestamp twice', 'malformed_header', header('X-SVC-Timestamp', `${timestamp}, ${timestamp}`)),
  invalid('an attempt that is no number', 'malformed_header', header('X-SVC-Attempt', 'first')),
  invalid('a partner that is no slug', 'malformed_header', header('X-SVC-Partner', 'Acme Pay')),
  ...['Event', 'EventId', 'Timestamp', 'Signature', 'Partner', 'Attempt'].map((name) =>
    invalid(`no header X-SVC-${name}`, 'missing_header', without(`X-SVC-${name}`)),
  ),
  invalid('headers of another wire prefix', 'missing_header', { headers: signed({ prefix: 'ACME' }) }),

  invalid('an id that is not the signed one', 'id_mismatch', header('X-SVC-EventId', 'evt_another')),
  invalid('a type that is not the signed one', 'type_mismatch', header('X-SVC-Event', 'payment.failed')),
  invalid(
    'a signed body without an id',
    'id_mismatch',
    signedBody(Buffer.from('{"type":"payment.completed"}')),
  ),
  invalid('a signed body that is null', 'id_mismatch', signedBody(Buffer.from('null'))),
  invalid('a signed body that is an array', 'id_mismatch', signedBody(Buffer.from(`[${text}]`))),
  invalid('a signed body that is no JSON', 'body_not_json', signedBody(Buffer.from('id=evt_01J8ZQ4N5T'))),
  invalid('a signed body that is empty', 'body_not_json', signedBody(Buffer.alloc(0))),
  invalid('a signed body with a byte order mark', 'body_not_json', signedBody(Buffer.from(`\uFEFF${text}`))),
  invalid('a signed body that is no UTF-8', 'body_not_utf8', signedBody(Buffer.from(text, 'latin1'))),
  invalid(
    'a signed body with an encoded surrogate',
    'body_not_utf8',
    signedBody(Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])),
  ),

  invalid('an empty secret', 'weak_secret', { secrets: [''], headers: signed({ key: '' }) }),
  invalid('a secret of 15 characters', 'weak_secret', {
    secrets: ['fifteen-letters'],
    headers: signed({ key: 'fifteen-letters' }),
  }),
  invalid('a secret that says undefined', 'weak_secret', {
    secrets: ['undefined'],
    headers: signed({ key: 'undefined' }),
  }),
  invalid('a secret of white space', 'weak_secret', {
    secrets: [' '.repeat(32)],
    headers: signed({ key: ' '.repeat(32) }),
  }),
  invalid('a weak secret beside a right one', 'weak_secret', { secrets: [secret, ''] }),
];

/** The text of `vectors.json`. */
export function vectorsFile(): string {
  const description =
    'Deliveries of Ostiary that a verifier has to accept or to refuse. The signature is the lower-case hexadecimal HMAC-SHA256, under the UTF-8 bytes of a secret, of the timestamp header, a full stop and the bytes of the body. `body` is base64; `now` and `tolerance` are seconds; a header with a list came more than once. Codes are those of @ostiary/webhook-verifier; what matters in other languages is what is valid.';
  const text = JSON.stringify({ description, version: 1, cases: vectors }, null, 2);
  // Short lists on one line, as the formatter of this repository wants them.
  const inLine = text.replace(/^( +"[\w-]+": )\[\s+([^[\]{}]*?)\s+\](,?)$/gm, (list, name, items, comma) => {
    const line = `${name}[${items.replace(/,\n\s+/g, ', ')}]${comma}`;
    return line.length <= 110 ? line : list;
  });
  return `${inLine}\n`;
}
