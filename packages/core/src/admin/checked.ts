import type { z } from 'zod';
import { inOneLine, inPlainWords, problemsOf } from '../plain-words.ts';

/**
 * What an administrator gave, checked.
 * @param name - what the input is called where it has no members
 * @throws TypeError that names what is wrong, by its path
 */
export function checked<Output>(schema: z.ZodType<Output>, input: unknown, name = 'argument'): Output {
  const result = schema.safeParse(input, inPlainWords);
  if (result.success) return result.data;
  throw new TypeError(inOneLine(problemsOf(result.error.issues), name));
}

/** A time of the store as it is shown: ISO 8601. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** The same for a time that may be missing. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}
