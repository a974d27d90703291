import { isBrowser } from './http/platform.ts';
import { signer } from './http/sign.ts';

/**
 * Takes structured lines: pino, console, or anything with these four methods. A line holds method, path template, status,
 * attempt, duration and request id: no ids, phone numbers, bodies or keys.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Options of one call that differ from those of the client. */
export interface RequestOptions {
  /** Ends the call, wherever it is. */
  readonly signal?: AbortSignal | undefined;
  /**
   * For one attempt, its body included, in milliseconds.
   * @defaultValue what the client has; 30 000
   */
  readonly timeout?: number | undefined;
  /**
   * For the call with all its attempts and pauses, in milliseconds.
   * @defaultValue what the client has; 120 000
   */
  readonly totalTimeout?: number | undefined;
  /**
   * Number of retries; 0: never.
   * @defaultValue what the client has; 2
   */
  readonly maxRetries?: number | undefined;
}

/** Options of one call that takes effect once. */
export interface IdempotentOptions extends RequestOptions {
  /**
   * Sent with every attempt: 1 to 255 printable ASCII characters. Give one that you have stored, and the call takes effect
   * once even if your process dies between two calls.
   * @defaultValue a random one for each call
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options that the client passes to `fetch`. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** As much of a `Response` as is needed: those of node-fetch and of React Native have no stream of the Fetch standard. */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body?: unknown;
  readonly bodyUsed?: boolean | undefined;
  /** Reads the whole body, where there is no stream. */
  readonly text: () => Promise<string>;
}

/** Options of every client of this package. */
export interface TransportOptions extends Omit<RequestOptions, 'signal'> {
  /**
   * Sends requests: the platform's own, or another one such as node-fetch. It must not follow redirects nor repeat requests by
   * itself, nor read the body of an answer that it returns.
   * @defaultValue the platform's `fetch`
   */
  readonly fetch?: ((url: string, init: FetchRequest) => Promise<FetchResponse>) | undefined;
  /**
   * Takes a line for each attempt.
   * @defaultValue none
   */
  readonly logger?: Logger | undefined;
  /** The present, in milliseconds since the Unix epoch; for tests. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1, spreads retries; for tests. */
  readonly random?: (() => number) | undefined;
  /** Pauses between attempts; for tests. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Options of the client of the partner API. */
export interface OstiaryPartnerOptions extends TransportOptions {
  /** `svc_live_…` or `svc_test_…` */
  readonly apiKey: string;
  /** URL of the API: https, or http on this machine. */
  readonly baseUrl: string;
  /**
   * Signs every request with a body, when given. A signature covers the body alone: give every payment a `reference`, so that a body
   * which somebody else sends again pays nothing. The `Idempotency-Key` is not signed, and no help there.
   */
  readonly signingSecret?: string | undefined;
  /**
   * The wire prefix of the installation.
   * @defaultValue what the API key begins with
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
  /** Secrets, which must not appear in errors or logs. */
  readonly secrets: readonly string[];
  readonly logger: Logger | undefined;
  /** True if `fetch` is the platform's. */
  readonly trusted: boolean;
  readonly sign?: (body: string) => Promise<Record<string, string>>;
}

const callNames = ['signal', 'timeout', 'totalTimeout', 'maxRetries'];
const transportNames = [...callNames.slice(1), 'fetch', 'logger', 'now', 'random', 'sleep'];

/** Throws the TypeError of a wrong option. It never quotes a value: that may be a secret. */
export function refuse(problem: string): never {
  throw new TypeError(problem);
}

/** @throws TypeError for what is no object, or has members that nobody knows */
export function checkNames(options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) refuse('options must be an object');
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) refuse(`unknown option ${name.slice(0, 20)}`);
  }
}

function checkTimes({ timeout, totalTimeout, maxRetries }: RequestOptions): void {
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    // Timers of most platforms run at once when they are set to more.
    if (value !== undefined && !(typeof value === 'number' && value > 0 && value < 2 ** 31)) {
      refuse(`${name} must be milliseconds below 2^31`);
    }
  }
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 100)) {
    refuse('maxRetries must be an integer, 0 to 100');
  }
}

/** @throws TypeError */
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

/** The address without a slash at its end. @throws TypeError */
export function checkUrl(name: string, value: unknown): string {
  let href = '';
  try {
    ({ href } = new URL(value as string));
  } catch {
    // Refused below.
  }
  if (!/^(https:\/\/|http:\/\/(localhost|127(\.\d+){3}|\[::1\])[:/])[^@?#]*$/.test(href)) {
    refuse(`${name} must be https, or http on loopback, without user, query, fragment`);
  }
  return href.replace(/\/+$/, '');
}

/** Looked up at every request, so that a `fetch` that is instrumented or mocked later is used. */
const platformFetch = (url: string, init: FetchRequest): Promise<FetchResponse> =>
  globalThis.fetch(url, init);

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
}

/** @throws TypeError */
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

/** @throws TypeError */
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
    return refuse('apiKey must look like svc_live_… or svc_test_…');
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
