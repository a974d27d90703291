import type { ListPosition, Quota } from './lists.ts';
import type { Owner } from './partners.ts';

/** A request to the partner API, as the people of its partner see it afterwards. Times are milliseconds since the Unix epoch. */
export interface LoggedRequest extends Owner {
  /** The `X-Request-Id` of its answer. */
  readonly id: string;
  /** The API key that it carried. */
  readonly keyId: string;
  /** Time of the request. */
  readonly createdAt: number;
  /** Until its answer was sent, in milliseconds. */
  readonly durationMs: number;
  readonly method: string;
  /** As the route table has it: `/v1/partner/payments/:id`. */
  readonly route: string;
  readonly status: number;
  /** The code of an error; `null` for a success. */
  readonly code: string | null;
  /** Request and response, without secrets and personal data; `null` if they are not kept. */
  readonly sent: string | null;
  readonly answered: string | null;
}

/** Filter of requests. */
export interface LoggedRequestFilter extends Owner {
  /** Only those that failed. */
  readonly failed: boolean;
  /** Requests before this one; `null`: from the newest on. */
  readonly after: ListPosition | null;
  readonly limit: number;
}

/** The last requests of each partner. */
export interface RequestLog {
  /**
   * Stores requests; those whose id is there already stay as they are. Of each partner and mode among them the newest `most` stay,
   * and older ones are removed.
   */
  append(requests: readonly LoggedRequest[], most: number): Promise<void>;
  /** Newest first: by `createdAt`, then by id. */
  list(filter: LoggedRequestFilter): Promise<LoggedRequest[]>;
  find(owner: Owner, id: string): Promise<LoggedRequest | null>;
  /** Removes requests that came before a time, the oldest first and at most `limit`: how many. */
  purge(before: number, limit: number): Promise<number>;
  /** Removes requests of one partner and mode beyond a quota, the oldest first and at most `limit`: how many. Bodies are the texts. */
  removeOldest(request: Owner & Quota & { readonly limit: number }): Promise<number>;
}
