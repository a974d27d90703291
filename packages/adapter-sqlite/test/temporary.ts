import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A path for a database in a folder of its own that is removed after the test. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'ostiary.db');
}
