import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 50;

/** Makes a folder. @returns false if another process has made it before */
async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (Object(error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Returns a folder that all test files of a run share. The first file that asks for the folder makes it, while others
 * wait; if making it fails, the next one tries again.
 * @param make - puts the contents into a new folder, which is moved to its place afterwards
 */
export async function sharedFolder(
  parent: string,
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const [folder, making] = [join(parent, name), join(parent, `${name}.making`)];
  for (; !existsSync(folder); await pause(pollMs)) {
    if (!(await isFirst(making))) continue;
    try {
      // Another process may have made the folder between the two checks.
      if (existsSync(folder)) continue;
      await make(making);
      await rename(making, folder);
    } finally {
      await rm(making, { recursive: true, force: true });
    }
  }
  return folder;
}
