import { Client, type ClientConfig, Pool } from 'pg';
import { connected, connectsWith } from './connecting.ts';
import { ignore, type PostgresPool } from './pool.ts';
import { primaryOf } from './primary.ts';
import { assertTlsFiles } from './tls-files.ts';

/**
 * A pool that this package opened. All its connections lead to the primary when they are opened. The code
 * that opens the pool must end it.
 */
export interface OpenedPool extends PostgresPool {
  /** Number of open connections, used or idle. */
  readonly totalCount: number;
  readonly idleCount: number;
  /** Number of `connect` calls that wait for a connection. */
  readonly waitingCount: number;
  end(): Promise<void>;
}

/**
 * Splits a connection string into one for each host that it names, as libpq does:
 * `postgres://user@a:5432,b:5433/database`. The driver supports only one host. Returns `null` if one of
 * several hosts is missing, because the driver would use this machine instead.
 */
export function eachHost(connectionString: string): readonly string[] | null {
  const parts = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(connectionString);
  const [, before = '', list = '', after = ''] = parts ?? [];
  const hosts = list.split(',');
  if (hosts.length > 1 && hosts.includes('')) return null;
  return hosts.map((host) => `${before}${host}${after}`);
}

/** Returns the error of a TLS file that a connection string names and that cannot be used; otherwise `null`. */
function unreadableFileOf(connectionString: string): unknown {
  try {
    assertTlsFiles(connectionString, 'the connection string');
    return null;
  } catch (error) {
    return error;
  }
}

/** Function that a client calls when it has connected or failed to connect. */
type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/**
 * Opens a pool that connects on first use: to the host that was the primary last and, if that does not
 * respond or accepts no writes, to the other hosts.
 */
export function openPool(connectionString: string, timeoutMs: number, max = 10): OpenedPool {
  const hosts = eachHost(connectionString) ?? [connectionString];
  let current = 0;

  class HostClient extends Client {
    /**
     * Error of TLS files that cannot be used, thrown when the client connects; `null` for none. The pool creates
     * clients in event handlers, where an error would end the process.
     */
    readonly #unreadable: unknown;

    constructor(config?: ClientConfig) {
      // Divide the time, so that one silent host leaves time for the others.
      const connectionTimeoutMillis = Math.floor(timeoutMs / hosts.length);
      const host = hosts[current] ?? connectionString;
      const error = unreadableFileOf(host);
      super({ ...config, connectionTimeoutMillis, ...(error === null && { connectionString: host }) });
      this.#unreadable = error;
    }

    override connect(): Promise<Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<Client> | undefined {
      const error = this.#unreadable;
      if (callback === undefined) return error === null ? super.connect() : Promise.reject(error);
      if (error === null) super.connect(callback);
      else process.nextTick(() => Reflect.apply(callback, undefined, [error]));
      return undefined;
    }
  }

  const pool = new Pool({
    Client: HostClient,
    max,
    // Set no other session parameter: poolers such as PgBouncer refuse sessions with unknown ones.
    application_name: 'ostiary',
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
  });
  // Emitted when the server ends an idle connection, which the pool then replaces. Without a listener it would
  // end the process.
  pool.on('error', ignore);

  async function connectToAnyHost(deadline: number) {
    for (let left = hosts.length - 1; ; left -= 1) {
      const tried = current;
      try {
        return await primaryOf(pool, Math.max(1, deadline - performance.now()));
      } catch (error) {
        // Another caller may have switched to the next host already.
        if (current === tried) current = (tried + 1) % hosts.length;
        if (left === 0 || performance.now() >= deadline) throw error;
      }
    }
  }

  function connect(withinMs: number, onFailure?: (error: unknown) => void) {
    const deadline = performance.now() + withinMs;
    return connected(() => connectToAnyHost(deadline), withinMs, onFailure);
  }

  const own: OpenedPool = {
    // Used for connections outside of the pool.
    Client: HostClient,
    options: pool.options,
    on: pool.on.bind(pool),
    removeListener: pool.removeListener.bind(pool),
    get totalCount() {
      return pool.totalCount;
    },
    get idleCount() {
      return pool.idleCount;
    },
    get waitingCount() {
      return pool.waitingCount;
    },
    connect: () => connect(timeoutMs),
    end: () => pool.end(),
  };
  connectsWith(own, connect);
  return own;
}
