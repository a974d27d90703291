/** Result of a statement, as `pg` returns it. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
  /** Command tag of the statement, such as `COMMIT`. */
  readonly command?: string;
}

/** Methods of a database connection that this package uses; a `PoolClient` or a `Client` of `pg` has them. */
export interface PostgresClient {
  query(statement: {
    /**
     * Name under which the connection prepares the statement on first use. Later uses skip parsing. They skip
     * planning once PostgreSQL uses a generic plan, at the earliest after five uses with parameters.
     */
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly types?: { getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown };
  }): Promise<PostgresResult>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** A connection that is in use until it is released. Releasing it with `true` closes it. */
export interface PostgresPoolClient extends PostgresClient {
  release(destroy?: boolean): void;
}

/** Signature of a pool's methods that add and remove listeners. */
interface PoolListening {
  (event: 'error', listener: (error: Error) => void): unknown;
  /** Registers a function that is called with each new connection before its first use. */
  (event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** Methods of a pool that this package uses; a `Pool` of `pg` has them. */
export interface PostgresPool {
  /** Class of the pool's clients, if the pool exposes it. */
  readonly Client?: unknown;
  /**
   * Maximum number of connections, if the pool exposes it. A quarter of them, rounded up, is reserved for
   * calls that do not wait for the disk; a single connection is not reserved.
   */
  readonly options?: { readonly max?: number };
  connect(): Promise<PostgresPoolClient>;
  readonly on?: PoolListening;
  readonly removeListener?: PoolListening;
}

/** A connection outside of any pool, such as a `Client` of `pg`. */
export interface Session extends Pick<PostgresClient, 'query'> {
  /** Process id of the server process behind this connection. */
  readonly processID?: unknown;
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
  unref?(): void;
  on(event: 'error' | 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { readonly payload?: string }) => void): unknown;
}

/**
 * Creates a client outside of a pool, not connected yet, with the pool's settings, as a `Pool` of `pg` creates its own; `null` for another kind of pool.
 */
export function connectionBeside(pool: PostgresPool): Session | null {
  const { Client } = pool;
  return typeof Client === 'function' ? Reflect.construct(Client, [pool.options]) : null;
}

export function ignore(): void {}

/**
 * Adds an error listener to a new connection. The pool passes the connection on through a promise, and until
 * that resolves it has no listener. An error that the server sends together with its welcome, such as its
 * shutdown, would end the process. The first statement fails anyway.
 */
export function listenTo(client: PostgresClient): void {
  client.on?.('error', ignore);
}
