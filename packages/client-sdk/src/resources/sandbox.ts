import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { SentEvent } from './events.ts';

/** A passport to create. */
export interface SandboxPassportRequest {
  /** A user of the sandbox; `KID-TEST-APPROVED` by default. */
  readonly kid?: string | undefined;
  /** True to create a passport that has already expired. */
  readonly expired?: boolean | undefined;
}

/** A passport of the sandbox. */
export interface SandboxPassport {
  readonly token: string;
  readonly kid: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/** An event to trigger. */
export interface SandboxEventRequest {
  readonly type: string;
  /** Data of the event; by default example data. */
  readonly data?: { readonly [name: string]: unknown } | undefined;
}

/** A request that arrived in the inbox of a test endpoint. */
export interface InboxRequest {
  /** Id of the request, such as `in_…`. */
  readonly id: string;
  readonly endpointId: string;
  readonly receivedAt: string;
  readonly method: 'POST';
  /** Headers in the order in which they were sent. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Body of the request: its bytes are the UTF-8 of this text. */
  readonly body: string;
  /** Problem that a check of the signature found, such as `signature_mismatch`; `null` if it is valid. */
  readonly signatureError: string | null;
  /** Response to the request; `null` while there is none. */
  readonly answer: InboxAnswer | null;
}

/** Response to a request in an inbox. */
export interface InboxAnswer {
  readonly httpStatus: number | null;
  /** Reason why there was no response, such as `timeout`; `null` if there was one. */
  readonly error: string | null;
  /** Beginning of the response; `null` if there was none. */
  readonly response: string | null;
}

/** Requests of an inbox. */
export interface InboxRequests {
  readonly data: readonly InboxRequest[];
}

/** Time to wait for requests. */
export interface TakeRequest {
  /** Seconds to wait for a first request, 0 to 20; 0 by default. Needs a longer `timeout` of the call. */
  readonly waitSeconds?: number | undefined;
}

/** Response of your server to a request that was taken: its status, or the reason why there was none. */
export interface AnswerRequest {
  readonly httpStatus?: number | undefined;
  /** Beginning of the response. */
  readonly response?: string | undefined;
  readonly error?:
    | 'timeout'
    | 'connection_refused'
    | 'connection_failed'
    | 'connection_reset'
    | 'certificate'
    | 'tls'
    | 'protocol'
    | undefined;
}

/** Tells whether an answer became the result of the delivery attempt. */
export interface AnswerCounted {
  /** `false`: the attempt was over, or had an answer already. */
  readonly counted: boolean;
}

/**
 * Operations for trying things out, which only test keys have.
 *
 * @example
 * ```ts
 * const { token } = await ostiary.sandbox.createPassport({ kid: 'KID-TEST-APPROVED' });
 * console.log((await ostiary.passports.verify({ token })).user.kid);
 * ```
 */
export interface Sandbox {
  /**
   * Mints a passport for a user of the sandbox. An additional passport does no harm, so a failed call is
   * repeated.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  createPassport(request?: SandboxPassportRequest, options?: RequestOptions): ApiPromise<SandboxPassport>;
  /**
   * Triggers an event and delivers it to your test endpoints.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  triggerEvent(request: SandboxEventRequest, options?: IdempotentOptions): ApiPromise<SentEvent>;
  /**
   * Lists the last 50 requests in the inbox of an endpoint whose URL begins with `inbox:`, newest first.
   *
   * @throws OstiaryError `not_found` if the endpoint does not exist, or with a live key
   */
  listRequests(endpointId: string, options?: RequestOptions): ApiPromise<InboxRequests>;
  /**
   * Takes the requests of an endpoint with the URL `inbox:listen`, to answer them with
   * {@link Sandbox.answerRequest} within ten seconds. Each request is returned once. `npx @ostiary/listen`
   * does this for a server on your machine.
   *
   * @throws OstiaryError `not_found` if the endpoint does not exist, or with a live key; `invalid_request` for
   * an endpoint with another URL
   */
  takeRequests(
    endpointId: string,
    request?: TakeRequest,
    options?: RequestOptions,
  ): ApiPromise<InboxRequests>;
  /**
   * Answers a request that was taken. The delivery attempt ends with this result.
   *
   * @throws OstiaryError `not_found` with a live key
   */
  answerRequest(id: string, request: AnswerRequest, options?: RequestOptions): ApiPromise<AnswerCounted>;
}

export function sandbox(connection: Connection): Sandbox {
  const path = '/v1/partner/sandbox';
  return {
    createPassport: (body = {}, options) =>
      call(connection, { method: 'POST', path: `${path}/passports`, body }, options),
    triggerEvent: (body, options) =>
      call(connection, { method: 'POST', path: `${path}/events`, body, repeat: 'key' }, options),
    listRequests: (id, options) =>
      call(connection, { path: '/v1/partner/webhooks/{id}/requests', values: { id } }, options),
    // A repeated call could lose the requests that the first one took.
    takeRequests: (id, body = {}, options) => {
      const path = '/v1/partner/webhooks/{id}/take';
      return call(connection, { method: 'POST', path, values: { id }, body, repeat: 'once' }, options);
    },
    answerRequest: (id, body, options) =>
      call(
        connection,
        { method: 'POST', path: '/v1/partner/inbox/{id}/answer', values: { id }, body },
        options,
      ),
  };
}
