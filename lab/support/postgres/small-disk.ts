import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProofServer } from './postgres-server.ts';

/** A separate disk for the tables of the database `app`, which a proof can fill completely. */
export type Disk = Exclude<Awaited<ReturnType<typeof smallDisk>>, string>;

const largest = 4 * 1024 * 1024;
const block = 4096;

/**
 * Moves the database to a small file system. Only root can make a file system.
 * @returns the disk, or the reason why it cannot be made
 */
export async function smallDisk(
  { folder, rail }: ProofServer,
  ends: AsyncDisposableStack,
  megabytes: number,
) {
  const path = join(folder, 'disk');
  mkdirSync(path);
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`];
    execFileSync('mount', [...options, 'ostiary-proof', path], { stdio: 'pipe' });
  } catch (error) {
    const lines = error instanceof Error ? error.message.trim().split('\n') : [String(error)];
    return `no file system can be mounted here (${lines.at(-1)})`;
  }
  ends.defer(() => void execFileSync('umount', ['--lazy', path]));
  const space = join(path, 'space');
  mkdirSync(space);
  execFileSync('chown', ['-R', 'postgres', path]);
  await rail.query(`CREATE TABLESPACE small LOCATION '${space}'`);
  await rail.query('ALTER DATABASE app SET TABLESPACE small');
  const ballast = join(path, 'ballast');
  return {
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (let size = largest; size >= block; ) {
          const { bytesWritten } = await file.write(Buffer.alloc(size)).catch(() => ({ bytesWritten: 0 }));
          if (bytesWritten < size) size /= 2;
        }
      } finally {
        await file.close();
      }
    },
    clear: () => rmSync(ballast, { force: true }),
  };
}
