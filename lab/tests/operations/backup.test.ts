import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../support/program.ts';

const script = resolve(import.meta.dirname, '../../../deploy/backup');

const dayMs = 24 * 3_600_000;
const now = Date.now();

/** Returns the name of a backup that is a number of days old. */
const backupOf = (days: number): string =>
  `ostiary-${new Date(now - days * dayMs).toISOString().slice(0, 19).replaceAll(':', '')}Z.dump`;

/**
 * Makes a folder with backups of the given ages in days, and then the next backup. The programs of PostgreSQL only
 * write a file, because the other backups are tested. Returns the names of the backups that are left.
 */
async function leftOf(days: readonly number[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const programs = mkdtempSync(join(tmpdir(), 'ostiary-programs-'));
  onTestFinished(() => rmSync(programs, { recursive: true }));
  const dump = '#!/bin/sh\necho dump > "$(echo "$2" | cut -c 8-)"\n';
  for (const [name, text] of Object.entries({ pg_dump: dump, pg_restore: '#!/bin/sh\n' })) {
    writeFileSync(join(programs, name), text);
    chmodSync(join(programs, name), 0o755);
  }
  for (const age of days) {
    writeFileSync(join(folder, backupOf(age)), 'dump');
    const time = new Date(now - age * dayMs);
    utimesSync(join(folder, backupOf(age)), time, time);
  }
  const PATH = [programs, process.env.PATH].join(delimiter);
  await run(script, ['now'], folder, { PATH, BACKUP_DIR: folder, BACKUP_DAYS: '14', BACKUP_HOURS: '24' });
  const made = readdirSync(folder).filter((name) => !days.some((age) => name === backupOf(age)));
  expect(made).toEqual([expect.stringMatching(/^ostiary-.*Z\.dump$/)]);
  return readdirSync(folder).filter((name) => !made.includes(name));
}

it('removes backups beyond the last 14 days', async () => {
  const days = Array.from({ length: 20 }, (_, index) => index + 1.5);
  expect(await leftOf(days)).toEqual(
    days
      .filter((age) => age < 14)
      .map(backupOf)
      .toSorted(),
  );
});

it('keeps backups of the last 14 days, however many there are', async () => {
  const days = Array.from({ length: 40 }, (_, index) => 0.1 + index / 4);
  expect(await leftOf(days)).toHaveLength(40);
});

it('keeps an old backup that was copied to a new machine', async () => {
  expect(await leftOf([30])).toEqual([backupOf(30)]);
});
