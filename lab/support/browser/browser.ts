import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cache = join(root, 'node_modules/.cache');
const unpacked = join(cache, 'test-chromium');

const unpack = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";

/**
 * Unpacks the browser of the npm package. The package unpacks into the temporary directory and takes any
 * existing file for a complete file. Test files run in parallel, so each process unpacks into a folder of its
 * own, and the first process to finish supplies the folder for all.
 */
async function executablePath(): Promise<string> {
  const executable = join(unpacked, 'chromium');
  if (existsSync(executable)) return executable;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(join(cache, 'unpacking-'));
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpack], {
      // Folder in which the package of the browser is found.
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: aside, NODE_OPTIONS: '' },
    });
    await rename(aside, unpacked);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!existsSync(executable)) throw error;
  }
  return executable;
}

/**
 * Starts a real Chromium: the browser that `TEST_CHROMIUM` names, or the browser of the npm package (Linux on
 * x64). That package suggests a flag that turns web security off, but here web security stays on. The caller
 * closes the browser.
 */
export async function launchBrowser(): Promise<Browser> {
  const installed = process.env.TEST_CHROMIUM ?? '';
  return chromium.launch({
    executablePath: installed === '' ? await executablePath() : installed,
    args: ['--no-sandbox'],
    headless: true,
  });
}
