import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compilers } from '../../support/compilers.ts';
import { type PartnerFolder, partnerFolderWith } from '../../support/packages/installed.ts';

const root = resolve(import.meta.dirname, '../../..');
const ofPartners = ['client-sdk', 'webhook-verifier'] as const;
const ofHosts = ['core', 'adapter-sqlite', 'adapter-postgres', 'console', 'testing'] as const;

let installed: PartnerFolder;
beforeAll(async () => {
  installed = await partnerFolderWith([...ofPartners, ...ofHosts]);
}, 180_000);
afterAll(() => installed.remove());

/** Lists the entry points of a package that contain code, by the name that a partner imports. */
function entriesOf(name: string): string[] {
  const manifest: { readonly exports: object } = JSON.parse(
    readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'),
  );
  return Object.keys(manifest.exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => join('@ostiary', name, entry));
}

/** Programs of the test by the name of their file. */
type Programs = Readonly<Record<string, string>>;

/** Compiles programs in the partner's folder. @returns the output of the compiler */
function compile(version: 6 | 7, programs: Programs, compilerOptions: object): string {
  const options = {
    ...{ target: 'es2022', strict: true, outDir: 'out', skipLibCheck: false },
    ...{ typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
    ...compilerOptions,
  };
  const { folder } = installed;
  for (const [file, code] of Object.entries(programs)) writeFileSync(join(folder, file), code);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: Object.keys(programs) }),
  );
  try {
    return execFileSync(process.execPath, [compilers[version], '--project', folder], { encoding: 'utf8' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

/** Returns a program that imports every entry point of these packages, and uses each of them. */
function everyEntry(packages: readonly string[]): string {
  const entries = packages.flatMap(entriesOf);
  expect(entries.length).toBeGreaterThan(10);
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}';`);
  const uses = entries.map((_entry, index) => `  typeof entry${index},`);
  return [...imports, 'export type Entries = [', ...uses, '];'].join('\n');
}

// Every resolution and every compiler once, because each of these compilations takes up to ten seconds. The
// workflow compiles all pairs.
const isEvery = process.env.TEST_EVERY_APP !== undefined;
it.each([
  ['node16', 7, { module: 'node16', moduleResolution: 'node16' }],
  ['bundler', 6, { module: 'esnext', moduleResolution: 'bundler' }],
  ...(isEvery
    ? ([
        ['node16', 6, { module: 'node16', moduleResolution: 'node16' }],
        ['bundler', 7, { module: 'esnext', moduleResolution: 'bundler' }],
      ] as const)
    : []),
] as const)(
  'with moduleResolution %s, TypeScript %i finds the types of every entry',
  (_name, version, options) => {
    expect(compile(version, { 'entries.ts': everyEntry([...ofPartners, ...ofHosts]) }, options)).toBe('');
  },
);

it('so it does in a CommonJS back end, where what is wrong is found, and what is right runs', () => {
  // TypeScript 7 has no `node10`, and TypeScript 6 warns about it; older versions accept it silently.
  const options = { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' };
  const program = (amount: string) => `
    import { OstiaryError, OstiaryPartner } from '@ostiary/client-sdk';
    import { CallbackError } from '@ostiary/client-sdk/oauth';
    import { exportReconciliation } from '@ostiary/client-sdk/reconciliation';
    import { memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
    import { webhook } from '@ostiary/webhook-verifier/express';
    export function pay(ostiary: OstiaryPartner) {
      return ostiary.payments.create({ amount: ${amount}, currency: 'HTG', recipient: { kid: 'KID-ANA' } });
    }
    webhook({ secret: 'sixteen characters', dedupe: memoryDedupe() }, ({ event }) => console.log(event.type));
    const classes = [CallbackError.prototype instanceof OstiaryError, typeof exportReconciliation];
    console.log(JSON.stringify(classes));
  `;
  // One compilation of all three, because it checks the types of Node and of the packages each time.
  const programs = {
    'entries.ts': everyEntry(ofPartners),
    'right.ts': program("'125.00'"),
    'wrong.ts': program('125'),
  };
  mkdirSync(join(installed.folder, 'out'), { recursive: true });
  writeFileSync(join(installed.folder, 'out/package.json'), '{ "type": "commonjs" }');
  const [said, ...others] = compile(6, programs, options).trim().split('\n');
  expect(said).toMatch(/\bwrong\.ts\(.*Type 'number' is not assignable to type 'string'/);
  expect(others).toEqual([]);
  const printed = execFileSync(process.execPath, [join(installed.folder, 'out/right.js')], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual([true, 'function']);
});
