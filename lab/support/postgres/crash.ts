import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const linesOf = async (data: string) => (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');

/** Sends a signal to a process, unless the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}

/** Returns the process ids of a PostgreSQL server: its main process first, then all sessions and helpers. */
export async function processesOf(data: string): Promise<readonly number[]> {
  const server = Number.parseInt((await linesOf(data))[0] ?? '', 10);
  const { stdout } = await run('ps', ['-A', '-o', 'ppid=,pid=']);
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return [server, ...pairs.filter(([parent]) => parent === server).map(([, child = Number.NaN]) => child)];
}

/** Ends the PostgreSQL server of a data folder and all its sessions, as a power failure does. */
export async function killServer(data: string): Promise<void> {
  const lines = await linesOf(data);
  // Kill the main process first, because it would start others.
  for (const pid of await processesOf(data)) signal(pid, 'SIGKILL');
  // Remove the server's shared memory by id, because the system would keep it.
  await run('ipcrm', ['-m', lines[6]?.trim().split(/\s+/)[1] ?? '']).catch(() => undefined);
}
