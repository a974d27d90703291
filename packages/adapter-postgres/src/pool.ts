/** Result of a statement, as `pg` returns it. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
  /** The command's tag, such as `COMMIT`. */
  readonly command?: string;
}

/** The part of a connection that is used: a `PoolClient` or a `Client` of `pg` has this shape. */
export interface PostgresClient {
  query(statement: {
    /** Prepared under this name with its first use on a connection, and not parsed and planned again. */
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly types?: { getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown };
  }): Promise<PostgresResult>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** A connection in use until it is released. Releasing it with `true` closes it. */
export interface PostgresPoolClient extends PostgresClient {
  release(destroy?: boolean): void;
}

/** Adds and removes listeners of a pool. */
export interface PoolListening {
  (event: 'error', listener: (error: Error) => void): unknown;
  /** Called with each new connection before its first use. */
  (event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** The part of a pool that is used: a `Pool` of `pg` has this shape. */
export interface PostgresPool {
  /** Options with which it connects, if it exposes them. */
  readonly Client?: unknown;
  /** Maximum number of connections, if it exposes that. A quarter of them is reserved for reads. */
  readonly options?: { readonly max?: number };
  connect(): Promise<PostgresPoolClient>;
  readonly on?: PoolListening;
  readonly removeListener?: PoolListening;
}

/** A connection of no pool: a `Client` of `pg` has this shape. */
export interface Session extends Pick<PostgresClient, 'query'> {
  /** Process id of the server for this connection, from its start. */
  readonly processID?: unknown;
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
  unref?(): void;
  on(event: 'error' | 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { readonly payload?: string }) => void): unknown;
}

/** A connection beside those of a pool, made as a `Pool` of `pg` makes its own; `null` where the pool is something else. */
export function connectionBeside(pool: PostgresPool): Session | null {
  const { Client } = pool;
  return typeof Client === 'function' ? Reflect.construct(Client, [pool.options]) : null;
}

export function ignore(): void {}

/**
 * A pool passes a new connection on through a promise, and has no listener until that resolves. An error that
 * the server sends together with its welcome, such as its shutdown, would end the process. The first
 * statement fails too.
 */
export function listenTo(client: PostgresClient): void {
  client.on?.('error', ignore);
}
