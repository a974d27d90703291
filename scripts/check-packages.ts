/**
 * Packs every package, looks at the tarballs with publint and attw, installs them in an empty folder and
 * imports every export there, as ES module and as CommonJS. Run after `pnpm run build`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly exports: { readonly [subpath: string]: unknown };
}

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-packages-'));

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The part of the check that runs in the empty folder, as an ES module and as CommonJS. */
function importer(specifiers: readonly string[], load: (specifier: string) => string): string {
  return specifiers
    .map((specifier) => `console.log('${specifier}:', Object.keys(${load(specifier)}).join(' '));`)
    .join('\n');
}

const asModule = (specifier: string): string =>
  `await import('${specifier}'${specifier.endsWith('.json') ? ", { with: { type: 'json' } }" : ''})`;
const asCommon = (specifier: string): string => `require('${specifier}')`;

try {
  const specifiers: string[] = [];
  const tarballs: string[] = [];
  for (const name of readdirSync(join(root, 'packages'))) {
    const directory = join(root, 'packages', name);
    const manifest: Manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const { filename }: { filename: string } = JSON.parse(
      run('pnpm', ['pack', '--json', '--pack-destination', folder], directory),
    );
    const tarball = resolve(folder, filename);
    tarballs.push(tarball);
    run('publint', ['run', tarball, '--strict'], root);
    // Whoever ships CommonJS too has to be right for every resolution that knows `exports`.
    const dual = JSON.stringify(manifest.exports).includes('"require"');
    run('attw', [tarball, '--profile', dual ? 'node16' : 'esm-only'], root);
    const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
    specifiers.push(...subpaths.map((subpath) => join(manifest.name, subpath)));
    console.log(`${manifest.name}: publint and attw clean`);
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], folder);
  writeFileSync(join(folder, 'esm.mjs'), importer(specifiers, asModule));
  writeFileSync(join(folder, 'cjs.cjs'), importer(specifiers, asCommon));
  for (const file of ['esm.mjs', 'cjs.cjs']) console.log(run(process.execPath, [file], folder).trim());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
