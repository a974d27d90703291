import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../program.ts';

/** A package manager, with its folder in a file system and with the links to its programs. */
interface PackageManager {
  readonly package: string;
  readonly folder: string;
  readonly links: Readonly<Record<string, string>>;
}

/** Links to the programs of npm. */
export const npmLinks = { npm: 'bin/npm-cli.js', npx: 'bin/npx-cli.js' };

/**
 * Writes the Node that runs this program, and package managers, into the file system of an image.
 * @param bin - folder of the programs in the file system
 * @param downloads - folder for the packages from the npm registry
 */
export async function writeNode(
  root: string,
  bin: string,
  managers: readonly PackageManager[],
  downloads: string,
): Promise<void> {
  await mkdir(join(root, bin), { recursive: true });
  await copyFile(process.execPath, join(root, bin, 'node'));
  for (const manager of managers) {
    const tarball = await run('npm', ['pack', '--silent', manager.package], downloads);
    const folder = join(root, manager.folder);
    await mkdir(folder, { recursive: true });
    await run('tar', ['-xzf', join(downloads, tarball), '-C', folder, '--strip-components=1']);
    for (const [name, file] of Object.entries(manager.links))
      await symlink(join('/', manager.folder, file), join(root, bin, name));
  }
}
