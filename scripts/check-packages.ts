/**
 * Checks the tarballs of `npm run pack`: publint and attw report no problem, and READMEs have complete URLs.
 * In an empty folder with the installed tarballs, every export can be imported as ES module, as CommonJS and
 * by TypeScript, also under the condition `ostiary-source`, which leads to sources in this repository alone.
 * Apps of create-ostiary have the right types. The script writes the bill of materials of that folder beside
 * the tarballs.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly exports: { readonly [subpath: string]: unknown };
}

const root = resolve(import.meta.dirname, '..');
const packed = join(root, 'packed');
const bill = join(packed, 'ostiary.cdx.json');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-packages-'));

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/**
 * Returns links and images of a README, in Markdown and in HTML, that do not work on a registry's page, which
 * has no other files.
 */
function brokenLinks(page: string): string[] {
  const prose = page.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  const found = prose.matchAll(/\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|\b(?:src|href)="([^"]*)"/gm);
  const links = Array.from(
    found,
    ([, inline, reference, attribute]) => inline ?? reference ?? attribute ?? '',
  );
  return links.filter((link) => !/^(?:https:|mailto:|#)/.test(link));
}

/** Builds the part of the package check that runs in the empty folder, as an ES module and as CommonJS. */
function importer(specifiers: readonly string[], load: (specifier: string) => string): string {
  return specifiers
    .map((specifier) => `console.log('${specifier}:', Object.keys(${load(specifier)}).join(' '));`)
    .join('\n');
}

const asModule = (specifier: string): string =>
  `await import('${specifier}'${specifier.endsWith('.json') ? ", { with: { type: 'json' } }" : ''})`;
const asCommon = (specifier: string): string => `require('${specifier}')`;

/**
 * Checks that TypeScript finds types for the given imports, with the types of Node that are installed in this
 * repository.
 */
function typesAreFound(specifiers: readonly string[], customConditions: readonly string[]): void {
  const lines = specifiers
    .filter((specifier) => !specifier.endsWith('.json'))
    .map((specifier, index) => `export * as entry${index} from '${specifier}';`);
  writeFileSync(join(folder, 'types.mts'), lines.join('\n'));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
    customConditions,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.mts'] }));
  try {
    run('tsc', ['--project', folder], root);
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    throw new Error(`types, with customConditions ${JSON.stringify(customConditions)}: ${said}`);
  }
}

/**
 * Apps of create-ostiary whose types are checked, one per framework. (The tests of create-ostiary run apps,
 * but with packages without types.)
 */
const apps = ['node sqlite', 'express postgres', 'fastify sqlite', 'hono postgres', 'next postgres'];

/**
 * Checks the types of apps, with the installed packages of this repository and the frameworks of its
 * workspace.
 */
function appsAreTyped(): void {
  const dependencies = join(root, 'packages/create-ostiary/node_modules');
  mkdirSync(join(folder, 'apps/node_modules'), { recursive: true });
  for (const name of readdirSync(dependencies))
    if (!name.startsWith('.') && name !== '@ostiary')
      symlinkSync(join(dependencies, name), join(folder, 'apps/node_modules', name));
  const command = join(folder, 'node_modules/.bin/create-ostiary');
  for (const [index, app] of apps.entries()) {
    const [framework = '', storage = ''] = app.split(' ');
    run(command, [`apps/app-${index}`, '--framework', framework, '--storage', storage], folder);
    run('tsc', ['--project', join(folder, `apps/app-${index}`)], root);
  }
}

try {
  const names = readdirSync(join(root, 'packages')).map((folderName) => {
    const manifest: Manifest = JSON.parse(
      readFileSync(join(root, 'packages', folderName, 'package.json'), 'utf8'),
    );
    return manifest.name;
  });
  const tarballOf = (name: string) => join(packed, `${name.replace('@', '').replace('/', '-')}.tgz`);
  writeFileSync(join(folder, 'package.json'), '{ "name": "ostiary", "private": true }');
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...names.map(tarballOf)], folder);
  const specifiers: string[] = [];
  for (const name of names) {
    const installed = join(folder, 'node_modules', name);
    const manifest: Manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const broken = brokenLinks(readFileSync(join(installed, 'README.md'), 'utf8'));
    if (broken.length > 0)
      throw new Error(`README.md of ${manifest.name} needs whole addresses: ${broken.join(', ')}`);
    run('publint', ['run', tarballOf(name), '--strict'], root);
    const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
    specifiers.push(...subpaths.map((subpath) => join(manifest.name, subpath)));
    // Packages without imports, such as commands, have no types to check.
    if (subpaths.length > 0) {
      // Packages that ship CommonJS too must pass for every resolution, including those without support for
      // `exports`.
      const dual = JSON.stringify(manifest.exports).includes('"require"');
      run('attw', [tarballOf(name), '--profile', dual ? 'strict' : 'esm-only'], root);
    }
    console.log(`${manifest.name}: links, publint${subpaths.length > 0 ? ' and attw' : ''} clean`);
  }
  writeFileSync(join(folder, 'esm.mjs'), importer(specifiers, asModule));
  writeFileSync(join(folder, 'cjs.cjs'), importer(specifiers, asCommon));
  for (const file of ['esm.mjs', 'cjs.cjs']) {
    const said = run(process.execPath, [file], folder);
    if (run(process.execPath, ['--conditions=ostiary-source', file], folder) !== said)
      throw new Error(`${file} imports something else with --conditions=ostiary-source`);
    console.log(said.trim());
  }
  for (const customConditions of [[], ['ostiary-source']]) typesAreFound(specifiers, customConditions);
  console.log('types: found, with customConditions too');
  appsAreTyped();
  console.log(`create-ostiary: types of ${apps.join(', ')} are right`);

  run('cyclonedx-npm', ['--omit', 'dev', '--output-reproducible', '--output-file', bill], folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
