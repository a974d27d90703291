import type { z } from 'zod';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { iso } from '../time/clock.ts';

/**
 * Parses an administrator's input with a schema.
 * @param name - name of the input in errors about the input as a whole
 * @throws TypeError that names each invalid member by its path
 */
export function checked<Output>(schema: z.ZodType<Output>, input: unknown, name = 'argument'): Output {
  const result = schema.safeParse(input, inPlainWords);
  if (result.success) return result.data;
  throw new TypeError(inOneLine(problemsOf(result.error.issues), name));
}

/** A stored record in the form that administrators see, with times as ISO 8601. */
export type Shown<Stored> = {
  readonly [Name in keyof Stored]: Name extends 'at' | `${string}At`
    ? string | Extract<Stored[Name], null>
    : Stored[Name];
};

/** Converts a stored record to the form {@link Shown}. Leaves times in nested records unchanged. */
export function shown<Stored extends object>(record: Stored): Shown<Stored> {
  const members = Object.entries(record).map(([name, value]) => {
    const isTime = typeof value === 'number' && /(^a|A)t$/.test(name);
    return [name, isTime ? iso(value) : value];
  });
  return Object.fromEntries(members);
}
