import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { testPostgres } from './postgres.ts';

/** Options for starting a PostgreSQL server. */
export interface ServerOptions {
  /**
   * True if PostgreSQL's commits wait for the disk. Without waiting, no data is lost as long as only
   * processes crash.
   * @defaultValue `true`
   */
  readonly fsync?: boolean;
  /** PostgreSQL settings such as `autovacuum_naptime=10s`. */
  readonly settings?: readonly string[];
}

/**
 * PostgreSQL server of a proof, with two databases: `app` for Ostiary, and `rail` for the simulated payment
 * rail.
 */
export type ProofServer = Awaited<ReturnType<typeof startServer>>;

/**
 * Opens superuser connections to the PostgreSQL server. The connections end when the server stops; the next
 * query opens a new connection.
 */
export function superusers(connectionString: string): Pool {
  return new Pool({ connectionString, max: 4 }).on('error', () => undefined);
}

/** Creates the databases `app` for Ostiary and `rail` for the payment rail. */
export async function createDatabases(url: string): Promise<void> {
  const first = superusers(url);
  await first.query(`CREATE ROLE ostiary LOGIN PASSWORD 'ostiary'`);
  await first.query('CREATE DATABASE app OWNER ostiary');
  await first.query('CREATE DATABASE rail OWNER ostiary');
  await first.end();
}

/** Starts a real PostgreSQL 18 from npm. If this process runs as root, the server runs as another user. */
export async function startServer({ fsync = true, settings = [] }: ServerOptions = {}) {
  const postgres = await testPostgres({
    // Spare connections, because the server does not notice the end of connections that a cut network has
    // left behind.
    settings: [`fsync=${fsync ? 'on' : 'off'}`, 'max_connections=300', ...settings],
  });
  const { port } = postgres;
  const folder = join(postgres.folder, 'more');
  mkdirSync(folder);
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  const pool = (database: string): Pool => superusers(postgres.url(database));
  await createDatabases(postgres.url());
  const [app, rail] = [pool('app'), pool('rail')];
  return {
    port,
    /** Returns the URL with which a database's owner connects, directly or through another port. */
    url: (database: 'app' | 'rail', at = port) => `postgres://ostiary:ostiary@127.0.0.1:${at}/${database}`,
    /** Folder to which the PostgreSQL server can write. */
    folder,
    // Pools of superuser connections to `app` and `rail`, separate from the connections under test.
    app,
    rail,
    /** Stops the PostgreSQL server and ends its sessions. */
    stop: () => postgres.stop('fast'),
    start: () => postgres.start(),
    /**
     * Stops the PostgreSQL server, `fast` (sessions are ended) or `immediate` (as in a crash), and starts it
     * again.
     */
    async restart(mode: 'fast' | 'immediate', downMs: number) {
      await postgres.stop(mode);
      await pause(downMs);
      await postgres.start();
    },
    async remove() {
      await Promise.all([app.end(), rail.end()]);
      await postgres.remove();
    },
  };
}
