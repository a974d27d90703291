import { isBrowser } from './http/platform.ts';
import { signer } from './http/sign.ts';

/**
 * Accepts structured log lines: pino, console, or any object with these four methods. A line holds method,
 * path template, status, attempt, duration and request id, and after a failure its code and the pause before
 * the retry, but no ids of objects, phone numbers, bodies or keys.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Options of one call, which override those of the client. */
export interface RequestOptions {
  /** Signal that aborts the call at any time. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Time limit for one attempt including its body, in milliseconds.
   * @defaultValue the client's; for the client itself 30 000
   */
  readonly timeout?: number | undefined;
  /**
   * Time limit for the whole call with all attempts and pauses, in milliseconds.
   * @defaultValue the client's, and 3 600 000 for exports; for the client itself 120 000
   */
  readonly totalTimeout?: number | undefined;
  /**
   * Maximum number of retries of a failed call; 0 for none.
   * @defaultValue the client's; for the client itself 2
   */
  readonly maxRetries?: number | undefined;
}

/** Options of a call that takes effect only once. */
export interface IdempotentOptions extends RequestOptions {
  /**
   * Key that is sent with every attempt: 1 to 255 printable ASCII characters, without a space at the start or
   * end. With a key that you have stored, the call takes effect once even if your process dies and repeats
   * it. The server remembers a key for 24 hours; in test mode it may forget the oldest keys earlier.
   * @defaultValue a random key for each call
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options that the client passes to `fetch`. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  /**
   * Turns off the cache of Next.js, whose `fetch` ignores the `Cache-Control` of responses. Not the standard
   * option `cache`, which older Workers refuse.
   */
  readonly next: { readonly revalidate: 0 };
  readonly signal: AbortSignal;
  readonly body?: string;
}

/**
 * The part of `Response` that the SDK uses. Bodies of node-fetch and React Native are not streams of the
 * Fetch standard.
 */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body?: unknown;
  readonly bodyUsed?: boolean | undefined;
  /** Reads the whole body, on platforms without streams. */
  readonly text: () => Promise<string>;
}

/** Options of every client of this package. */
export interface TransportOptions extends Omit<RequestOptions, 'signal'> {
  /**
   * Sends requests: the platform's `fetch`, or another one such as node-fetch. It must not follow redirects,
   * repeat requests, or read the body of the response that it returns.
   * @defaultValue the platform's `fetch`
   */
  readonly fetch?: ((url: string, init: FetchRequest) => Promise<FetchResponse>) | undefined;
  /**
   * Logger that gets a line for each attempt.
   * @defaultValue no logger
   */
  readonly logger?: Logger | undefined;
  /** Returns the current time, in milliseconds since the Unix epoch; for tests. */
  readonly now?: (() => number) | undefined;
  /** Returns a random number from 0 to 1, which spreads retries over time; for tests. */
  readonly random?: (() => number) | undefined;
  /** Waits for a number of milliseconds between attempts; for tests. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Options of the client of the partner API. */
export interface OstiaryPartnerOptions extends TransportOptions {
  /** API key, such as `svc_live_…` or `svc_test_…`. */
  readonly apiKey: string;
  /** URL of the partner API: https, or http on this machine. */
  readonly baseUrl: string;
  /**
   * Secret that signs every request with a body. The signature covers the body alone, not the
   * `Idempotency-Key`. Give every payment a `reference`, so that a replayed body does not pay again.
   */
  readonly signingSecret?: string | undefined;
  /**
   * Prefix of the installation in header names and API keys, such as `svc`.
   * @defaultValue the prefix of the API key
   */
  readonly prefix?: string | undefined;
  /**
   * Allows the client to run in a browser, where every visitor can read the API key.
   * @defaultValue false
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** Checked options of a connection. */
export interface Connection
  extends Required<
    Omit<{ [Name in keyof TransportOptions]: NonNullable<TransportOptions[Name]> }, 'logger'>
  > {
  readonly base: string;
  readonly headers: { readonly [name: string]: string };
  /** Secrets that errors and logs must not contain. */
  readonly secrets: readonly string[];
  readonly logger: Logger | undefined;
  /** True if `fetch` is the platform's own function. */
  readonly trusted: boolean;
  readonly sign?: (body: string) => Promise<Record<string, string>>;
}

const callNames = ['signal', 'timeout', 'totalTimeout', 'maxRetries'];
const transportNames = [...callNames.slice(1), 'fetch', 'logger', 'now', 'random', 'sleep'];

/** Throws a TypeError for a wrong option. The message never quotes the value, which may be a secret. */
export function refuse(problem: string): never {
  throw new TypeError(problem);
}

/**
 * Checks that an object of options has only known members. @throws TypeError for another type or an unknown
 * name
 */
export function checkNames(options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) refuse('options must be an object');
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) refuse(`unknown option ${name.slice(0, 20)}`);
  }
}

