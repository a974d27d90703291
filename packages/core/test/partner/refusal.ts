import { expect } from 'vitest';
import type { PartnerErrorCode } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { expectPlain } from '../support/plain-words.ts';

/**
 * Checks that a response is a refusal with the form and texts that the API promises. Returns the fields that
 * it names.
 */
export function blamed(answer: Answer, status = 400, code = 'invalid_request'): string[] {
  const { details = [], ...error } = answer.json() as {
    details?: { path: string; message: string }[];
    message: string;
  };
  expect(answer.status, answer.text).toBe(status);
  expect(error).toEqual({ code, message: expect.any(String), requestId: answer.headers.get('x-request-id') });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  for (const { message } of [error, ...details]) expectPlain(message, answer.text);
  return details.map(({ path }) => path);
}

/** HTTP statuses of the API's errors, written down independently of the code. */
export const statuses: { readonly [Code in PartnerErrorCode]: number } = {
  invalid_request: 400,
  invalid_api_key: 401,
  invalid_signature: 401,
  insufficient_scope: 403,
  ip_not_allowed: 403,
  not_found: 404,
  idempotency_conflict: 409,
  token_expired: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
};
