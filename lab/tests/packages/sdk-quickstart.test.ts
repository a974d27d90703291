import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestRail } from '../../../packages/core/test/support/partner-api.ts';
import { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { installCommand, isReleased } from '../../../scripts/install-commands.ts';

// What somebody does who has read "Five minutes", with the package as it is published, in a folder of their own.

const root = resolve(import.meta.dirname, '../../..');
const sdk = join(root, 'packages/client-sdk');
const execute = promisify(execFile);

/** No options and no conditions of this repository; certificates of whoever runs this, for npm. */
const { NODE_OPTIONS: _, ...inherited } = process.env;
const env = {
  ...inherited,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  NO_COLOR: '1',
  NODE_NO_WARNINGS: '1',
};

let folder: string;
let program: string;
let provider: TestProvider;

/** What stands in "Five minutes": a command and a program. */
async function fiveMinutes(): Promise<{ readonly command: string; readonly program: string }> {
  const readme = await readFile(join(sdk, 'README.md'), 'utf8');
  const section = /\n## Five minutes\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const programs = [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  if (programs.length !== 1) throw new Error('"Five minutes" has to be one program');
  return { command: /```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '', program: programs[0] ?? '' };
}

/** Packs what is built in a place of its own: other tests may build at the same time. */
async function tarball(): Promise<string> {
  const staged = join(folder, 'staged');
  await mkdir(staged);
  for (const name of ['package.json', 'README.md', 'LICENSE']) await cp(join(sdk, name), join(staged, name));
  await execute(join(root, 'node_modules/.bin/tsup'), ['--out-dir', join(staged, 'dist')], { cwd: sdk, env });
  const { stdout } = await execute('npm', ['pack', '--json', '--ignore-scripts'], { cwd: staged, env });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(staged, filename);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-sdk-quickstart-'));
  const read = await fiveMinutes();
  provider = await TestProvider.start({ payments: new TestRail(), webhooks: { allowPrivateTargets: true } });
  expect(read.command).toBe(`${installCommand(['@ostiary/client-sdk'], isReleased)}\n`);
  // The one thing that a reader changes.
  expect(read.program.match(/https:\/\/api\.example\.com/g)).toHaveLength(1);
  program = read.program.replace('https://api.example.com', provider.origin);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', '--no-audit', '--no-fund', '--loglevel=error', await tarball()];
  await execute('npm', install, { cwd: folder, env });
}, 120_000);
afterAll(async () => {
  await provider?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a file for a partner of its own: a reference is of one payment for ever. */
async function run(file: string): Promise<void> {
  const { key, partner, id } = await provider.key({ mode: 'test' });
  const { stdout } = await execute(process.execPath, [file], {
    cwd: folder,
    env: { ...env, OSTIARY_API_KEY: key },
  });
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(new RegExp(`^key +ok +${id} of ${partner}, ends: never$`));
  expect(lines.filter((line) => /^[\w ]+ +(failed|warning) /.test(line))).toEqual([]);
  expect(lines.at(-3)).toBe('KID-TEST-APPROVED approved');
  expect(lines.at(-2)).toMatch(/^tr_\w+ pending$/);
  expect(lines.at(-1)).toMatch(/^(pending|completed)$/);
}

/** The same in a function: only ES modules wait at the top. */
function inFunction(code: string): string {
  const [, imports = '', rest = ''] = /^((?:import .*\n)+)([\s\S]*)$/.exec(code) ?? [];
  return `${imports}async function main() {\n${rest}}\nmain();\n`;
}

describe('the five minutes of the SDK, installed from its tarball', () => {
  it('work as an ES module, word for word', async () => {
    await writeFile(join(folder, 'quickstart.mjs'), program);
    await run('quickstart.mjs');
  });

  it('work as CommonJS, with `require` for `import`', async () => {
    const code = inFunction(program).replace(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = require($2);');
    await writeFile(join(folder, 'quickstart.cjs'), code);
    await run('quickstart.cjs');
  });

  // The strictest resolution: later ones let CommonJS require an ES module. Others are those of the check of the packages.
  it('compile under strict TypeScript, as ES module and as CommonJS, and work', async () => {
    const files = ['app.mts', 'app.cts'];
    const project = join(folder, 'typescript');
    await mkdir(project);
    await writeFile(join(project, 'app.mts'), program);
    await writeFile(join(project, 'app.cts'), inFunction(program));
    const compilerOptions = {
      ...{
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
      },
      ...{ target: 'es2022', lib: ['es2023'], module: 'node16', outDir: 'out' },
      // The only other thing that a TypeScript program on Node has.
      ...{ typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await execute(process.execPath, [compiler, '-p', project], {
      cwd: project,
      env,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
    for (const file of files) await run(join('typescript', 'out', file.replace(/ts$/, 'js')));
  }, 60_000);
});
