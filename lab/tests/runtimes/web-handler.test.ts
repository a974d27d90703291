import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newFolderOnDisk } from '../../support/on-disk.ts';
import { runtimes } from './installed.ts';

const folder = newFolderOnDisk('web-handler');
const outfile = join(folder, 'web-handler.mjs');

beforeAll(async () => {
  const entryPoints = [join(import.meta.dirname, 'entries/web-handler.ts')];
  // Provide `require`: Koa is CommonJS, which loads the modules of Node with it.
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  };
  await build({ entryPoints, outfile, banner, bundle: true, format: 'esm', platform: 'node' });
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

it.each(['Node 22', 'Node 24', 'Bun', 'Deno'])('a Request is handled by a Koa app in %s', async (runtime) => {
  const [program = '', ...flags] = runtimes[runtime] ?? [];
  const { stdout } = await promisify(execFile)(program, [...flags, outfile]);
  const answer = (method: string, url: string, sent: string) => JSON.stringify({ method, url, sent });
  expect(JSON.parse(stdout)).toEqual({
    get: [200, '198.51.100.7', 2, answer('GET', '/v1/a?b=c', '')],
    head: [200, 'undefined', 2, ''],
    post: [200, 'undefined', 2, answer('POST', '/v1/a', '{"a":1}')],
    foreign: [200, null, 0, 'of the host'],
    long: { isBounded: true, hasEnded: true },
    aborted: 'enough',
  });
});
