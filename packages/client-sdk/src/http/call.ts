import { type ErrorFacts, type OstiaryError, type Outcome, ProtocolError } from '../errors.ts';
import { type Connection, checkCallOptions, type FetchResponse, type IdempotentOptions } from '../options.ts';
import { type Answer, ApiPromise } from './api-promise.ts';
import { Broken, fromPlatform, objectOf, textOf, Unreadable } from './body.ts';
import { type Failure, failureBy, failureOf, outcomeAfter, requestIdOf } from './failure.ts';
import { pathOf, queryOf, type Values } from './path.ts';
import { hex, randomBytes } from './platform.ts';
import { Stopped, type Watch, watch } from './watch.ts';

/** Description of one operation of the API. */
export interface ApiRequest {
  /** HTTP method. @defaultValue `'GET'` */
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  /**
   * Template of the request's path, such as `/v1/partner/payments/{id}`. Log lines contain the template
   * instead of the path.
   */
  readonly path: string;
  readonly values?: Values;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: { readonly [name: string]: string };
  /**
   * Decides whether a call is retried after a failure that may pass. Missing: yes, because the operation is
   * safe to repeat. `key`: yes, because its `Idempotency-Key` makes all attempts take effect only once.
   * `once`: only if no attempt was executed, because the server refused it or was not reached.
   */
  readonly repeat?: 'key' | 'once';
}

/** Function that reads a response with a success status. */
type Accept<Result> = (response: FetchResponse, controller: AbortController) => Promise<Result>;

/**
 * Longest wait that the client accepts from the server (`Retry-After`), in milliseconds. If the server asks for
 * more, the call fails without another attempt.
 */
const longestPause = 60_000;

function logTo({ logger }: Connection, level: 'debug' | 'warn', fields: object): void {
  try {
    logger?.[level](fields, level === 'debug' ? 'request done' : 'request failed');
  } catch {
    // An error of the logger must not cost the caller the response.
  }
}

/** Makes the error of a failed call. Removes secrets from texts that the server sent back. */
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

/** Parts of a request that are the same for every attempt. */
interface Prepared {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
  readonly idempotencyKey: string | null;
  readonly secrets: readonly string[];
}

function prepare(connection: Connection, request: ApiRequest, options: IdempotentOptions): Prepared {
  const { method = 'GET', path, repeat, values = {}, query = {} } = request;
  const url = connection.base + pathOf(path, values) + queryOf(query as Values);
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const idempotencyKey = repeat === 'key' ? (options.idempotencyKey ?? hex(randomBytes())) : null;
  const headers: Record<string, string> = { ...connection.headers, ...request.headers };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
  // The URL may contain phone numbers, and some platforms put it into their errors.
  return { method, url, body, headers, idempotencyKey, secrets: [...connection.secrets, url] };
}

/** Result of a successful attempt. */
interface Success<Result> {
  readonly result: Result;
  readonly response: FetchResponse;
}

/**
 * Checks whether the `fetch` of Next.js has thrown an error that ends the static rendering of a page. Next.js
 * marks such errors with a `digest` and needs them back.
 */
const endsRendering = (thrown: unknown): boolean =>
  typeof (Object(thrown) as { digest?: unknown }).digest === 'string';

/**
 * Sends a request once. Returns a failure instead of throwing it. @throws TypeError if the request could not
 * be signed; errors of Next.js that end the static rendering of a page
 */
async function attempt<Result>(
  { fetch, now, trusted, sign }: Connection,
  { method, url, body, headers, secrets }: Prepared,
  watching: Watch,
  timeout: number,
  accept: Accept<Result>,
): Promise<Success<Result> | Failure> {
  const controller = new AbortController();
  let response: FetchResponse | undefined;
  let sent = false;
  const work = async (signal: AbortSignal): Promise<Success<Result> | Failure> => {
    const signature = body === undefined ? {} : await sign?.(body);
    // If the call was stopped while it was being signed, it has reported that nothing was sent. Check again,
    // because not every `fetch` honours its signal.
    if (signal.aborted) throw new Stopped('aborted');
    sent = true;
    response = await fromPlatform(() =>
      fetch(url, {
        method,
        headers: { ...headers, ...signature },
        redirect: 'manual',
        next: { revalidate: 0 },
        signal,
        ...(body === undefined ? {} : { body }),
      }),
    );
    if (response.ok) return { result: await accept(response, controller), response };
    // The body of a redirect is not read.
    const text = response.status < 400 ? '' : redact(secrets, await textOf(response));
    return failureOf(response, text, now());
  };
  let tried: Success<Result> | Failure;
  try {
    tried = await watching.during(timeout, work, controller);
  } catch (error) {
    // Signing failed, for example on a platform without WebCrypto.
    if (!sent && !(error instanceof Stopped)) throw error;
    if (error instanceof Broken && endsRendering(error.thrown)) throw error.thrown;
    tried = failureBy(error, { sent, trusted, response });
  }
  // Abort what is still running, such as a redirect's body or one that is too long.
  if ('effect' in tried) controller.abort();
  return tried;
}

