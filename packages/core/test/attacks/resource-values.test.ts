import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const [own, other] = ['https://api.example/a', 'https://api.example/b'];
const provider = await startProvider({
  resources: { [own]: { name: 'A', scopes: [] }, [other]: { name: 'B', scopes: [] } },
});
const app = await provider.client();

/**
 * Parts of which test values of the parameter `resource` are made: URIs from the option `resources`, and text
 * with a meaning in URIs and in forms.
 */
const parts = [
  ...[
    own,
    other,
    'https://',
    'HTTPS:',
    '//',
    'api.example',
    ':443',
    '/a',
    '/a/',
    '?',
    '#',
    '@',
    '\\',
    '%',
    '%00',
    '%0a',
  ],
  ...[
    '%2e%2e',
    '..',
    ' ',
    '\t',
    '\n',
    '\0',
    '+',
    '&',
    '=',
    ';',
    ',',
    '[::1]',
    'xn--',
    'é',
    '\u202e',
    '\ud800',
    '"',
    '<',
  ],
  ...['__proto__', 'constructor', 'urn:', 'data:,', 'javascript:', '{', '[', 'x'.repeat(300)],
];

/**
 * Returns a pseudo-random value of the parameter `resource`; the same number gives the same value in each
 * run.
 */
function resourceValue(number: number): string {
  const bytes = createHash('sha256').update(`${number}`).digest();
  const length = 1 + ((bytes[0] ?? 0) % 5);
  return Array.from({ length }, (_, at) => parts[(bytes[at + 1] ?? 0) % parts.length]).join('');
}

const numbers = Array.from({ length: 500 }, (_, number) => number);

/**
 * Writes a value for the query of a request: encoded as in a form. Every third value is written as it is, with
 * `%20` for characters that a URL cannot have, and without `#` and `&`.
 */
const written = (value: string, number: number): string =>
  number % 3 === 0
    ? value.replaceAll(/[^\x21\x23-\x7E]/g, '%20').replaceAll(/[#&]/g, '')
    : new URLSearchParams({ value: value.toWellFormed() }).toString().slice(6);

/** Error codes that a bad `resource` parameter may cause. */
const refusals = ['invalid_target', 'invalid_request'];

describe('any value of resource', () => {
  it('an authorization is refused, or is for resources of the option', async () => {
    const browser = provider.browser();
    await provider.code(app, { resource: own }, browser);
    await provider.code(app, { resource: other }, browser);
    const outcomes = new Set<string>();
    for (const number of numbers) {
      const value = resourceValue(number);
      const { location, status } = await browser.get(
        `${provider.authorizeUrl(app)}&resource=${written(value, number)}`,
      );
      expect([value, status]).toEqual([value, 303]);
      const callback = new URL(location ?? '').searchParams;
      const error = callback.get('error');
      if (error === null) {
        const tokens = (await provider.exchange(app, callback.get('code') ?? '')).json();
        const token = String(tokens.access_token);
        const checks = await Promise.all(
          [own, other].map((resource) => provider.ostiary.tokens.verify(token, { resource })),
        );
        const isFree = (await provider.ostiary.tokens.verify(token)).active;
        // Only an empty value gives a token that is bound to no resource.
        expect([value, checks.some(({ active }) => active) !== isFree]).toEqual([value, true]);
        if (isFree) expect(written(value, number)).toBe('');
      } else expect(refusals).toContain(error);
      outcomes.add(error ?? 'code');
    }
    expect(outcomes).toContain('invalid_target');
    expect(provider.errors).toEqual([]);
  });

  it('an exchange is refused, and its code stays usable', async () => {
    const code = await provider.code(app, { resource: own });
    for (const number of numbers) {
      const value = resourceValue(number).replaceAll(own, 'x');
      const sent = [value, [value], [own, value]][number % 3];
      const { outcome } = await provider.exchange(app, code, { resource: sent });
      expect(refusals.map((error) => `400 ${error}`)).toContain(outcome);
    }
    expect(await provider.redeem(app, code)).toBe('200 ok');
    expect(provider.errors).toEqual([]);
  });
});
