import { expect } from 'vitest';
import type { Answer } from '../support/browser.ts';

/** That an answer is a refusal in the shape of the contract, and which fields it blames. */
export function blamed(answer: Answer, status = 400, code = 'invalid_request'): string[] {
  const { details = [], ...error } = answer.json() as { details?: { path: string }[] };
  expect(answer.status, answer.text).toBe(status);
  expect(error).toEqual({ code, message: expect.any(String), requestId: answer.headers.get('x-request-id') });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  return details.map(({ path }) => path);
}
