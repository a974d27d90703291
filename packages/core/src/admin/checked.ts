import type { z } from 'zod';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { iso } from '../time/clock.ts';

/**
 * Checks input of an administrator.
 * @param name - what the input is called where it has no members
 * @throws TypeError that names what is wrong, by its path
 */
export function checked<Output>(schema: z.ZodType<Output>, input: unknown, name = 'argument'): Output {
  const result = schema.safeParse(input, inPlainWords);
  if (result.success) return result.data;
  throw new TypeError(inOneLine(problemsOf(result.error.issues), name));
}

/** A record of the store as administrators see it: its times are ISO 8601. */
export type Shown<Stored> = {
  readonly [Name in keyof Stored]: Name extends 'at' | `${string}At`
    ? string | Extract<Stored[Name], null>
    : Stored[Name];
};

/** See {@link Shown}. Of records in records the times stay as they are. */
export function shown<Stored extends object>(record: Stored): Shown<Stored> {
  const members = Object.entries(record).map(([name, value]) => {
    const isTime = typeof value === 'number' && /(^a|A)t$/.test(name);
    return [name, isTime ? iso(value) : value];
  });
  return Object.fromEntries(members);
}
