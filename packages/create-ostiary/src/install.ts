import { join, relative, sep } from 'node:path';
import type { Choices } from './choices.ts';

/**
 * True once the packages are published. The installation instructions of every page and of this command
 * depend on it. Change it with the first release, and run `npm run docs`.
 */
export const isReleased = false;

/** Instructions that are printed above the install command as long as there is no release. */
export const notReleased =
  'Ostiary has no release yet. Clone the repository of Ostiary into a folder named `ostiary` beside your own folder, run `npm run pack` in the clone, and then run these commands in your own folder:';

/** Path of the folder with the packed packages in the checkout, relative to the app's folder. */
export function packedFolder({ folder }: Pick<Choices, 'folder'>): string {
  // Not `relative(folder, '../ostiary/packed')`: if the current folder is itself called `ostiary`, that would
  // not lead to the checkout beside it.
  return join(relative(folder, '.'), '../ostiary/packed').replaceAll(sep, '/');
}

/** Returns the command that installs an app's dependencies, to be run in its folder. */
export function installCommand(
  { folder, storage }: Pick<Choices, 'folder' | 'storage'>,
  released = isReleased,
): string {
  if (released) return 'npm install';
  // The test kit needs the in-memory storage of the SQLite adapter.
  const names = new Set(['core', 'webhook-verifier', `adapter-${storage}`, 'testing', 'adapter-sqlite']);
  const packed = packedFolder({ folder });
  return `npm install ${Array.from(names, (name) => `${packed}/ostiary-${name}.tgz`).join(' ')}`;
}
