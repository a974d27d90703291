import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/**
 * Makes a copy of the repository whose workspace packages refer to each other, with links to the installed
 * packages.
 */
async function scratchCopy(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'ostiary-changes-'));
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    maxBuffer: 2 ** 24,
  });
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  for (const file of files) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const folders = new Set(
    files.filter((file) => file.endsWith('/package.json')).map((file) => join(file, '..')),
  );
  for (const folder of folders) {
    const modules = join(folder, 'node_modules');
    if (existsSync(join(root, modules)))
      cpSync(join(root, modules), join(copy, modules), { recursive: true, verbatimSymlinks: true });
  }
  return copy;
}

const copy = await scratchCopy();
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Returns the row of the documentation page that begins with these words. */
function row(words: string): string {
  const found = page.split('\n').find((line) => line.replaceAll('*', '').startsWith(`| ${words}`));
  if (found === undefined) throw new Error(`docs/architecture.md has no row "${words}"`);
  return found;
}

/**
 * Changes files in a copy of the repository, and checks that the row of the documentation page names each of
 * them, or all files of the kind as `*.json`.
 */
function change(words: string, edits: { readonly [file: string]: (text: string) => string }): void {
  for (const [file, edit] of Object.entries(edits)) {
    const named = file.replace('packages/core/src/', '');
    const names = [named, named.replace(/[^/]+\.json$/, '*.json')];
    const isNamed = names.some((name) => row(words).includes(`\`${name}\``));
    expect.soft(isNamed, `the row "${words}" names ${named}`).toBe(true);
    const path = join(copy, file);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const after = edit(before);
    expect(after, `${file} was changed`).not.toBe(before);
    writeFileSync(path, after);
  }
}

/** Makes an edit that inserts text before the first match of a pattern. */
const before = (pattern: RegExp, text: string) => (old: string) =>
  old.replace(pattern, (found) => text + found);

/** Makes an edit that inserts text after the first match of a pattern. */
const after = (pattern: RegExp, text: string) => (old: string) =>
  old.replace(pattern, (found) => found + text);

