import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { programOf } from '../program.ts';
import { until } from '../proof.ts';
import { killServer, processesOf, signal } from './crash.ts';
import { createDatabases } from './postgres-server.ts';
import { findPostgres, owner } from './system-postgres.ts';

/** Paths of the programs of a Patroni cluster. */
export interface PatroniPrograms {
  readonly patroni: string;
  readonly etcd: string;
  /** Folder of PostgreSQL's programs. */
  readonly postgres: string;
}

/**
 * Finds Patroni (the Debian package `patroni`, or the path in the environment variable TEST_PATRONI), etcd (the
 * Debian package `etcd-server`) and PostgreSQL on this machine; `null` if one of them is not installed.
 */
export function findPatroni(): PatroniPrograms | null {
  const [patroni, etcd, postgres] = [
    process.env.TEST_PATRONI ?? programOf('patroni'),
    programOf('etcd'),
    findPostgres(),
  ];
  return patroni === undefined || etcd === undefined || postgres === null
    ? null
    : { patroni, etcd, postgres };
}

/** Time for which a question to a server waits, in milliseconds. A frozen server never answers. */
const answerMs = 1_000;

/** Queries a PostgreSQL server as its superuser; `null` if the server does not respond. */
async function ask<Row>(port: number, sql: string): Promise<readonly Row[] | null> {
  const connectionString = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  const client = new Client({
    ...{ connectionString, connectionTimeoutMillis: answerMs, query_timeout: answerMs },
  }).on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } catch {
    return null;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** One machine of a Patroni cluster: a PostgreSQL server and the Patroni that controls it. */
class Node {
  readonly name: string;
  readonly port: number;
  /** Port of Patroni's REST API. */
  readonly checkPort: number;
  readonly data: string;
  readonly #program: string;
  readonly #file: string;
  readonly #log: string;
  #patroni: ChildProcess | null = null;

  constructor(
    name: string,
    [port, checkPort]: readonly [port: number, checkPort: number],
    {
      folder,
      etcdPort,
      programs,
    }: { readonly folder: string; readonly etcdPort: number; readonly programs: PatroniPrograms },
  ) {
    this.name = name;
    this.port = port;
    this.checkPort = checkPort;
    this.data = join(folder, name);
    this.#program = programs.patroni;
    this.#file = join(folder, `${name}.yml`);
    this.#log = join(folder, `${name}.log`);
    const accounts = {
      superuser: { username: 'postgres', password: 'postgres' },
      replication: { username: 'replicator', password: 'replicator' },
    };
    const settings = {
      scope: 'ostiary',
      name,
      restapi: { listen: `127.0.0.1:${checkPort}`, connect_address: `127.0.0.1:${checkPort}` },
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      bootstrap: {
        // Short times: a machine that is gone loses the lock after 20 seconds, the shortest `ttl` that
        // Patroni accepts.
        dcs: {
          ...{ ttl: 20, loop_wait: 2, retry_timeout: 5, synchronous_mode: true },
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 300 } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums', 'no-sync'],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: this.data,
        bin_dir: programs.postgres,
        pgpass: join(folder, `${name}.pgpass`),
        authentication: accounts,
        parameters: {
          // As in the tests with one server: a killed server leaves no shared memory behind.
          ...{ unix_socket_directories: '', dynamic_shared_memory_type: 'mmap', wal_keep_size: '1GB' },
        },
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
    // JSON is YAML.
    writeFileSync(this.#file, JSON.stringify(settings), { mode: 0o644 });
  }

  /** Returns the last lines of the log of Patroni and PostgreSQL. */
  lastLog(): string {
    const log = readFileSync(this.#log, 'utf8');
    return `${this.name}:\n${log.split('\n').slice(-20).join('\n')}`;
  }

  start(): void {
    const { PATH } = process.env;
    this.#patroni = spawn('sh', ['-c', 'exec "$0" "$1" >>"$2" 2>&1', this.#program, this.#file, this.#log], {
      ...owner(),
      env: { PATH, LC_ALL: 'C.UTF-8' },
      stdio: 'ignore',
    });
  }

  /** Kills Patroni and PostgreSQL, as a power failure does. */
  async kill(): Promise<void> {
    const patroni = this.#patroni;
    this.#patroni = null;
    if (patroni === null) return;
    const ended = once(patroni, 'exit');
    patroni.kill('SIGKILL');
    await ended;
    await killServer(this.data).catch(() => undefined);
  }

  /** Stops every process of the machine for a while, as a hypervisor does. No connection is closed. */
  async freeze(): Promise<void> {
    this.#patroni?.kill('SIGSTOP');
    for (const pid of await processesOf(this.data)) signal(pid, 'SIGSTOP');
  }

  /** Lets every process of the machine continue: PostgreSQL first, and Patroni, which demotes it, a second later. */
  async thaw(): Promise<void> {
    for (const pid of await processesOf(this.data)) signal(pid, 'SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    this.#patroni?.kill('SIGCONT');
  }

  async isPrimary(): Promise<boolean> {
    const rows = await ask<{ primary: boolean }>(this.port, 'SELECT NOT pg_is_in_recovery() AS primary');
    return rows?.[0]?.primary === true;
  }

  /** Number of connections of Ostiary to this server. */
  async connections(): Promise<number> {
    const rows = await ask(this.port, `SELECT FROM pg_stat_activity WHERE usename = 'ostiary'`);
    return rows?.length ?? 0;
  }

  /** Checks whether all other servers follow this primary, and commits wait for one of them. */
  async isFollowedBy(others: number): Promise<boolean> {
    const rows = await ask<{ sync: boolean }>(
      this.port,
      `SELECT sync_state <> 'async' AS sync FROM pg_stat_replication WHERE state = 'streaming'`,
    );
    return rows?.length === others && rows.some(({ sync }) => sync);
  }

  /** Checks whether Patroni knows a server that may take over. PostgreSQL names the server up to a few seconds earlier. */
  async hasSuccessor(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.checkPort}/cluster`).catch(() => null);
    if (response?.status !== 200) return false;
    const { members }: { readonly members: readonly { readonly role: string }[] } = await response.json();
    return members.some(({ role }) => role === 'sync_standby');
  }

  /** Asks Patroni to let another server take over, as an operator does for maintenance. */
  async switchOver(): Promise<void> {
    const body = JSON.stringify({ leader: this.name });
    const headers = { 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${this.checkPort}/switchover`;
    const response = await fetch(url, { method: 'POST', headers, body });
    if (response.status !== 200)
      throw new Error(`no switchover: ${response.status} ${await response.text()}`);
  }
}

/** A Patroni cluster on this machine: three PostgreSQL servers, of which one is the primary, and etcd. */
export type Patroni = Awaited<ReturnType<typeof startPatroni>>;

/** Starts a Patroni cluster whose commits wait for a standby, with the databases `app` and `rail`. */
export async function startPatroni(programs: PatroniPrograms) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-patroni-'));
  const user = owner();
  if ('uid' in user) execFileSync('chown', [`${user.uid}:${user.gid}`, folder]);
  const [etcdPort = 0, peerPort = 0, ...ports] = await freePorts(8);
  const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
  const etcd = spawn(
    programs.etcd,
    [
      ...[
        '--data-dir',
        join(folder, 'etcd'),
        '--listen-client-urls',
        client,
        '--advertise-client-urls',
        client,
      ],
      ...[
        '--listen-peer-urls',
        peer,
        '--initial-advertise-peer-urls',
        peer,
        '--initial-cluster',
        `default=${peer}`,
      ],
    ],
    { ...user, cwd: folder, stdio: 'ignore' },
  );
  const etcdEnded = once(etcd, 'exit');
  const nodes = [0, 1, 2].map(
    (index) =>
      new Node(`db-${index + 1}`, [ports[2 * index] ?? 0, ports[2 * index + 1] ?? 0], {
        folder,
        etcdPort,
        programs,
      }),
  );

  async function primary(): Promise<Node | null> {
    const are = await Promise.all(nodes.map((node) => node.isPrimary()));
    return nodes[are.indexOf(true)] ?? null;
  }

  /** Waits until one server is the primary, all others follow it, and one of them may take over. */
  async function whole(): Promise<Node> {
    let found: Node | null = null;
    const isWhole = await until(
      async () => {
        found = await primary();
        return found !== null && (await found.isFollowedBy(nodes.length - 1)) && (await found.hasSuccessor());
      },
      { everyMs: 250, withinMs: 180_000 },
    );
    if (!isWhole || found === null)
      throw new Error(`the Patroni cluster is not whole\n${nodes.map((node) => node.lastLog()).join('\n')}`);
    return found;
  }

  for (const node of nodes) node.start();
  const first = await whole();
  await createDatabases(`postgres://postgres:postgres@127.0.0.1:${first.port}/postgres`);
  return {
    nodes: nodes as readonly Node[],
    whole,
    /** Waits until another server than `old` is the primary. */
    async promotedAfter(old: Node): Promise<void> {
      const others = nodes.filter((node) => node !== old);
      const isPromoted = await until(
        async () => (await Promise.all(others.map((node) => node.isPrimary()))).includes(true),
        { everyMs: 20 },
      );
      if (!isPromoted) throw new Error('no server was promoted');
    },
    async stop(): Promise<void> {
      for (const node of nodes) await node.kill();
      etcd.kill('SIGTERM');
      await etcdEnded;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}
