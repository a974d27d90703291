import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { Refusal } from './choices.ts';

/** A file of the app, by its path in the folder. */
export type Files = ReadonlyMap<string, string>;

/** The name of the app: that of its folder. */
export const nameOf = (folder: string): string => basename(resolve(folder));

/** @throws Refusal for a name that npm does not take for a package, and for a folder that has something in it */
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

/** A link that leads nowhere is something, too. */
function isSomething(folder: string): boolean {
  try {
    return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A file is in the way.
    throw cannotWrite(folder, error);
  }
}

/** Writes all files, or leaves everything as it was. */
export function writeFiles(folder: string, files: Files): void {
  checkFolder(folder);
  // The topmost folder that was not there before, if any.
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
