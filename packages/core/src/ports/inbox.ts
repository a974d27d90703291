import type { Quota } from './lists.ts';
import type { Owner } from './partners.ts';

/** Response of an inbox to a webhook request. */
export interface InboxAnswer {
  /** HTTP status; `null` if there was no response. */
  readonly httpStatus: number | null;
  /** Reason why there is no response; `null` if there is one. */
  readonly error: string | null;
  /** Beginning of the response body; `null` if there is no response. */
  readonly response: string | null;
}

/**
 * A webhook request that arrived in the inbox of a test endpoint. Times are milliseconds since the Unix
 * epoch.
 */
export interface InboxRequest extends Owner {
  /** Unique id of the request: `in_…`. */
  readonly id: string;
  readonly endpointId: string;
  readonly receivedAt: number;
  /** Headers in the order in which they were sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Code of the problem that the signature check found on arrival; `null` if the signature was valid. */
  readonly signatureError: string | null;
  /** Response of the inbox to the webhook request; `null` while there is none. */
  readonly answer: InboxAnswer | null;
}

/** Stores the latest webhook requests of each inbox. */
export interface InboxStore {
  /**
   * Stores a request of an inbox. Keeps the newest `most` requests of its endpoint, by `receivedAt`, then id,
   * and removes older ones.
   */
  add(request: InboxRequest, most: number): Promise<void>;

  /** Returns a request of an inbox; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<InboxRequest | null>;

  /**
   * Lists the requests of an endpoint, newest first: by `receivedAt`, then by id, both descending. Returns at
   * most `limit`.
   */
  list(request: Owner & { readonly endpointId: string; readonly limit: number }): Promise<InboxRequest[]>;

  /**
   * Takes requests of an inbox that have no response and that arrived at or after `since`, the oldest first,
   * at most `limit`. Each request is returned by one call only.
   */
  take(
    request: Owner & { readonly endpointId: string; readonly since: number; readonly limit: number },
  ): Promise<InboxRequest[]>;

  /**
   * Stores the response to an inbox request that a program took. Returns `false` and changes nothing if the
   * request is unknown, belongs to another owner, was not taken, or has a response already.
   */
  answer(owner: Owner, id: string, answer: InboxAnswer): Promise<boolean>;

  /**
   * Stores the result of an attempt that ended before a program responded, whether a program took the request
   * or not. No program can take the request or respond to it afterwards. Returns `false` and changes nothing
   * if the request is unknown, belongs to another owner, or has a response already.
   */
  end(owner: Owner, id: string, result: InboxAnswer): Promise<boolean>;

  /**
   * Removes inbox requests of one partner and mode that arrived before `before` or exceed a quota, the oldest
   * first, at most `limit`. Returns the number of removed requests. The quota's bytes count headers and
   * bodies.
   */
  removeOldest(request: Owner & Quota & { readonly before: number; readonly limit: number }): Promise<number>;
}
