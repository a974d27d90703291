import type { ClientRecord } from './clients.ts';

/** Result of storing a client for the first time. */
export type DocumentInsertion =
  // Stored.
  | 'stored'
  // A client with this id exists already. Nothing was changed.
  | 'exists'
  // There are as many as allowed, and none of them can be removed. Nothing was changed.
  | 'full';

/**
 * Clients that are described by a client ID metadata document of their own, and that no administrator
 * provisioned. `ClientStore` finds and replaces them as it does every other client, and does not list them.
 */
export interface ClientDocumentStore {
  /**
   * Stores a client for the first time. If `limit` clients with documents are stored already, removes the
   * ones that were not used for the longest time, so that there is room. A client that is disabled or that
   * has a grant is never removed. Concurrent calls of several processes may exceed the limit by their number
   * until the next call.
   */
  insert(
    client: ClientRecord,
    request: { readonly now: number; readonly limit: number },
  ): Promise<DocumentInsertion>;

  /**
   * Records that an authorization request used a client at `now`. Writes only if the recorded time is more
   * than an hour earlier. Without effect for other clients.
   */
  use(clientId: string, now: number): Promise<void>;

  /** Lists clients with documents whose id sorts after `after` (by code point), by id, at most `limit`. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<ClientRecord[]>;

  /**
   * Removes clients that were last used before `before`, with their consents, at most `limit`. A client that
   * is disabled or that has a grant stays. Returns the number of removed clients.
   */
  purge(before: number, limit: number): Promise<number>;
}
