import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll } from 'vitest';
import { startDemo } from '../../../examples/demo/src/demo.ts';
import { cheap } from '../../../examples/reference-server/test/support/server.ts';
import { freePort } from '../free-port.ts';
import { launchBrowser } from './browser.ts';
import { newProfile } from './profile.ts';

/** Starts the demo and a browser for the tests of a file, and ends both after the tests. */
export async function startDemoInBrowser() {
  const dataDir = await mkdtemp(join(tmpdir(), 'demo-in-browser-'));
  afterAll(() => rm(dataDir, { recursive: true }));
  const [PORT, PARTNER_PORT] = [String(await freePort()), String(await freePort())];
  const [demo, browser] = await Promise.all([
    startDemo({ OSTIARY_DATA_DIR: dataDir, PORT, PARTNER_PORT }, { passwordCost: cheap }),
    launchBrowser(),
  ]);
  afterAll(async () => {
    await browser.close();
    await demo.close();
  });
  return {
    demo,
    open: (options?: BrowserContextOptions) => newProfile(browser, options),
    /** Returns one of the demo's users, by index from 0. */
    userAt(index: number) {
      const user = demo.file.users[index];
      if (user === undefined) throw new Error('the demo has too few users');
      return user;
    },
  };
}
