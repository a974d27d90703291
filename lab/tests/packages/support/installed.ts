import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packInto } from '../../../../packages/create-ostiary/test/support/packed.ts';
import { newFolderOnDisk } from '../../../support/on-disk.ts';

/** A folder of a partner's, with nothing in it but our packages as they are published. */
export interface PartnerFolder {
  readonly folder: string;
  remove(): void;
}

/** Packs packages without dependencies, and installs the tarballs in an empty folder. */
export async function partnerFolder(
  names: readonly string[],
  { declared = false } = {},
): Promise<PartnerFolder> {
  const [folder, packed] = [newFolderOnDisk('partner'), newFolderOnDisk('packed')];
  const tarballs = await packInto(packed, names, declared ? names : []);
  for (const [name, tarball] of tarballs) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
  }
  rmSync(packed, { recursive: true, force: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
