import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { Refusal } from './choices.ts';

/** Files of the app: their content by their path in the folder. */
export type Files = ReadonlyMap<string, string>;

/** Returns the name of the app, which is the name of its folder. */
export const nameOf = (folder: string): string => basename(resolve(folder));

/**
 * Checks the folder of a new app.
 * @throws Refusal if npm would not accept its name for a package, or if something other than an empty folder
 * is at its path
 */
export function checkFolder(folder: string): void {
  const name = nameOf(folder);
  const isName = /^[a-z0-9~-][a-z0-9._~-]*$/.test(name) && name.length <= 214;
  const isTaken = ['node_modules', 'favicon.ico', ...builtinModules].includes(name);
  if (!isName || isTaken)
    throw new Refusal(
      `"${name}" is no name that npm takes for a package: use lower-case letters, digits and -, and no name of a module of Node`,
    );
  const isThere = isSomething(folder);
  if (isThere && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Refusal(`${folder} exists, and is no folder`);
  if (isThere && readdirSync(folder).length > 0) throw new Refusal(`the folder ${folder} is not empty`);
}

const cannotWrite = (folder: string, error: unknown) =>
  new Refusal(`cannot write ${folder}: ${error instanceof Error ? error.message : String(error)}`);

/** Checks whether something exists at a path, including a broken symbolic link. */
function isSomething(folder: string): boolean {
  try {
    return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // For example, a file is in place of one of the parent folders.
    throw cannotWrite(folder, error);
  }
}

/** Writes all files of the app. If that fails, removes everything that was written. */
export function writeFiles(folder: string, files: Files): void {
  checkFolder(folder);
  // Topmost folder that had to be created, if any.
  let made: string | undefined;
  try {
    made = mkdirSync(folder, { recursive: true });
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      // Only the owner may read the sealing key.
      writeFileSync(join(folder, path), text, { flag: 'wx', mode: path === '.env' ? 0o600 : 0o666 });
    }
  } catch (error) {
    const top = [...files.keys()].map((path) => path.split('/')[0] ?? '');
    const remains = made === undefined ? new Set(top.map((name) => join(folder, name))) : [made];
    for (const path of remains) rmSync(path, { recursive: true, force: true });
    throw cannotWrite(folder, error);
  }
}
