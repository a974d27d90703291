import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { SentEvent } from './events.ts';

/** Request to create a sandbox passport. */
export interface SandboxPassportRequest {
  /** Public id of a user of the sandbox; `KID-TEST-APPROVED` by default. */
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

/** Request to trigger an event in the sandbox. */
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
  /**
   * Code of the problem that a check of the request's signature found, such as `signature_mismatch`; `null`
   * if the signature is valid.
   */
  readonly signatureError: string | null;
  /** Response to the request; `null` while there is none. */
  readonly answer: InboxAnswer | null;
}

/** Response to a request in an inbox. */
export interface InboxAnswer {
  readonly httpStatus: number | null;
  /** Reason why there was no response, such as `timeout`; `null` if there was one. */
  readonly error: string | null;
  /** Beginning of the response's body; `null` if there was no response. */
  readonly response: string | null;
}

/** Requests of an inbox. */
export interface InboxRequests {
  readonly data: readonly InboxRequest[];
}

/** Options of a call that waits for requests of an inbox. */
export interface TakeRequest {
  /** Seconds to wait for a first request, 0 to 20; 0 by default. The call's `timeout` must be longer. */
  readonly waitSeconds?: number | undefined;
}

/** Response of your server to a request that was taken: its status, or the reason why there was none. */
export interface AnswerRequest {
  readonly httpStatus?: number | undefined;
  /** Beginning of your server's response. */
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

/**
 * Result of responding to an inbox request: whether the response became the result of the delivery attempt.
 */
export interface AnswerCounted {
  /**
   * True if the response became the result of the attempt; `false` if the attempt was over or had a response
   * already, or if the request was not taken or has been removed.
   */
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
   * Creates a passport for a user of the sandbox. An additional passport does no harm, so a failed call is
   * repeated.
   *
   * @throws OstiaryError `not_found` with a live key, or if the sandbox has no such user
   */
  createPassport(request?: SandboxPassportRequest, options?: RequestOptions): ApiPromise<SandboxPassport>;
  /**
   * Triggers an event and delivers it to your test endpoints that subscribe to its type.
   *
   * @throws OstiaryError `not_found` with a live key; `invalid_request` for an unknown type, or wrong data
   */
  triggerEvent(request: SandboxEventRequest, options?: IdempotentOptions): ApiPromise<SentEvent>;
  /**
   * Lists the last 50 requests in the inbox of an endpoint whose URL begins with `inbox:`, newest first.
   *
   * @throws OstiaryError `not_found` if the endpoint does not exist, or with a live key
   */
  listRequests(endpointId: string, options?: RequestOptions): ApiPromise<InboxRequests>;
  /**
   * Takes the requests of an endpoint with the URL `inbox:listen`, to respond to them with {@link
   * Sandbox.answerRequest} within ten seconds. Each request is returned once. `npx @ostiary/listen` does this
   * for a server on your machine.
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
   * Sends the response to a request that was taken from an inbox. The delivery attempt ends with this
   * response, unless it was over already.
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
