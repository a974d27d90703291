import { Client, type ClientConfig, Pool } from 'pg';
import { connected, connectsWith } from './connecting.ts';
import type { PostgresPool } from './pool.ts';
import { primaryOf } from './primary.ts';

/**
 * A pool that this package opened, whose connections all lead to a server that takes writes. Its opener must
 * end it.
 */
export interface OpenedPool extends PostgresPool {
  /** Connections that there are, used or not. */
  readonly totalCount: number;
  readonly idleCount: number;
  /** Calls of `connect` that wait for a connection. */
  readonly waitingCount: number;
  end(): Promise<void>;
}

/**
 * The same connection string for each host that it names, as libpq has them: `postgres://user@a:5432,b:5433/database`. The
 * driver knows one host only. `null` where a host is missing: the driver would take this machine instead.
 */
export function eachHost(connectionString: string): readonly string[] | null {
  const parts = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(connectionString);
  const [, before = '', list = '', after = ''] = parts ?? [];
  const hosts = list.split(',');
  if (hosts.length > 1 && hosts.includes('')) return null;
  return hosts.map((host) => `${before}${host}${after}`);
}

/**
 * Opens a pool, which connects when it is first used: to the host that was the primary last, and to the others in turn when it
 * does not answer or takes no writes.
 */
export function openPool(connectionString: string, timeoutMs: number, max = 10): OpenedPool {
  const hosts = eachHost(connectionString) ?? [connectionString];
  let current = 0;

  class HostClient extends Client {
    constructor(config?: ClientConfig) {
      // A host that keeps silent leaves time for the others.
      const connectionTimeoutMillis = Math.floor(timeoutMs / hosts.length);
      super({ ...config, connectionString: hosts[current], connectionTimeoutMillis });
    }
  }

  const pool = new Pool({
    Client: HostClient,
    max,
    // No other parameter of the session: poolers such as PgBouncer refuse to start one with them.
    application_name: 'ostiary',
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
  });

  async function connectToAnyHost(deadline: number) {
    for (let left = hosts.length - 1; ; left -= 1) {
      const tried = current;
      try {
        return await primaryOf(pool, Math.max(1, deadline - performance.now()));
      } catch (error) {
        // Another caller may have moved on to the next host already.
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
    // For connections beside those of the pool.
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
