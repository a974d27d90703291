import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'tsup';
import { expect, it, onTestFinished } from 'vitest';
import { nodeProblem } from '../src/node-version.ts';
import { start } from './support/shell.ts';

const root = resolve(import.meta.dirname, '../../..');

it('says on Node 20 in one line which Node it needs', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'create-ostiary-node-'));
  onTestFinished(() => rmSync(outDir, { recursive: true, force: true }));
  const entry = { main: join(root, 'packages/create-ostiary/src/main.ts') };
  await build({ config: false, silent: true, entry, outDir, format: 'esm', target: 'node22', clean: false });
  const node20 = join(root, 'lab/tests/runtimes/node_modules/node20/bin/node');
  const program = start(outDir, `exec ${node20} main.js my-app --yes`);
  expect(await program.ended).toBe(1);
  expect(program.said()).toMatch(
    /^create-ostiary: needs Node 22\.18 or later, and this is Node 20\.[^\n]+\n$/,
  );
});

it.each([
  ['22.17.9', false],
  ['22.18.0', true],
  ['23.0.0', true],
  ['24.21.0', true],
])('Node %s: %s', (version, isEnough) => {
  expect(nodeProblem(version) === null).toBe(isEnough);
});
