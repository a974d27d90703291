/** The answer as it came. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The server's name for the request. */
  readonly requestId: string | null;
  /** The body before it was parsed. */
  readonly text: string;
  /** Number of attempts. */
  readonly attempts: number;
}

/**
 * Data, and the response that it came in.
 *
 * @typeParam Data - what was asked for
 */
export interface Answer<Data> {
  readonly data: Data;
  readonly response: RawResponse;
}

/**
 * Result of a call: a promise of its data, and the response on demand. The request is sent at once.
 */
export class ApiPromise<Data> extends Promise<Data> {
  readonly #answer: Promise<Answer<Data>>;

  /** `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<Answer<Data>>) {
    super((resolve) => resolve(answer.then(({ data }) => data)));
    this.#answer = answer;
  }

  /**
   * The data together with the response.
   *
   * @throws OstiaryError as the promise itself does
   * @example
   * ```ts
   * const { data, response } = await ostiary.payments.retrieve('tr_0123').withResponse();
   * console.log(data.status, response.headers.get('X-RateLimit-Remaining'));
   * ```
   */
  withResponse(): Promise<Answer<Data>> {
    // The caller handles the promise that is returned here; this one must not count as unhandled.
    this.catch(() => {});
    return this.#answer;
  }
}