function checkTimes({ timeout, totalTimeout, maxRetries }: RequestOptions): void {
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    // Most platforms run timers above this value at once.
    if (value !== undefined && !(typeof value === 'number' && value > 0 && value < 2 ** 31)) {
      refuse(`${name} must be milliseconds below 2^31`);
    }
  }
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 100)) {
    refuse('maxRetries must be an integer, 0 to 100');
  }
}

/** Checks the options of a call. @throws TypeError */
export function checkCallOptions(options: IdempotentOptions, keyed: boolean): void {
  checkNames(options, keyed ? [...callNames, 'idempotencyKey'] : callNames);
  checkTimes(options);
  const { signal, idempotencyKey } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    refuse('signal must be an AbortSignal');
  if (idempotencyKey !== undefined && !/^[!-~]([ -~]{0,253}[!-~])?$/.test(String(idempotencyKey))) {
    refuse('idempotencyKey must be 1 to 255 ASCII characters');
  }
}

/** Checks a URL and removes the slash at its end. @throws TypeError */
export function checkUrl(name: string, value: unknown): string {
  let href = '';
  try {
    ({ href } = new URL(value as string));
  } catch {
    // An invalid URL is refused below.
  }
  if (!/^(https:\/\/|http:\/\/(localhost|127(\.\d+){3}|\[::1\])[:/])[^@?#]*$/.test(href)) {
    refuse(`${name} must be https, or http on loopback, without user, query, fragment`);
  }
  return href.replace(/\/+$/, '');
}

/**
 * Calls the global `fetch`. The global is read for every request, so that a later instrumentation or mock is
 * used.
 */
const platformFetch = (url: string, init: FetchRequest): Promise<FetchResponse> =>
  globalThis.fetch(url, init);

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
}

/** Checks the options that all clients share, and fills in the defaults. @throws TypeError */
export function checkTransport(
  options: TransportOptions,
  names: readonly string[],
): Omit<Connection, 'base' | 'headers' | 'secrets'> {
  checkNames(options, [...names, ...transportNames]);
  checkTimes(options);
  const { fetch = platformFetch, now = Date.now, random = Math.random, sleep = pause, logger } = options;
  for (const [name, value] of Object.entries({ fetch, now, random, sleep })) {
    if (typeof value !== 'function') refuse(`${name} must be a function`);
  }
  if (logger !== undefined && (typeof logger?.debug !== 'function' || typeof logger.warn !== 'function')) {
    refuse('logger must have debug, info, warn, error');
  }
  const { timeout = 30_000, totalTimeout = 120_000, maxRetries = 2 } = options;
  const trusted = options.fetch === undefined;
  return { timeout, totalTimeout, maxRetries, fetch, now, random, sleep, logger, trusted };
}

/** Checks the options of the partner client, and fills in the defaults. @throws TypeError */
export function checkPartnerOptions(options: OstiaryPartnerOptions): {
  readonly connection: Connection;
  readonly mode: 'live' | 'test';
} {
  const transport = checkTransport(options, [
    'apiKey',
    'baseUrl',
    'signingSecret',
    'prefix',
    'dangerouslyAllowBrowser',
  ]);
  const { apiKey, baseUrl, signingSecret, dangerouslyAllowBrowser } = options;
  if (isBrowser() && dangerouslyAllowBrowser !== true) {
    refuse('in a browser everybody can read the apiKey: dangerouslyAllowBrowser');
  }
  const [, named, mode] =
    /^([a-z][a-z0-9]{1,15})_(live|test)_[0-9A-Za-z]{16,200}$/.exec(String(apiKey)) ?? [];
  if (named === undefined || typeof apiKey !== 'string') {
    return refuse('apiKey must have the form svc_live_… or svc_test_…');
  }
  const { prefix = named } = options;
  if (prefix !== named) refuse('prefix must be the one of the apiKey');
  if (
    signingSecret !== undefined &&
    !(typeof signingSecret === 'string' && /^\S{16,}$/.test(signingSecret))
  ) {
    refuse('signingSecret must be 16+ characters without white space');
  }
  return {
    mode: mode as 'live' | 'test',
    connection: {
      ...transport,
      base: checkUrl('baseUrl', baseUrl),
      headers: { 'X-API-Key': apiKey },
      secrets: [apiKey, ...(signingSecret === undefined ? [] : [signingSecret])],
      ...(signingSecret === undefined ? {} : { sign: signer(signingSecret, prefix, transport.now) }),
    },
  };
}
