import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolderOnDisk } from '../on-disk.ts';
import { run } from '../shell.ts';
import { packInto } from './packed.ts';

/** Folder of a partner, in which packages of this repository are installed as they are published. */
export interface PartnerFolder {
  readonly folder: string;
  remove(): void;
}

/** Packs packages without dependencies, and installs the tarballs in an empty folder. */
export async function partnerFolder(names: readonly string[]): Promise<PartnerFolder> {
  const [folder, packed] = [newFolderOnDisk('partner'), newFolderOnDisk('packed')];
  const tarballs = await packInto(packed, names);
  for (const [name, tarball] of tarballs) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
  }
  rmSync(packed, { recursive: true, force: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Installs packages as they are published, and tools from the registry, with npm in an empty folder. */
export async function partnerFolderWith(
  names: readonly string[],
  tools: Readonly<Record<string, string>> = {},
): Promise<PartnerFolder> {
  const [folder, packed] = [newFolderOnDisk('partner'), newFolderOnDisk('packed')];
  const remove = () => {
    for (const made of [folder, packed]) rmSync(made, { recursive: true, force: true });
  };
  const tarballs = await packInto(packed, names, names);
  const own = Object.fromEntries(Array.from(tarballs, ([name, tarball]) => [name, `file:${tarball}`]));
  const manifest = { private: true, type: 'module', dependencies: { ...tools, ...own } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await run(folder, 'npm install --loglevel=error');
  return { folder, remove };
}
