import { createHmac } from 'node:crypto';
import {
  body,
  bytes,
  configuration,
  type Draft,
  event,
  header,
  id,
  invalid,
  secret,
  signed,
  signedBody,
  strictness,
  text,
  timestamp,
  transfer,
  type,
  underRule,
  type Vector,
  valid,
  without,
} from './vector.ts';

const former = 'whsec_4f1c2a9be07d4a6b8c3e5d7f90a1b2c3';
const signature = signed()['X-SVC-Signature'] ?? '';
const pretty = JSON.stringify(event, null, 2);
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

/** The signature of something else under the right secret. */
const signatureOf = (...parts: readonly (string | Uint8Array)[]): string =>
  parts.reduce((hmac, part) => hmac.update(part), createHmac('sha256', secret)).digest('hex');
const signedAs = (name: string, ...parts: readonly (string | Uint8Array)[]): Draft =>
  invalid(name, 'signature_mismatch', header('X-SVC-Signature', signatureOf(...parts)));
const signedAt = (name: string, code: string, at: number | string): Draft =>
  invalid(name, code, { headers: signed({ at }) });
/** The event with these bytes in place of an é, so that nothing but them is wrong. */
const descriptionOf = (...other: readonly number[]): Uint8Array => {
  const at = bytes.indexOf('é');
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(other), bytes.subarray(at + 2)]);
};
const weak = (name: string, key: string): Draft =>
  invalid(name, 'weak_secret', { secrets: [key], headers: signed({ key }) });

const bodies: readonly Draft[] = [
  valid('white space in the body', signedBody(pretty)),
  valid(
    'a body of 8 kB',
    signedBody(JSON.stringify({ ...event, data: { ...transfer, description: 'é'.repeat(4_000) } })),
  ),
  valid('a field that is not known yet', signedBody(JSON.stringify({ ...event, sequence: 7 }))),
  valid(
    'numbers and escapes that a printer would write otherwise',
    signedBody(text.replace('"data":{', '"data":{"a":1.0,"b":1e2,"c":"\\u0041\\/",')),
  ),
];

const headers: readonly Draft[] = [
  valid('the six headers of the specification', without('X-SVC-Attempt'), { attempt: null }),
  valid('header names in lower case', {
    headers: Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value])),
  }),
  valid('a header that is a list of one', header('X-SVC-Signature', [signature])),
  ...['Event', 'EventId', 'Timestamp', 'Signature'].map((name) =>
    invalid(`no header X-SVC-${name}`, 'missing_header', without(`X-SVC-${name}`)),
  ),
  invalid('headers of another wire prefix', 'missing_header', { headers: signed({ prefix: 'ACME' }) }),
  ...['Event', 'EventId', 'Timestamp', 'Signature'].map((name) =>
    invalid(`an empty header X-SVC-${name}`, 'malformed_header', header(`X-SVC-${name}`, '')),
  ),
  ...(['id', 'type'] as const).flatMap((member) => {
    const name = member === 'id' ? 'X-SVC-EventId' : 'X-SVC-Event';
    const empty = signedBody(JSON.stringify({ ...event, [member]: '' }));
    const none = signedBody(JSON.stringify({ ...event, [member]: undefined }));
    return [
      invalid(`an empty ${member}, in header and signed body`, 'malformed_header', {
        ...empty,
        headers: { ...empty.headers, [name]: '' },
      }),
      invalid(`no ${member}, neither in a header nor in the signed body`, 'missing_header', {
        ...none,
        headers: without(name, none.headers).headers,
      }),
    ];
  }),
  strictness(
    invalid(
      'a signature twice, as a list',
      'malformed_header',
      header('X-SVC-Signature', [signature, signature]),
    ),
  ),
  strictness(invalid('no header X-SVC-Partner', 'missing_header', without('X-SVC-Partner'))),
  strictness(invalid('a partner that is no slug', 'malformed_header', header('X-SVC-Partner', 'Acme Pay'))),
  strictness(invalid('an attempt that is no number', 'malformed_header', header('X-SVC-Attempt', 'first'))),
  strictness(invalid('an empty attempt', 'malformed_header', header('X-SVC-Attempt', ''))),
  configuration(valid('another wire prefix', { headers: signed({ prefix: 'ACME' }), prefix: 'acme' })),
];

