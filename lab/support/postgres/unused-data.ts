import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startPostgres } from '../../../examples/demo/src/cluster/postgres.ts';
import { freePort } from '../free-port.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cache = join(root, 'node_modules/.cache/postgres');
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-Rp', from, to]);

/** What the data depend on beside password and owner: the version of PostgreSQL, and how a server is made. */
const version = ['pnpm-lock.yaml', 'examples/demo/src/cluster/postgres.ts']
  .reduce((hash, file) => hash.update(readFileSync(join(root, file))), createHash('sha256'))
  .digest('hex');

/** Makes `folder/data` what a server has that was never used. To copy it takes a fourth of what it takes to make it. */
export async function copyUnusedData(folder: string, password: string): Promise<void> {
  // As root PostgreSQL runs as another user, who comes with the first server.
  const user = process.getuid?.() === 0 ? spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' }) : null;
  const kept = join(cache, `${version}-${password}-${user?.stdout.trim() ?? 'own'}`);
  if (!existsSync(kept)) await make(kept, password);
  await copy(kept, join(folder, 'data'));
}

async function make(kept: string, password: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    if (!name.startsWith(version)) rmSync(join(cache, name), { recursive: true, force: true });
  }
  // Not in the cache, which the other user may not reach.
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-postgres-'));
  const unfinished = mkdtempSync(`${kept}-`);
  try {
    const postgres = await startPostgres(folder, { port: await freePort(), password });
    await postgres.stop();
    await copy(join(folder, 'data'), unfinished);
    renameSync(join(unfinished, 'data'), kept);
  } catch (error) {
    // Another process that needed it at the same time may have been faster.
    if (!existsSync(kept)) throw error;
  } finally {
    for (const one of [folder, unfinished]) rmSync(one, { recursive: true, force: true });
  }
}
