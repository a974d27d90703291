import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { settings } from '../../../examples/reference-server/src/settings.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Returns the first group of all matches of a pattern. */
const foundIn = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, found = '']) => found);
/** Returns the environment variables that neither the server nor Node reads. */
const unknownIn = (names: readonly string[]): string[] =>
  names.filter((name) => !Object.hasOwn(settings, name) && name !== 'NODE_COMPILE_CACHE');

interface Manifest {
  readonly name: string;
  readonly packageManager?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json')));
const workspace = new Map(
  ['packages', 'examples']
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(parent, name)))
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => [manifestOf(folder).name, manifestOf(folder)]),
);
workspace.set('ostiary', manifestOf('.'));

it('the server is built with packages and scripts that are there', () => {
  const build = read('deploy/build');
  expect(build).toContain(`npx --yes ${manifestOf('.').packageManager} "$@"`);
  const named = foundIn(build, /--filter "?([@\w/-]+)/g);
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(named.filter((name) => !workspace.has(name))).toEqual([]);
  // Compare the built packages with the server's dependencies.
  const own = Object.keys(workspace.get('@ostiary/reference-server')?.dependencies ?? {});
  const built = own.filter((name) => name.startsWith('@ostiary/'));
  expect(built.length).toBeGreaterThan(1);
  expect(built.filter((name) => workspace.get(name)?.scripts?.build === undefined)).toEqual([]);
});

it('nothing secret beside the compose file gets into an image or a commit', () => {
  expect(read('deploy/Dockerfile.dockerignore').split('\n')).toEqual(
    expect.arrayContaining(['.git', '**/node_modules', '**/.env']),
  );
  expect(read('deploy/.gitignore').split('\n')).toContain('.env');
});

it('the unit starts a program that is there, with variables that the server reads', () => {
  const unit = read('deploy/systemd/ostiary@.service');
  const program = /^ExecStart=\S+ .*?(\S+\.ts)$/m.exec(unit)?.[1] ?? '';
  expect(existsSync(join(root, 'examples/reference-server', program))).toBe(true);
  const pairs = foundIn(unit, /^Environment=(.*)$/gm).flatMap((line) => line.split(' '));
  const variables = pairs.map((pair) => pair.split('=')[0] ?? '');
  expect(variables).toContain('OSTIARY_ROLE');
  expect(unknownIn(variables)).toEqual([]);
  // Stopping may take the ten seconds for requests, the drain, and the release of the worker's claims.
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(30);
});
