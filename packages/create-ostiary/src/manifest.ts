import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Choices, Framework, Storage } from './choices.ts';
import { nameOf } from './folder.ts';

const own: { readonly version: string; readonly devDependencies: Readonly<Record<string, string>> } =
  JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));

export const { version } = own;

/** Packages that an app needs at run time, and for development and tests. */
interface Needs {
  readonly run: readonly string[];
  readonly write: readonly string[];
}

const ofFramework: Readonly<Record<Framework, Needs>> = {
  node: { run: [], write: [] },
  express: { run: ['express'], write: ['@types/express'] },
  fastify: { run: ['fastify'], write: [] },
  hono: { run: ['@hono/node-server', 'hono'], write: [] },
  next: { run: ['next', 'react', 'react-dom'], write: ['@types/react'] },
};

const ofStorage: Readonly<Record<Storage, Needs>> = {
  sqlite: { run: ['@ostiary/adapter-sqlite'], write: [] },
  postgres: { run: ['@ostiary/adapter-postgres'], write: [] },
};

const ofMcp: Needs = { run: ['@modelcontextprotocol/sdk', 'zod'], write: [] };

/**
 * Returns packages with the versions that this package was tested with. These are its own development
 * dependencies, in which packing has replaced the versions of `@ostiary/*`.
 */
function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const range = own.devDependencies[name];
      if (range === undefined) throw new Error(`package.json of create-ostiary has no version of ${name}`);
      return [name, range];
    }),
  );
}

/** Makes the package.json of an app. */
export function manifestOf({ folder, framework, storage, mcp }: Choices): string {
  const needs = [ofFramework[framework], ofStorage[storage], ...(mcp ? [ofMcp] : [])];
  const tests = 'node --env-file-if-exists=.env --test "test/**/*.test.ts"';
  const scripts =
    framework === 'next'
      ? {
          dev: 'next dev',
          start: 'next build && next start --keepAliveTimeout 75000',
          test: `next build && ${tests}`,
        }
      : {
          dev: 'node --env-file=.env --watch src/server.ts',
          start: 'node --env-file=.env src/server.ts',
          test: tests,
        };
  const manifest = {
    name: nameOf(folder),
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '^22.18 || >=23.6' },
    scripts: { ...scripts, types: 'tsc' },
    dependencies: versionsOf(['@ostiary/core', ...needs.flatMap(({ run }) => run)]),
    devDependencies: versionsOf([
      '@ostiary/testing',
      '@types/node',
      'typescript',
      ...needs.flatMap(({ write }) => write),
    ]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