const ages: readonly Draft[] = [
  valid('exactly 300 seconds old', { now: timestamp + 300 }),
  valid('exactly 300 seconds ahead', { now: timestamp - 300 }),
  invalid('301 seconds old', 'timestamp_too_old', { now: timestamp + 301 }),
  invalid('301 seconds ahead', 'timestamp_too_new', { now: timestamp - 301 }),
  signedAt('a year ahead, and signed', 'timestamp_too_new', timestamp + 31_536_000),
  signedAt('a timestamp in milliseconds, and signed', 'malformed_header', timestamp * 1000),
  signedAt('a timestamp with a fraction, and signed', 'malformed_header', `${timestamp}.5`),
  signedAt('a timestamp with a sign, and signed', 'malformed_header', `+${timestamp}`),
  signedAt('a timestamp below zero, and signed', 'malformed_header', -timestamp),
  signedAt('a timestamp in hexadecimal, and signed', 'malformed_header', `0x${timestamp.toString(16)}`),
  signedAt('a timestamp with an exponent, and signed', 'malformed_header', '178e7'),
  signedAt('a timestamp with a digit separator, and signed', 'malformed_header', '1_780_000_000'),
  signedAt('a timestamp that is right modulo 2^32, and signed', 'timestamp_too_new', timestamp + 2 ** 32),
  signedAt(
    'a timestamp that is right modulo 2^64, and signed',
    'malformed_header',
    `${2n ** 64n + BigInt(timestamp)}`,
  ),
  invalid(
    'a timestamp twice, joined by a proxy',
    'malformed_header',
    header('X-SVC-Timestamp', `${timestamp}, ${timestamp}`),
  ),
  strictness(signedAt('a timestamp with a zero before it, and signed', 'malformed_header', `0${timestamp}`)),
  configuration(valid('a smaller tolerance', { now: timestamp + 5, tolerance: 5 })),
  configuration(
    invalid('older than a smaller tolerance', 'timestamp_too_old', { now: timestamp + 6, tolerance: 5 }),
  ),
];

const signatures: readonly Draft[] = [
  valid('a delivery'),
  valid('a secret with characters outside ASCII', {
    headers: signed({ key: Buffer.from('clé secrète à garder 🔑') }),
    secrets: ['clé secrète à garder 🔑'],
  }),
  valid('a secret with white space at its ends', {
    headers: signed({ key: ` ${secret}\n` }),
    secrets: [` ${secret}\n`],
  }),
  valid('a secret that looks like hexadecimal', {
    headers: signed({ key: '0123456789abcdef'.repeat(2) }),
    secrets: ['0123456789abcdef'.repeat(2)],
  }),
  valid('a secret longer than a block of SHA-256', {
    headers: signed({ key: 'long'.repeat(64) }),
    secrets: ['long'.repeat(64)],
  }),
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
  signedAs('a signature without the timestamp', bytes),
  signedAs('a signature without the full stop', `${timestamp}`, bytes),
  signedAs('a signature of the body before the timestamp', bytes, `.${timestamp}`),
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
  ...Object.entries({
    'a signature in base64': Buffer.from(signature, 'hex').toString('base64'),
    'a signature with its algorithm before it': `sha256=${signature}`,
    'a signature that is too short': signature.slice(0, 62),
    'a signature that is too long': `${signature}00`,
    'a signature twice, joined by a proxy': `${signature}, ${signature}`,
  }).map(([name, value]) => invalid(name, 'malformed_header', header('X-SVC-Signature', value))),
  weak('an empty secret', ''),
  weak('a secret of 15 characters', 'fifteen-letters'),
  weak('a secret that says undefined', 'undefined'),
  strictness(weak('a secret of white space', ' '.repeat(32))),
  strictness(
    invalid(
      'a signature in upper case',
      'malformed_header',
      header('X-SVC-Signature', signature.toUpperCase()),
    ),
  ),
  configuration(valid('the first of two secrets', { secrets: [secret, former] })),
  configuration(valid('the second of two secrets', { secrets: [former, secret] }, { matchedSecret: 1 })),
  configuration(invalid('a weak secret beside a right one', 'weak_secret', { secrets: [secret, ''] })),
];