/** Runs a command in the copy of the repository. Rejects with the command's output if the command fails. */
async function inCopy(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  try {
    const { stdout } = await run(process.execPath, [...args], { cwd: copy, env, maxBuffer: 2 ** 24 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${args.join(' ')}\n${stdout}\n${stderr}`);
  }
}

/** Makes an edit that creates a file of page texts which differ from the English texts. */
const translationOf = (file: string) => () =>
  JSON.stringify(
    JSON.parse(readFileSync(join(copy, file), 'utf8'), (_, value: unknown) =>
      typeof value === 'string' ? `it ${value}` : value,
    ),
  );

it('a scope, an event and a language need changes of those files only that the page names', async () => {
  change('a scope |', {
    'packages/core/src/ports/users.ts': after(
      /export interface UserRecord\b[^{]*\{\n/,
      '  /** Level of the loyalty programme. */\n  readonly loyaltyLevel?: string | null | undefined;\n',
    ),
    'packages/core/src/scopes/scopes.ts': before(
      /^ {2}profile: scope\(/m,
      `  loyalty: scope({
    fields: { loyaltyLevel: text.optional().describe('string') },
    consent: consentTexts('loyalty'),
  }),
`,
    ),
    ...Object.fromEntries(
      ['en', 'fr', 'ht', 'es', 'pt'].map((tag) => [
        `packages/core/languages/${tag}.json`,
        after(
          /^ {2}"scopes": \{\n/m,
          `    "loyalty": { "title": "See your level (${tag})", "detail": "Your loyalty level (${tag})." },\n`,
        ),
      ]),
    ),
    'packages/client-sdk/src/oauth/userinfo.ts': before(
      /^ {2}readonly profile: \{/m,
      '  readonly loyalty: { readonly loyaltyLevel?: string };\n',
    ),
    'packages/testing/src/users.ts': after(/ {4}handle: 'marie',\n/, "    loyaltyLevel: 'gold',\n"),
    'packages/core/test/support/directory.ts': (text) =>
      text
        .replace(/^ {2}kycTier: 2,\n/m, (found) => `${found}  loyaltyLevel: 'gold',\n`)
        .replace(/^ {2}kyc: \[/m, (found) => `  loyalty: ['loyaltyLevel'],\n${found}`),
  });
  change('a type of event', {
    'packages/core/src/events.ts': before(
      /^ {2}'webhook\.test': \{/m,
      `  'loyalty.changed': {
    summary: 'The level of a user changed.',
    when: 'When the level changed.',
    schema: z.object({ kid: kidField, level: text('The level.', 'gold').max(20) }),
    example: { kid: 'KID-TEST-APPROVED', level: 'gold' },
  },
`,
    ),
    'packages/webhook-verifier/src/events.ts': (text) =>
      text
        .replace(
          /^ {2}\| EventOf<'webhook\.test'/m,
          (found) => `  | EventOf<'loyalty.changed', LoyaltyChange>\n${found}`,
        )
        .replace(
          /^\/\*\*\n \* Events that Ostiary sends/m,
          (found) =>
            `/** A user's level changed. */\nexport interface LoyaltyChange {\n  readonly kid: string;\n  readonly level: string;\n}\n\n${found}`,
        ),
    'packages/webhook-verifier/src/index.ts': after(/^ {2}KycChange,\n/m, '  LoyaltyChange,\n'),
  });
  change('a language of the pages', {
    'packages/core/languages/it.json': translationOf('packages/core/languages/en.json'),
    'packages/core/src/scopes/consent-texts.ts': (text) =>
      text
        .replace("| 'pt'", "| 'pt' | 'it'")
        .replace(', pt };', ', pt, it };')
        .replace(/^import pt .*\n/m, (found) => `${found}${found.replaceAll(/\bpt\b/g, 'it')}`)
        .replace(/^ {4}pt: pt.*\n/m, (found) => `${found}${found.replaceAll(/\bpt\b/g, 'it')}`),
  });
  const withTag = (text: string) => text.replace("'es', 'pt'] as const", "'es', 'pt', 'it'] as const");
  const loaded = after(
    /^ {2}pt: async .*\n/m,
    "  it: async () => (await import('../languages/it.json', { with: { type: 'json' } })).default,\n",
  );
  change('a language of the console', {
    'packages/console/languages/it.json': translationOf('packages/console/languages/en.json'),
    'packages/console/src/words.ts': (text) => loaded(withTag(text)),
  });
  change('a language of the starter kit', { 'packages/create-ostiary/src/choices.ts': withTag });
  change('a language of the reference server', {
    'examples/reference-server/texts/it.json': translationOf('examples/reference-server/texts/en.json'),
    'examples/reference-server/src/settings.ts': withTag,
    'examples/partner-app/texts/it.json': translationOf('examples/partner-app/texts/en.json'),
    'examples/partner-app/src/pages/words.ts': withTag,
  });

  await inCopy('lab/node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'tsconfig.json');
  // Leave out the test of the console's texts, which would refuse a file that is not a real translation, and
  // the pages in a browser, which have a list of languages and scopes of their own.
  await inCopy(
    'node_modules/vitest/vitest.mjs',
    'run',
    '--exclude=packages/core/test/pages/in-a-browser.test.ts',
    'packages/core/test/pages',
    'packages/core/test/oauth/scopes.test.ts',
    'packages/core/test/oauth/userinfo.test.ts',
    'packages/core/test/loading.test.ts',
    'packages/core/test/partner/handlers/events.test.ts',
    'packages/client-sdk/test/types.test.ts',
    'packages/create-ostiary/test/run.test.ts',
    'packages/webhook-verifier/test/types.test.ts',
    'examples/reference-server/test/texts.test.ts',
    'examples/partner-app/test/words.test.ts',
    '--maxWorkers=2',
  );
}, 240_000);
