import { z } from 'zod';
import type { Storage } from '../ports/storage.ts';
import { keyCommand } from '../secrets/random.ts';
import type { Logger } from '../telemetry/logger.ts';

// Schemas of single options, with their error texts.

const unknownOption = (unknown: readonly string[], shape: object): string =>
  `unknown option ${unknown.join(', ')}; there are ${Object.keys(shape).join(', ')}`;

/** Returns a schema for an object of options that refuses unknown keys. */
export function knownOnly<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownOption(issue.keys, shape) : undefined),
  });
}

/**
 * Returns a schema for an object with functions of the host application. Refuses unknown keys of a plain object, because a
 * misspelled function, such as `isvisible`, would never be called. Instances of classes may have further members.
 */
export function hostObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.preprocess((value, context) => {
    const isPlain = Object.getPrototypeOf(Object(value)) === Object.prototype;
    const unknown = isPlain ? Object.keys(Object(value)).filter((key) => !Object.hasOwn(shape, key)) : [];
    if (unknown.length > 0) context.addIssue({ code: 'custom', message: unknownOption(unknown, shape) });
    return value;
  }, z.looseObject(shape));
}

const loopbackHost = /^((?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Checks whether a URL's host is this machine: `localhost` and names below it, 127.0.0.0/8 or `::1`. */
export function isLoopback(url: URL): boolean {
  return loopbackHost.test(url.hostname);
}

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === '';

/**
 * Returns the error text for a wrong option. For a missing value it gives advice, since most often an
 * environment variable was not set.
 */
const said = (value: unknown, advice: string, wrong: string): string =>
  isMissing(value) ? `is missing, perhaps because an environment variable is not set; ${advice}` : wrong;

/**
 * Returns the error parameter for a zod schema, so that values of a wrong type get an error text with advice;
 * see {@link said}.
 */
const saying = (advice: string, wrong: string) => ({
  error: ({ input }: { readonly input?: unknown }) => said(input, advice, wrong),
});

const anyUrl = 'an absolute URL such as https://id.example.com';
const urlWords = [`give ${anyUrl}`, `must be ${anyUrl}`] as const;

/**
 * Schema for a URL with https, or with http on loopback, and without user information, query and fragment.
 */
export const serverUrl = z.string(saying(...urlWords)).transform((value, context): URL => {
  const refuse = (message: string): never => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER as never;
  };
  if (!URL.canParse(value)) return refuse(said(value, ...urlWords));
  const url = new URL(value);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
    return refuse('must be https, or http on a loopback address');
  }
  if (url.username || url.password) return refuse('must not contain user information');
  if (url.search || url.hash || /[?#]/.test(value)) return refuse('must not have a query or a fragment');
  return url;
});

const makeKey = `make a key with: ${keyCommand}`;
const keyWords = [
  makeKey,
  `must be 32 bytes, or their base64url encoding (43 characters); ${makeKey}`,
] as const;

const sealingKey = z
  .union([z.string(), z.instanceof(Uint8Array)], saying(...keyWords))
  .transform((value, context): Uint8Array => {
    const bytes = typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64url')) : value;
    if (bytes.length !== 32 || (typeof value === 'string' && !/^[A-Za-z0-9_-]{43}=?$/.test(value))) {
      context.addIssue({ code: 'custom', message: said(value, ...keyWords) });
      return z.NEVER;
    }
    return bytes;
  });

/** Schema for a list of one to ten sealing keys of 32 bytes. Error texts never show the keys. */
export const sealingKeys = z
  .custom<(string | Uint8Array)[]>(
    Array.isArray,
    saying(`give a list; ${makeKey}`, 'must be a list of keys, the current one first'),
  )
  .pipe(z.array(sealingKey).min(1, `needs at least one key; ${makeKey}`).max(10, 'takes at most ten keys'));

/**
 * Error text for a wrong entry of `trustedProxies`. The syntax of addresses is checked later, by
 * `clientAddressFinder`.
 */
const proxyWords = saying('give an address or a CIDR range', 'must be text');
export const proxy = z.string(proxyWords).min(1, proxyWords);

export const callback = <Signature extends (...args: never[]) => unknown = () => unknown>() =>
  z.custom<Signature>((value) => typeof value === 'function', 'must be a function');

/**
 * Returns a schema for an object of the host application that implements an interface. Only checks that the
 * object has the given methods.
 */
export const store = <Port extends object>(...methods: readonly (keyof Port & string)[]) =>
  z.custom<Port>(
    (value) => methods.every((method) => typeof (value as Port | null)?.[method] === 'function'),
    `must be an object with ${methods.join(' and ')}`,
  );

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

const storageWords = 'give what sqliteStorage({ file }) or postgresStorage({ connectionString }) makes';

/**
 * Schema for the option `storage`. Error texts never show the value, because a connection string may contain
 * a password.
 */
export const storage = z.custom<Storage>(
  (value) => typeof value === 'object' && value !== null && 'open' in value,
  {
    error: ({ input }) => {
      if (isMissing(input)) return `is missing; ${storageWords}`;
      if (typeof input === 'string') return `is text, and must be a storage; ${storageWords} of it`;
      if (typeof input === 'function') return `is a function, and must be what it makes; ${storageWords}`;
      if (input instanceof Promise) return `is a promise, and must be a storage; ${storageWords}`;
      return `is no storage; ${storageWords}`;
    },
  },
);

export const logger = z.custom<Logger>(
  (value) => levels.every((level) => typeof (value as Logger | null)?.[level] === 'function'),
  'must have the methods debug, info, warn and error; silentLogger logs nothing',
);

export const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #1a5fb4');

/**
 * Returns an object schema with one check for all members, in which each member's default value comes from a
 * table.
 */
export function eachWithDefault<const Table extends object, Check extends z.ZodType>(
  table: Table,
  check: Check,
): { readonly [Name in keyof Table]: z.ZodDefault<Check> } {
  const checks = Object.entries(table).map(([name, standard]) => [name, check.default(standard)]);
  return Object.fromEntries(checks);
}

export const perMinute = z.int().min(1).max(1_000_000);

/** Schema of a rate limit of the partner API. */
export const partnerLimit = knownOnly({
  requests: perMinute,
  windowSeconds: z.int().min(1).max(86_400),
});

/** Checks that a language tag is well-formed (BCP 47) and in canonical case. */
export function isLanguageTag(value: string): boolean {
  try {
    return Intl.getCanonicalLocales(value)[0] === value;
  } catch {
    return false;
  }
}
