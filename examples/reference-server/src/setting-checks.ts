import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isLoopbackUrl } from '@ostiary/web-kit';
import { z } from 'zod';

// What a variable of the environment may hold. Messages never contain a value.

/** A text that is checked by hand: `refuse` says why not. */
const checked = (check: (value: string, refuse: (message: string) => never) => string) =>
  z.string().transform((value, context): string =>
    check(value, (message) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER as never;
    }),
  );

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

const list = z.string().transform((value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

export const sealingKeys = list.pipe(
  z
    .array(z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'each must be 32 bytes in base64url (43 characters)'))
    .min(1, 'needs at least one key')
    .max(10, 'takes at most ten keys'),
);

/** Whether somebody typed or counted a key instead of drawing it. Random bytes are taken for that once in 10¹³ keys. */
export function isGuessableKey(key: string): boolean {
  const bytes = [...Buffer.from(key, 'base64url')];
  const steps = bytes.map((byte, at) => (byte - (bytes[at - 1] ?? 0)) & 255).slice(1);
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  return isText || new Set(bytes).size < 12 || new Set(steps).size < 8;
}

/** A single address is a range of one. */
export const proxies = list.pipe(
  z.array(
    checked((entry, refuse) => {
      const [address = '', bits, ...rest] = entry.split('/');
      const width = isIP(address) === 6 ? 128 : 32;
      const length = bits ?? String(width);
      if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > width) {
        return refuse('must be addresses or CIDR ranges such as 10.0.0.0/8');
      }
      return `${address}/${length}`;
    }),
  ),
);

/** A whole number; `what` names the range, such as `2 to 200 connections`. */
export const whole = (least: number, most: number, what: string) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be ${what}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be ${what}`);

export const processes = z
  .string()
  .transform((value) => (value === 'auto' ? String(availableParallelism()) : value))
  .pipe(whole(1, 256, '1 to 256 processes, or auto'));

export const port = whole(0, 65_535, 'a port number');

export const switched = z.enum(['on', 'off'], 'must be on or off').transform((value) => value === 'on');

/** Some of a few words, each once. */
export const some = <const Word extends string>(words: readonly Word[]) => {
  const message = `must be one or several of ${words.join(', ')}`;
  return list.pipe(
    z.array(z.enum(words, message)).refine((given) => new Set(given).size === given.length, message),
  );
};

/** As many as Ostiary takes, each above zero and at most a week. */
export const delays = list.pipe(
  z
    .array(
      z
        .string()
        .regex(/^\d{1,6}(\.\d{1,3})?$/, 'must be seconds, comma separated, such as 60,300,1800,7200')
        .transform(Number)
        .refine((seconds) => seconds > 0 && seconds <= 604_800, 'must be above 0 and at most 604800 seconds'),
    )
    .min(1, 'needs at least one delay')
    .max(20, 'has more than 20 delays'),
);

/** The connection string with its first host alone: a list of hosts is no URL. */
const withOneHost = (value: string): string => value.replace(/^(\w+:\/\/(?:[^/?#]*@)?[^/?#,]*)[^/?#]*/, '$1');

/** A connection string that the driver will be able to read. Nothing that is said about it holds a part of it. */
export const databaseUrl = checked((value, refuse) => {
  if (!/^postgres(?:ql)?:\/\/./.test(value)) return refuse('must begin with postgres:// or postgresql://');
  if (!URL.canParse(withOneHost(value)))
    return refuse('must be a URL; encode special characters of user and password');
  try {
    decodeURIComponent(value);
  } catch {
    return refuse('has a % that is not encoded as %25');
  }
  return value;
});
