import type { ErrorFacts, OstiaryError, Outcome } from '../errors.ts';
import { type CallOptions, type Connection, checkCallOptions } from '../options.ts';
import { type Answer, ApiPromise } from './api-promise.ts';
import { objectOf, textOf, Unreadable } from './body.ts';
import { type Failure, failureBy, failureOf, outcomeAfter, requestIdOf } from './failure.ts';
import { pathOf, queryOf, type Values } from './path.ts';
import { webCrypto } from './platform.ts';
import { type Watch, watch } from './watch.ts';

/** One operation of the API. */
export interface ApiRequest {
  /** @defaultValue `'GET'` */
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  /** Its template, such as `/v1/partner/payments/{id}`: what is logged. */
  readonly path: string;
  readonly values?: Values;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: { readonly [name: string]: string };
  /**
   * Why it may be repeated: it does not matter how often it is done, which is the default; or its `Idempotency-Key` makes all
   * attempts one. `once`: it may not, unless it was refused.
   */
  readonly repeat?: 'key' | 'once';
}

/** Reads an answer of a good status. */
type Accept<Result> = (response: Response, controller: AbortController, attempt: number) => Promise<Result>;

/** The server is never asked again later than this by itself, in milliseconds. */
const longestPause = 60_000;

function logTo({ logger }: Connection, level: 'debug' | 'warn', fields: object): void {
  try {
    logger?.[level](fields, level === 'debug' ? 'request done' : 'request failed');
  } catch {
    // An answer is worth more than its line in the log.
  }
}

/** What is thrown for a failure. No text from outside may carry a secret into it. */
export function errorOf(
  secrets: readonly string[],
  failure: Failure,
  facts: Pick<ErrorFacts, 'outcome' | 'attempts' | 'idempotencyKey'>,
): OstiaryError {
  const { Class, message, effect: _, requestId, ...known } = failure;
  return new Class(redact(secrets, message), {
    ...known,
    requestId: requestId && redact(secrets, requestId),
    ...facts,
  });
}

function redact(secrets: readonly string[], text: string): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '[redacted]'), text);
}

/** Tries until there is an answer, or none can be expected. @throws OstiaryError */
export async function tryRepeatedly<Result>(
  connection: Connection,
  request: ApiRequest,
  options: CallOptions,
  watching: Watch,
  accept: Accept<Result>,
): Promise<Result> {
  const { method = 'GET', path, repeat, values = {}, query = {} } = request;
  const { fetch, now, random, sleep } = connection;
  const { timeout = connection.timeout, maxRetries = connection.maxRetries } = options;
  const url = connection.base + pathOf(path, values) + queryOf(query as Values);
  // Some platforms name the address in their errors: there are phone numbers in it.
  const secrets = [...connection.secrets, url];
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const idempotencyKey =
    repeat === 'key' ? (options.idempotencyKey ?? (await webCrypto()).randomUUID()) : null;
  const fixed: Record<string, string> = { ...connection.headers, ...request.headers };
  if (body !== undefined) fixed['Content-Type'] = 'application/json';
  if (idempotencyKey !== null) fixed['Idempotency-Key'] = idempotencyKey;

  async function attempt(
    number: number,
  ): Promise<{ readonly result: Result; readonly response: Response } | Failure> {
    const controller = new AbortController();
    let response: Response | undefined;
    let sent = false;
    try {
      return await watching.during(
        timeout,
        async (signal) => {
          const signature = body === undefined ? {} : await connection.sign?.(body);
          // Who was stopped while it signed has said that nothing was sent; not every `fetch` looks at its signal.
          signal.throwIfAborted();
          sent = true;
          const headers = { ...fixed, ...signature };
          response = await fetch(url, {
            method,
            headers,
            redirect: 'manual',
            signal,
            ...(body === undefined ? {} : { body }),
          });
          if (response.ok) return { result: await accept(response, controller, number), response };
          // What a redirect says is not worth waiting for.
          if (response.status < 400) response.body?.cancel().catch(() => {});
          const text = response.status < 400 ? '' : redact(secrets, await textOf(response));
          return failureOf(response, text, now());
        },
        controller,
      );
    } catch (error) {
      return failureBy(error, { sent, trusted: connection.trusted, response });
    }
  }

  let outcome: Outcome = 'not_executed';
  for (let number = 1; ; number += 1) {
    const began = performance.now();
    const tried = await attempt(number);
    const fields = { method, path, attempt: number, durationMs: Math.round(performance.now() - began) };
    if ('result' in tried) {
      const { status } = tried.response;
      logTo(connection, 'debug', { ...fields, status, requestId: requestIdOf(tried.response) });
      return tried.result;
    }
    outcome = outcomeAfter(outcome, tried.effect);
    // Full jitter, so that those who failed together do not come back together.
    const pause = (tried.retryAfter ?? 0) + random() * Math.min(8_000, 500 * 2 ** (number - 1));
    const retryable = tried.retryable && (repeat !== 'once' || outcome === 'not_executed');
    const again =
      retryable && number <= maxRetries && (tried.retryAfter ?? 0) <= longestPause && pause < watching.left();
    const error = errorOf(secrets, { ...tried, retryable }, { outcome, attempts: number, idempotencyKey });
    const { status, code, requestId } = error;
    const retryInMs = again ? Math.round(pause) : null;
    logTo(connection, 'warn', { ...fields, status, code, requestId, retryInMs });
    if (!again) throw error;
    try {
      await watching.during(2 ** 31 - 1, (signal) => sleep(pause, signal));
    } catch (thrown) {
      const stopped = failureBy(thrown, {});
      throw errorOf(secrets, stopped, { outcome, attempts: number, idempotencyKey });
    }
  }
}

/**
 * Calls an operation that answers a JSON object.
 * @param make - makes the data of it; throws `Unreadable` when it cannot
 */
export function call<Data, Body = Data>(
  connection: Connection,
  request: ApiRequest,
  options: CallOptions = {},
  make: (body: Body) => Data = (body) => body as unknown as Data,
): ApiPromise<Data> {
  async function run(): Promise<Answer<Data>> {
    checkCallOptions(options, request.repeat === 'key');
    const watching = watch(options.signal, options.totalTimeout ?? connection.totalTimeout);
    const read: Accept<Answer<Data>> = async (response, _, attempts) => {
      const text = await textOf(response);
      const body = objectOf(text);
      if (body === null) throw new Unreadable();
      const { status, headers } = response;
      const requestId = requestIdOf(response);
      return { data: make(body as Body), response: { status, headers, requestId, text, attempts } };
    };
    try {
      return await tryRepeatedly(connection, request, options, watching, read);
    } finally {
      watching.close();
    }
  }
  return new ApiPromise(run());
}
