/** HTTP response as it arrived. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Id of the request at the server. */
  readonly requestId: string | null;
  /** Body of the response before it was parsed. */
  readonly text: string;
  /** Number of attempts that the call made. */
  readonly attempts: number;
}

/**
 * Data of a call, together with the HTTP response that contained it.
 *
 * @typeParam Data - data of the call
 */
export interface Answer<Data> {
  readonly data: Data;
  readonly response: RawResponse;
}

/**
 * Result of an API call: a promise of its data, with access to the HTTP response. The request is sent at
 * once.
 */
export class ApiPromise<Data> extends Promise<Data> {
  readonly #answer: Promise<Answer<Data>>;

  /** Makes `then` of this promise return an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<Answer<Data>>) {
    super((resolve) => resolve(answer.then(({ data }) => data)));
    this.#answer = answer;
  }

  /**
   * Returns the data together with the HTTP response.
   *
   * @throws OstiaryError if the call fails, as the promise itself does
   * @example
   * ```ts
   * const { data, response } = await ostiary.payments.retrieve('tr_0123').withResponse();
   * console.log(data.status, response.headers.get('X-RateLimit-Remaining'));
   * ```
   */
  withResponse(): Promise<Answer<Data>> {
    // The caller handles the returned promise, so mark this one as handled.
    this.catch(() => {});
    return this.#answer;
  }
}
