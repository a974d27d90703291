import fc from 'fast-check';

/** Short texts with a meaning in URIs, forms, JSON or JWTs, of which random texts are made. */
const traps = [
  ...[
    '',
    ' ',
    '\0',
    '\t',
    '\n',
    '\r\n',
    '%',
    '%00',
    '%0a',
    '%2e%2e',
    '../',
    '..',
    '//',
    '\\',
    '#',
    '?',
    '&',
    '=',
  ],
  ...[
    ';',
    ',',
    '+',
    '@',
    ':',
    '"',
    "'",
    '<',
    '>',
    '{',
    '[',
    '[[[[',
    '{"a":',
    'null',
    'true',
    '1e400',
    '-0',
    '.',
  ],
  ...[
    '..',
    'e30.e30.',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'é',
    '\u202e',
    '🗝️',
  ],
  ...[
    'https://',
    'HTTPS://api.example/a',
    'urn:',
    'data:,',
    'javascript:',
    '[::1]',
    'xn--',
    'http://localhost',
  ],
  ...['9'.repeat(400), 'x'.repeat(3_000), '{"a":'.repeat(300), '['.repeat(600)],
];

/** Any text, with much that parsers mind. Has no lone surrogates, which cannot be sent as UTF-8. */
export const hostileText: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...traps),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ maxLength: 40 }),
    fc.array(fc.constantFrom(...traps), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
  )
  .map((text) => text.toWellFormed());

/** Any random JSON value, also with member names that every object has, such as `__proto__`. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, true, false, {}, []),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
);

/**
 * Replaces some members of an object by random JSON values, removes other members, and may add a member with
 * a random name.
 */
export function changed<Members extends object>(members: Members): fc.Arbitrary<Record<string, unknown>> {
  const change = (value: unknown) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(value) },
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: hostileJson },
    );
  const entries = Object.entries(members).map(([name, value]) => [name, change(value)] as const);
  return fc
    .tuple(fc.record(Object.fromEntries(entries)), fc.dictionary(hostileText, hostileJson, { maxKeys: 1 }))
    .map(([known, more]) => ({ ...more, ...known }));
}

/** Damages a text in one place, or leaves it whole. */
export function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const damages = {
    none: (given: string) => given,
    insert: (given: string, at: number, what: string) => given.slice(0, at) + what + given.slice(at),
    remove: (given: string, at: number) => given.slice(0, at) + given.slice(at + 1),
    cut: (given: string, at: number) => given.slice(0, at),
    repeat: (given: string) => given + given,
  };
  return fc
    .tuple(text, fc.constantFrom(...Object.keys(damages)), fc.nat(10_000), hostileText)
    .map(([given, damage, at, what]) =>
      damages[damage as keyof typeof damages](given, at % (given.length + 1), what).toWellFormed(),
    );
}

/**
 * Makes a text into the value of an HTTP header: replaces the characters that `fetch` does not accept there, removes white
 * space at its ends, and cuts it. Node itself refuses requests with more than 16 KiB of headers, of which one may have two.
 */
export const headerText = (text: string): string =>
  text
    .replaceAll(/[^\t\x20-\x7E\xA0-\xFF]/g, '?')
    .slice(0, 7_500)
    .trim();
