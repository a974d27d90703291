import type { ListPosition, Quota } from './lists.ts';
import type { Mode, Owner } from './partners.ts';

/**
 * A logged request to the partner API, which the partner's people can read later. Times are milliseconds
 * since the Unix epoch.
 */
export interface LoggedRequest extends Owner {
  /** Id of the request: the value of its response header `X-Request-Id`. */
  readonly id: string;
  /** Id of the API key that the request carried. */
  readonly keyId: string;
  /** Time of the logged request. */
  readonly createdAt: number;
  /** Time from the request to the end of the response, in milliseconds. */
  readonly durationMs: number;
  readonly method: string;
  /** Path pattern of the route: `/v1/partner/payments/:id`. */
  readonly route: string;
  readonly status: number;
  /** Error code of the response; `null` if the request succeeded. */
  readonly code: string | null;
  /**
   * Request body without secrets and personal data; `null` if none was read, it is not JSON, or bodies are
   * not logged.
   */
  readonly sent: string | null;
  /**
   * Response body without secrets and personal data; `null` if the response is a stream, or bodies are not
   * logged.
   */
  readonly answered: string | null;
}

/** Filter for logged API requests of one mode. */
export interface LoggedRequestChoice {
  /** Partner that sent the requests; `null` for all partners. */
  readonly partner: string | null;
  readonly mode: Mode;
  /** Latest time of the requests; `null` for no latest time. @defaultValue null */
  readonly until?: number | null;
  /** True to list failed requests only. */
  readonly failed: boolean;
}

/** Filter and page of a list of logged requests. */
export interface LoggedRequestFilter extends LoggedRequestChoice {
  /**
   * True to list the oldest requests first; `after` then selects requests that are newer. @defaultValue false
   */
  readonly oldestFirst?: boolean;
  /** Position after which the list continues, in its own order; `null` starts at the beginning. */
  readonly after: ListPosition | null;
  readonly limit: number;
}

/** Log of each partner's latest requests to the partner API. */
export interface RequestLog {
  /**
   * Stores logged requests; a request whose id is already stored stays unchanged. Keeps the newest `most`
   * requests of each partner and mode concerned, and removes older ones.
   */
  append(requests: readonly LoggedRequest[], most: number): Promise<void>;
  /** Lists logged requests by `createdAt`, then by id, newest first unless `oldestFirst` is set. */
  list(filter: LoggedRequestFilter): Promise<LoggedRequest[]>;
  /** Counts logged requests that pass the filter. Counting stops at `limit`. */
  count(choice: LoggedRequestChoice, limit: number): Promise<number>;
  find(owner: Owner, id: string): Promise<LoggedRequest | null>;
  /** Returns a logged request of any partner, for operators; `null` if it is unknown. */
  findById(id: string): Promise<LoggedRequest | null>;
  /**
   * Removes logged requests older than `before`, the oldest first, at most `limit`. Returns the number of
   * removed requests.
   */
  purge(before: number, limit: number): Promise<number>;
  /**
   * Removes logged requests of one partner and mode beyond a quota, the oldest first, at most `limit`.
   * Returns the number of removed requests. The quota's bytes count the logged bodies.
   */
  removeOldest(request: Owner & Quota & { readonly limit: number }): Promise<number>;
}
