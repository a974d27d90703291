import type { ClientRecord } from './clients.ts';

/** Result of storing a new client with a metadata document. */
export type DocumentInsertion =
  // The client was stored.
  | 'stored'
  // A client with this id exists already. Nothing was changed.
  | 'exists'
  // The maximum number is reached, and none of the stored clients can be removed. Nothing was changed.
  | 'full';

/**
 * Stores clients that are described by their own client ID metadata document, without an administrator.
 * `ClientStore` finds and replaces them like any other client, but does not list them.
 */
export interface ClientDocumentStore {
  /**
   * Stores a new client with a metadata document. If `limit` such clients are stored already, removes the
   * least recently used first. Never removes a client that is disabled or has a grant. Concurrent calls of
   * several processes may exceed the limit by their number until the next call.
   */
  insert(
    client: ClientRecord,
    request: { readonly now: number; readonly limit: number },
  ): Promise<DocumentInsertion>;

  /**
   * Records that an authorization request used a client at `now`. Writes only if the recorded time is an hour
   * or more earlier. Has no effect on clients without a metadata document.
   */
  use(clientId: string, now: number): Promise<void>;

  /**
   * Lists clients with metadata documents by id (in code point order), starting after the id `after`, at most
   * `limit`.
   */
  list(page: {
    readonly after: string | null;
    /**
     * True to list the clients by descending id; the list then continues with ids lower than `after`.
     * @defaultValue false
     */
    readonly descending?: boolean;
    readonly limit: number;
  }): Promise<ClientRecord[]>;

  /** Counts all clients with metadata documents. */
  count(): Promise<number>;

  /**
   * Removes clients with metadata documents that were last used before `before`, with their consents, at most
   * `limit`. Keeps clients that are disabled or have a grant. Returns the number of removed clients.
   */
  purge(before: number, limit: number): Promise<number>;
}
