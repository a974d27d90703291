/**
 * Builds the documentation site into `site/dist`: the pages, their Markdown for AI assistants, the OpenAPI
 * document of the partner API, and the TypeScript reference. SITE_VERSION names the version of
 * `versions.json` to build (`next`), SITE_HOME the URL of all versions.
 */
import { execFile } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestOstiary } from '@ostiary/testing';
import { build } from 'vitepress';
import { writeForAssistants } from './assistants.ts';
import { root } from './repository.ts';

const site = join(root, 'site');
const run = promisify(execFile);

async function apiDocument(): Promise<string> {
  const kit = await createTestOstiary();
  const answer = await kit.fetch(`${kit.baseUrl}/v1/openapi.json`);
  const text = await answer.text();
  await kit.close();
  return text;
}

// Build the reference in another process meanwhile, into a folder that the pages do not empty.
const reference = run(join(root, 'node_modules/.bin/typedoc'), ['--logLevel', 'Warn'], { cwd: root });
await build(site);
await writeForAssistants(join(site, 'dist'));
await writeFile(join(site, 'dist/openapi.json'), await apiDocument());
await reference;
await rename(join(site, 'typescript'), join(site, 'dist/typescript'));
