/**
 * Writes `etc/<package>.api.md`: all exports of a package, by entry point, so that a review shows changes for
 * the package's users. The script reads the built type declarations (`pnpm run build` first). With `--check`
 * the script writes nothing and exits with code 1 if a report differs from the build.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

interface Manifest {
  readonly name: string;
  readonly exports: { readonly [subpath: string]: unknown };
}

const root = resolve(import.meta.dirname, '..');
const check = process.argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'api-report-'));

/**
 * Returns the ES module declarations of an entry point in `exports`, or `null` if the entry point has none.
 */
function declarationsOf(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null) return null;
  if ('types' in entry && typeof entry.types === 'string') return entry.types;
  return 'import' in entry ? declarationsOf(entry.import) : null;
}

/**
 * Sorts members of inferred enums and of unions of texts. TypeScript orders the members by their first
 * occurrence, which differs between builds.
 */
function inOneOrder(code: string): string {
  return code
    .replace(
      /(ZodEnum<\{\n)((?: *\w+: "[^"]*";\n)+)/g,
      (_, start: string, members: string) => `${start}${members.trimEnd().split('\n').sort().join('\n')}\n`,
    )
    .replace(/["'][\w.:-]+["'](?: \| ["'][\w.:-]+["'])+/g, (union) => union.split(' | ').sort().join(' | '));
}

function reportOf(folder: string, subpath: string, declarations: string): string {
  const file = `${basename(folder)}${subpath.slice(1).replaceAll('/', '-')}`;
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: join(folder, declarations),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: 'nodenext',
            target: 'es2024',
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          files: [join(folder, declarations)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: file,
        reportFolder: scratch,
        reportTempFolder: join(scratch, 'temp'),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
    },
  });
  mkdirSync(join(scratch, 'temp'), { recursive: true });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.logLevel = ExtractorLogLevel.None;
      message.handled = true;
    },
  });
  const text = readFileSync(join(scratch, `${file}.api.md`), 'utf8');
  const [, code = ''] = /```ts\n([\s\S]*)```/.exec(text) ?? [];
  // Drop the remarks: a missing release tag does not affect users.
  return inOneOrder(code)
    .replace(/^ *\/\/ (?:@public|\(undocumented\)|Warning:.*|\(No @packageDocumentation.*)\n/gm, '')
    .trim();
}

const stale: string[] = [];
try {
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = join(root, 'packages', name);
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const sections = Object.entries(manifest.exports).flatMap(([subpath, entry]) => {
      const declarations = declarationsOf(entry);
      if (declarations === null) return [];
      const specifier = join(manifest.name, subpath);
      return [
        `## \`${specifier}\`\n\n\`\`\`typescript\n${reportOf(folder, subpath, declarations)}\n\`\`\`\n`,
      ];
    });
    // Skip commands, which have no exports.
    if (sections.length === 0) continue;
    const report = `# Public surface of ${manifest.name}\n\n<!-- Written by \`npm run api\` from the built declarations. -->\n\n${sections.join('\n')}`;
    const file = join(root, 'etc', `${name}.api.md`);
    if (existsSync(file) && readFileSync(file, 'utf8') === report) continue;
    stale.push(`etc/${name}.api.md`);
    if (check) continue;
    writeFileSync(file, report);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (check && stale.length > 0) console.error(`run npm run api and look at the change: ${stale.join(', ')}`);
console.log(
  `api reports: ${stale.length === 0 ? 'up to date' : `${check ? 'stale' : 'wrote'} ${stale.join(', ')}`}`,
);
process.exitCode = check && stale.length > 0 ? 1 : 0;