/** Sends a request until it succeeds or a retry makes no sense. @throws OstiaryError */
export async function tryRepeatedly<Result>(
  connection: Connection,
  request: ApiRequest,
  options: IdempotentOptions,
  watching: Watch,
  accept: Accept<Result>,
): Promise<Success<Result> & { readonly attempts: number }> {
  const { random, sleep } = connection;
  const { timeout = connection.timeout, maxRetries = connection.maxRetries } = options;
  const prepared = prepare(connection, request, options);
  const { method, idempotencyKey, secrets } = prepared;

  let outcome: Outcome = 'not_executed';
  for (let number = 1; ; number += 1) {
    const began = performance.now();
    const tried = await attempt(connection, prepared, watching, timeout, accept);
    const durationMs = Math.round(performance.now() - began);
    const fields = { method, path: request.path, attempt: number, durationMs };
    if ('result' in tried) {
      const { status } = tried.response;
      logTo(connection, 'debug', { ...fields, status, requestId: requestIdOf(tried.response) });
      return { ...tried, attempts: number };
    }
    outcome = outcomeAfter(outcome, tried.effect);
    const asked = tried.retryAfter ?? 0;
    // Full jitter, so that clients that failed together do not retry together.
    const pause = asked + random() * Math.min(8_000, 500 * 2 ** (number - 1));
    const repeatable = request.repeat !== 'once' || outcome === 'not_executed';
    // Do not repeat an executed write just because its response was unreadable: the next response would be,
    // too.
    const isDone = method !== 'GET' && tried.effect === 'executed' && tried.Class === ProtocolError;
    const retryable = tried.retryable && repeatable && !isDone;
    const again = retryable && number <= maxRetries && asked <= longestPause && pause < watching.left();
    const error = errorOf(secrets, { ...tried, retryable }, { outcome, attempts: number, idempotencyKey });
    const { status, code, requestId } = error;
    const retryInMs = again ? Math.round(pause) : null;
    logTo(connection, 'warn', { ...fields, status, code, requestId, retryInMs });
    if (!again) throw error;
    try {
      await watching.during(2 ** 31 - 1, (signal) => sleep(pause, signal));
    } catch (thrown) {
      if (!(thrown instanceof Stopped)) throw thrown;
      throw errorOf(secrets, failureBy(thrown, {}), { outcome, attempts: number, idempotencyKey });
    }
  }
}

/**
 * Calls an operation that returns a JSON object.
 * @param make - converts the JSON object to the data; throws `Unreadable` if it cannot
 */
export function call<Data, Body = Data>(
  connection: Connection,
  request: ApiRequest,
  options: IdempotentOptions = {},
  make: (body: Body) => Data = (body) => body as unknown as Data,
): ApiPromise<Data> {
  async function run(): Promise<Answer<Data>> {
    checkCallOptions(options, request.repeat === 'key');
    const watching = watch(options.signal, options.totalTimeout ?? connection.totalTimeout);
    try {
      const { result, response, attempts } = await tryRepeatedly(
        connection,
        request,
        options,
        watching,
        async (answer) => {
          const text = await textOf(answer);
          const body = objectOf(text);
          if (body === null) throw new Unreadable();
          return { text, data: make(body as Body) };
        },
      );
      const { status } = response;
      // Responses of other `fetch` implementations have the same methods.
      const headers = response.headers as Headers;
      const { text, data } = result;
      return { data, response: { status, headers, requestId: requestIdOf(response), text, attempts } };
    } finally {
      watching.close();
    }
  }
  return new ApiPromise(run());
}
