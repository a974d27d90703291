import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { build } from 'tsup';
import { expect, it, onTestFinished } from 'vitest';
import { run, start } from '../../../lab/support/shell.ts';
import { appFiles } from '../src/app.ts';
import { nodeProblem } from '../src/node-version.ts';

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
    /^create-ostiary: needs Node 22\.18 or later, with Node 23 at least 23\.6, and this is Node 20\.[^\n]+\n$/,
  );
});

it('writes apps that npm refuses to install on Node 20, with the version that is needed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'create-ostiary-engines-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const choices = {
    folder: 'my-app',
    framework: 'node',
    storage: 'sqlite',
    languages: ['en'],
    mcp: false,
  } as const;
  const files = appFiles(choices);
  const { dependencies, devDependencies, ...manifest } = JSON.parse(files.get('package.json') ?? '');
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, '.npmrc'), files.get('.npmrc') ?? '');
  const node20 = join(root, 'lab/tests/runtimes/node_modules/node20/bin');
  const install = run(folder, 'npm install', { PATH: [node20, process.env.PATH].join(delimiter) });
  await expect(install).rejects.toThrow('Required: {"node":"^22.18 || >=23.6"}');
});

it.each([
  ['22.17.9', false],
  ['22.18.0', true],
  ['23.0.0', false],
  ['23.5.0', false],
  ['23.6.0', true],
  ['24.21.0', true],
])('Node %s: %s', (version, isEnough) => {
  expect(nodeProblem(version) === null).toBe(isEnough);
});
