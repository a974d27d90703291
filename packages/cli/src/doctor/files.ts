import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, problem } = findingsOf('files');

const gibibyte = 2 ** 30;

/** What Linux calls NFS, SMB, CIFS and SMB2. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** A closed folder closes what is in it; in an open one the modes of files decide. */
function checkModes(folder: number, file: number): readonly Finding[] {
  if ((folder & 0o077) === 0) return [];
  const complaint = [
    'Password hashes and personal data can be read, or everything can be replaced.',
    'chmod 700 the folder of the database, chmod 600 the files in it, and give them to the user of the server.',
  ] as const;
  return (folder & 0o022) !== 0 || (file & 0o077) !== 0
    ? [problem('other users of this machine get at the database', ...complaint)]
    : [warning('the data folder is open to other users of this machine', ...complaint)];
}

/** Whether the SQLite file is where it is safe. PostgreSQL looks after its own. */
export async function checkFiles({ settings: { databaseFile } }: Examined): Promise<readonly Finding[]> {
  if (databaseFile === null) return [];
  const dataDir = dirname(databaseFile);
  const found: Finding[] = [];
  const [folder, file, disk] = await Promise.all([stat(dataDir), stat(databaseFile), statfs(dataDir)]);
  if (process.platform !== 'win32') found.push(...checkModes(folder.mode, file.mode));
  if (networkFileSystems.has(disk.type)) {
    found.push(
      problem(
        'the database is on a network file system',
        'SQLite loses commits there, or the whole file.',
        'Move the folder to a local disk, or the installation to PostgreSQL.',
      ),
    );
  }
  const free = disk.bavail * disk.bsize;
  if (free < Math.max(gibibyte, file.size)) {
    const tight = free < gibibyte / 4 ? problem : warning;
    found.push(
      tight(
        `${(free / gibibyte).toFixed(1)} GiB are free for a database of ${(file.size / gibibyte).toFixed(1)} GiB`,
        'When the disk is full nothing can be written; a backup beside it needs as much again.',
        'Make room, or shorten {retentionDays}.',
      ),
    );
  }
  return found.length > 0 ? found : [ok(`${(free / gibibyte).toFixed(1)} GiB free, nobody else gets at it`)];
}
