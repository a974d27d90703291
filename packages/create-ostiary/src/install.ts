import { join, relative, sep } from 'node:path';
import type { Choices } from './choices.ts';

/**
 * Says whether the packages are published. The installation instructions of every page and of this command
 * depend on it. Change it with the first release, and run `npm run docs`.
 */
export const isReleased = false;

/** Explanation of the install command, if it is not a plain `npm install`. */
export const notReleased =
  'There is no release yet. Have a checkout of Ostiary beside your folder, named `ostiary`, and run `npm run pack` in it; then';

/** The folder with the packed packages of a checkout, as seen from the folder of an app. */
export function packedFolder({ folder }: Pick<Choices, 'folder'>): string {
  // Not the way to `../ostiary/packed`: in a folder that is called `ostiary` itself, that leads to no checkout beside it.
  return join(relative(folder, '.'), '../ostiary/packed').replaceAll(sep, '/');
}

/** The command that installs what an app needs, in its folder. */
export function installCommand(
  { folder, storage }: Pick<Choices, 'folder' | 'storage'>,
  released = isReleased,
): string {
  if (released) return 'npm install';
  // The kit for tests needs the storage in memory of the one for SQLite.
  const names = new Set(['core', 'webhook-verifier', `adapter-${storage}`, 'testing', 'adapter-sqlite']);
  const packed = packedFolder({ folder });
  return `npm install ${Array.from(names, (name) => `${packed}/ostiary-${name}.tgz`).join(' ')}`;
}
