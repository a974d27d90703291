import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { ProofServer } from '../../support/postgres/postgres-server.ts';

/** A disk of its own for the tables of the database `app`, that can be filled to the last block. */
export type Disk = Exclude<Awaited<ReturnType<typeof smallDisk>>, string>;

const largest = 4 * 1024 * 1024;
const block = 4096;

/** SQLSTATE `disk_full`. */
const diskFull = '53100';

/** @throws Error when the server still finds room for a table */
async function expectFull(app: Pool): Promise<void> {
  try {
    await app.query('CREATE TABLE public.too_much AS SELECT repeat($1, 1000) FROM generate_series(1, 1000)', [
      'x',
    ]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === diskFull) return;
    throw error;
  }
  throw new Error('the disk is not full');
}

/**
 * Moves the database to a small file system, which only root can make.
 * @returns the disk, or why there is none
 */
export async function smallDisk(
  { folder, app, rail }: ProofServer,
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
      await expectFull(app);
    },
    clear: () => rmSync(ballast, { force: true }),
  };
}
