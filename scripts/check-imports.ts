/**
 * Checks who imports whom: the direction between rooms (docs/architecture.md), no cycles (types included), no
 * deep imports of other packages, nobody inside a package imports its index. Prints every violation; exits 1
 * when there is one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const statements = text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  const dynamic = text.matchAll(/\b(typeof\s+)?import\('([^']+)'\)/g);
  return [
    ...Array.from(statements, ([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
    ...Array.from(dynamic, ([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
  ];
}

/** Rooms of core, and which rooms each may import. `.` is the ground: files directly below `src`. */
const rooms: { readonly [room: string]: readonly string[] } = {
  ports: ['ports'],
  '.': ['.', 'ports', 'keys'],
  // `worker` for the kind of job that seals secrets anew.
  keys: ['.', 'keys', 'ports', 'worker'],
  passports: ['.', 'passports', 'ports'],
  users: ['.', 'users', 'ports'],
  payments: ['.', 'payments', 'ports', 'webhooks', 'worker'],
  webhooks: ['.', 'ports', 'webhooks', 'worker'],
  partner: ['.', 'partner', 'http', 'passports', 'payments', 'ports', 'users', 'webhooks'],
  http: ['.', 'http', 'ports'],
  pages: ['.', 'pages'],
  worker: ['.', 'worker', 'ports'],
  // `http` for the one file that understands addresses: allowlists are checked when a key is issued.
  admin: ['.', 'admin', 'http', 'keys', 'ports', 'webhooks'],
  oauth: ['.', 'oauth', 'http', 'keys', 'pages', 'ports'],
  console: ['.', 'console', 'http', 'keys', 'pages', 'ports', 'webhooks'],
  cli: ['admin', 'cli', 'ports'],
  memory: ['memory', 'ports'],
  contract: ['contract', 'ports'],
  // Nothing imports it back: it builds the whole, with other parts at the edges.
  testing: ['.', 'admin', 'http', 'memory', 'passports', 'payments', 'ports', 'testing', 'webhooks'],
};

/** Files that see every room. */
const facades = ['ostiary.ts', 'index.ts'];

/** Rooms that may import a package; a package that is not listed here is free for all of core's rooms. */
const packageRooms: { readonly [name: string]: readonly string[] } = {
  'oidc-provider': ['oauth'],
  koa: ['console', 'http', 'oauth', 'partner'],
  '@koa/router': ['http'],
  '@opentelemetry/api': ['.'],
};

const core = join(root, 'packages/core/src');
const problems: string[] = [];
const complain = (file: string, problem: string): void => {
  problems.push(`${relative(root, file)}: ${problem}`);
};

const roomOf = (file: string): string => {
  const [first = '.', ...rest] = relative(core, file).split('/');
  return rest.length === 0 ? '.' : first;
};

function checkCoreFile(file: string): void {
  const room = roomOf(file);
  const isFacade = room === '.' && facades.includes(relative(core, file));
  const allowed = rooms[room];
  if (allowed === undefined) {
    complain(file, `the room ${room} is not in the table of scripts/check-imports.ts`);
    return;
  }
  for (const { specifier, typeOnly } of importsOf(file)) {
    if (specifier.startsWith('.')) {
      const target = resolve(dirname(file), specifier);
      if (target.endsWith('/src/index.ts')) complain(file, 'imports the index of its own package');
      if (!isFacade && !allowed.includes(roomOf(target)))
        complain(file, `${room} must not import ${specifier}`);
      if (room === 'ports' && !typeOnly)
        complain(file, `ports hold types only, ${specifier} is imported as code`);
    } else {
      const owners =
        packageRooms[
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/')
        ];
      if (owners !== undefined && !owners.includes(room))
        complain(file, `only ${owners.join(' and ')} may import ${specifier}`);
      if (/^(oidc-provider|koa|jose)\/(lib|dist)/.test(specifier))
        complain(file, `deep import of ${specifier}`);
    }
  }
}

/** What each adapter is made for, and the only package that it may import beside core's types. */
const drivers: { readonly [adapter: string]: string } = {
  'adapter-postgres': 'pg',
  'adapter-sqlite': 'better-sqlite3',
};

function checkAdapterFile(file: string): void {
  const [, adapter = ''] = relative(root, file).split('/');
  for (const { specifier, typeOnly } of importsOf(file)) {
    if (!/^(?:\.|node:|@ostiary\/)/.test(specifier) && specifier !== drivers[adapter])
      complain(file, `${adapter} imports its driver and nothing else, not ${specifier}`);
    if (specifier.startsWith('@ostiary/') && !typeOnly)
      complain(file, `adapters import types of core only, not ${specifier}`);
    if (/^@ostiary\/[^/]+\/.+/.test(specifier)) complain(file, `deep import of ${specifier}`);
  }
}

/** Packages that receivers and clients install: nothing comes along with them. */
const alone: readonly string[] = ['client-sdk', 'webhook-verifier'];

function checkLoneFile(file: string, folder: string): void {
  for (const { specifier, typeOnly } of importsOf(file)) {
    const inside = specifier.startsWith('.') && resolve(dirname(file), specifier).startsWith(`${folder}/`);
    if (!inside && !specifier.startsWith('#') && !specifier.startsWith('node:'))
      complain(file, `imports nothing outside of its package, not ${specifier}`);
    if (specifier.startsWith('.') && resolve(dirname(file), specifier).endsWith('/src/index.ts'))
      complain(file, 'imports the index of its own package');
    // A type is gone when it is built.
    if (specifier.startsWith('node:') && !typeOnly && !/\/(?:platform|receivers)\//.test(file))
      complain(file, `has to run without Node, ${specifier} belongs into platform/ or receivers/`);
  }
}

function findCycle(files: readonly string[]): string[] | null {
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolve(dirname(file), specifier)),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of files) {
    const cycle = visit(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'src'));
let count = 0;
for (const folder of [
  ...packages,
  ...readdirSync(join(root, 'examples')).map((name) => join(root, 'examples', name, 'src')),
]) {
  const files = sources(folder);
  count += files.length;
  const cycle = findCycle(files);
  if (cycle !== null) problems.push(`cycle: ${cycle.map((file) => relative(root, file)).join(' → ')}`);
  if (folder === core) files.forEach(checkCoreFile);
  else if (folder.includes('/packages/adapter-')) files.forEach(checkAdapterFile);
  else if (alone.some((name) => folder === join(root, 'packages', name, 'src'))) {
    for (const file of files) checkLoneFile(file, folder);
  }
}

for (const problem of problems) console.error(problem);
console.log(`import rules: ${count} files, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
