import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let databases = 0;

/** The path of a database that does not exist yet; it is gone when the benchmark ends. */
export function newDatabase(): string {
  databases += 1;
  return join(folder, `${databases}.db`);
}
