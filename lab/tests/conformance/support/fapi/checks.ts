import { expect } from 'vitest';
import { answerOf } from '../../../../../packages/core/test/support/browser.ts';
import { describable } from '../flow.ts';

/** Seconds of a year. A longer lifetime is probably in milliseconds by mistake. */
const yearSeconds = 31_536_000;

/**
 * Estimates the entropy of a text in bits: Shannon's entropy of its characters, times its length. The
 * original conformance suite measures entropy in the same way.
 */
function entropyBits(text: string): number {
  const counts = Object.values(Object.groupBy(text, (character) => character)).map(
    (same) => same?.length ?? 0,
  );
  const perCharacter = counts.reduce(
    (sum, count) => sum - (count / text.length) * Math.log2(count / text.length),
    0,
  );
  return perCharacter * text.length;
}

/** Checks that a code, a token or a reference has at least 128 bits, of which enough are random. */
export function checkUnguessable(text: unknown): void {
  expect(text).toEqual(expect.stringMatching(/^[\x20-\x7E]{16,}$/));
  // The estimate of 128 random bits varies, so the original asks for 96.
  expect(entropyBits(String(text))).toBeGreaterThan(96);
}

/** Checks a lifetime: a number of whole seconds, at least `min` and less than a year. */
export function checkLifetime(seconds: unknown, min = 1): void {
  expect(Number.isInteger(seconds), String(seconds)).toBe(true);
  expect(seconds).toBeGreaterThanOrEqual(min);
  expect(seconds).toBeLessThan(yearSeconds);
}

/**
 * Checks an error response of the token endpoint or the pushed authorization request endpoint (RFC 6749,
 * section 5.2).
 * @param codes - error codes of which the response must have one
 */
export async function expectError(response: Response, ...codes: readonly string[]): Promise<void> {
  const answer = await answerOf(response);
  expect(answer.headers.get('content-type'), answer.outcome).toMatch(/^application\/json\b/);
  const { error, error_description: description, error_uri: uri } = answer.json();
  expect(codes).toContain(error);
  expect(error === 'invalid_client' ? [400, 401] : [400]).toContain(answer.status);
  expect(description ?? 'none').toMatch(describable);
  expect(uri).toBeUndefined();
}