const contents: readonly Draft[] = [
  valid('another type', signedBody(JSON.stringify(kyc), kyc), { id: kyc.id, type: kyc.type }),
  valid(
    'an id and a type with escapes',
    signedBody(text.replace('evt_', '\\u0065vt_').replace('t.c', 't\\u002ec')),
  ),
  invalid('an id that is not the signed one', 'id_mismatch', header('X-SVC-EventId', 'evt_another')),
  invalid('a type that is not the signed one', 'type_mismatch', header('X-SVC-Event', 'payment.failed')),
  invalid('an id in another case', 'id_mismatch', header('X-SVC-EventId', id.toUpperCase())),
  invalid('an id twice, joined by a proxy', 'malformed_header', header('X-SVC-EventId', `${id}, ${id}`)),
  invalid('a type twice, joined by a proxy', 'malformed_header', header('X-SVC-Event', `${type}, ${type}`)),
  invalid('a signed body without an id', 'id_mismatch', signedBody(JSON.stringify({ type }))),
  invalid('a signed body without a type', 'type_mismatch', signedBody(JSON.stringify({ id }))),
  invalid(
    'a signed body with id and type further in only',
    'id_mismatch',
    signedBody(JSON.stringify({ data: { id, type } })),
  ),
  invalid(
    'a signed body whose id is a number',
    'id_mismatch',
    signedBody(JSON.stringify({ id: 17, type }), { id: '17', type }),
  ),
  invalid('a signed body that is null', 'id_mismatch', signedBody('null')),
  invalid('a signed body that is an array', 'id_mismatch', signedBody(`[${text}]`)),
  invalid('a signed body that is no JSON', 'body_not_json', signedBody('id=evt_01J8ZQ4N5T')),
  invalid('a signed body that is empty', 'body_not_json', signedBody('')),
  invalid('a signed body that is Latin-1', 'body_not_utf8', signedBody(descriptionOf(0xe9))),
  invalid(
    'a signed body with an encoded surrogate',
    'body_not_utf8',
    signedBody(descriptionOf(0xed, 0xa0, 0x80)),
  ),
  invalid(
    'a signed body with a character in too many bytes',
    'body_not_utf8',
    signedBody(descriptionOf(0xc1, 0x81)),
  ),
  strictness(invalid('a signed body with a byte order mark', 'body_not_json', signedBody(`\uFEFF${text}`))),
];

const repeats: readonly Draft[] = [
  valid(
    'a retry: the same event, with a timestamp and a signature of its own',
    { headers: { ...signed({ at: timestamp + 60 }), 'X-SVC-Attempt': '2' }, now: timestamp + 60 },
    { attempt: 2, timestamp: timestamp + 60 },
  ),
];

export const vectors: readonly Vector[] = [
  ...underRule(1, bodies),
  ...underRule(2, headers),
  ...underRule(3, ages),
  ...underRule(4, signatures),
  ...underRule(5, contents),
  ...underRule(6, repeats),
];

/** The text of `vectors.json`. */
export function vectorsFile(): string {
  const description =
    'Deliveries of Ostiary that a verifier has to accept or to refuse. `rule` is the number of the rule of docs/webhook-verifier-languages.md that refuses the case, or that a verifier which gets a valid one wrong has broken. `kind`: whoever follows the rules decides a case of `contract` as expected; `strictness` is what the rules leave open and @ostiary/webhook-verifier refuses; `configuration` has options that are not the usual ones. `body` is base64; `now` and `tolerance` are seconds; a header with a list came more than once; an `attempt` of null was not sent. Codes are those of @ostiary/webhook-verifier; what matters in other languages is what is valid. Version 2 added `rule`, `kind` and deliveries without an attempt.';
  const text = JSON.stringify({ description, version: 2, cases: vectors }, null, 2);
  // Short lists on one line, as the formatter of this repository wants them.
  const inLine = text.replace(/^( +"[\w-]+": )\[\s+([^[\]{}]*?)\s+\](,?)$/gm, (list, name, items, comma) => {
    const line = `${name}[${items.replace(/,\n\s+/g, ', ')}]${comma}`;
    return line.length <= 110 ? line : list;
  });
  return `${inLine}\n`;
}
