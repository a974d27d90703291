import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A database for one run of the tests. */
export function openDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-test-'));
  return {
    env: { DATABASE_FILE: join(folder, 'ostiary.db') },
    remove: async () => rmSync(folder, { recursive: true }),
  };
}
