import { z } from 'zod';
import { isLoopbackUrl } from './loopback.ts';

// Schemas of environment variables. Messages never contain a value.

/** Schema of an environment variable. */
export type Check<Value> = z.ZodType<Value>;

/** Makes the schema of an environment variable with a custom check, which calls `refuse` with the reason. */
export const checked = <Output>(check: (value: string, refuse: (message: string) => never) => Output) =>
  z.string().transform(
    (value, context): Output =>
      check(value, (message) => {
        context.addIssue({ code: 'custom', message });
        return z.NEVER as never;
      }),
  );

/**
 * Schema of an environment variable that is an origin: without a path, and https unless it is on this
 * machine.
 */
export const origin = checked((value, refuse) => {
  if (!URL.canParse(value)) return refuse('must be an absolute URL');
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must be an https URL');
  if (url.protocol === 'http:' && !isLoopbackUrl(value)) {
    return refuse('must be https (http is for loopback addresses during development)');
  }
  if (`${url.origin}/` !== url.href)
    return refuse('must be an origin such as https://id.example.com, without a path');
  return url.origin;
});

/** Schema of an environment variable that is a list, separated by commas. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/**
 * Makes the schema of an environment variable that is a whole number; `what` describes the range, such as `2
 * to 200 connections`.
 */
export const whole = (least: number, most: number, what: string) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be ${what}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be ${what}`);

export const port = whole(0, 65_535, 'a port number');

/** Schema of an environment variable that is `on` or `off`. */
export const switched = z.enum(['on', 'off'], 'must be on or off').transform((value) => value === 'on');

/** Makes the schema of an environment variable that is a list of known words, each at most once. */
export const some = <const Word extends string>(words: readonly Word[]) => {
  const message = `must be one or several of ${words.join(', ')}`;
  return list.pipe(
    z.array(z.enum(words, message)).refine((given) => new Set(given).size === given.length, message),
  );
};
