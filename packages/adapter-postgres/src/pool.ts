/** What a statement led to, as `pg` says it. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
  /** The command's tag, such as `COMMIT`. */
  readonly command?: string;
}

/** What is used of a connection: a `PoolClient` or a `Client` of `pg` has this shape. */
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

/** A connection that is lent until it is given back; with `true` it is closed instead. */
export interface PostgresPoolClient extends PostgresClient {
  release(destroy?: boolean): void;
}

/** How listeners are added to a pool, and taken away. */
export interface PoolListening {
  (event: 'error', listener: (error: Error) => void): unknown;
  /** Called with each new connection before it is lent for the first time. */
  (event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** What is used of a pool: a `Pool` of `pg` has this shape. */
export interface PostgresPool {
  /** Makes its connections, where it tells. */
  readonly Client?: unknown;
  /** How many connections it has at most, where it tells: a quarter of them is left to what only reads. */
  readonly options?: { readonly max?: number };
  connect(): Promise<PostgresPoolClient>;
  readonly on?: PoolListening;
  readonly removeListener?: PoolListening;
}

/** A connection of no pool: a `Client` of `pg` has this shape. */
export interface Session extends Pick<PostgresClient, 'query'> {
  /** The server's process for this connection, as it was told at its start. */
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
 * A pool hands a new connection over by a promise, and nobody listens to it until that has come through. What the
 * server sends together with its welcome, that it is shutting down, would end the process; the first statement fails too.
 */
export function listenTo(client: PostgresClient): void {
  client.on?.('error', ignore);
}
