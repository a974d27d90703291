import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { keyScopes } from '@ostiary/core/admin';
import { afterAll, describe, expect, it } from 'vitest';
import { knownVariables } from '../../../examples/reference-server/src/environment.ts';
import { startServer } from '../../../examples/reference-server/test/support/server.ts';
import { manifestOf } from '../../../packages/create-ostiary/src/manifest.ts';
import { pagesThatInstall } from '../../../scripts/install-commands.ts';
import { blocksOf, pages, root, textOf } from '../../support/documentation.ts';
import { type Ended, runHere } from '../../support/processes/run-here.ts';
import { commandsOf, type ShellCommand } from './support/shell.ts';

const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const commands = pages().flatMap((page) =>
  blocksOf(page, 'sh').flatMap((block) => commandsOf(block).map((command) => ({ page, ...command }))),
);

const data = mkdtempSync(join(tmpdir(), 'ostiary-docs-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** Returns the script of the root package.json that a command runs, if it runs one. */
function scriptOf({ words: [program, first, second] }: ShellCommand): string | undefined {
  if (program !== 'npm') return undefined;
  if (first === 'start' || first === 'test') return first;
  return first === 'run' ? second : undefined;
}

function byPage<Entry extends { readonly page: string }>(which: readonly Entry[]): [string, Entry[]][] {
  return [...Map.groupBy(which, ({ page }) => page)];
}

/**
 * Returns where a command of the documentation writes a file: `/backup/…` is replaced by a folder of the
 * tests.
 */
const written = (word: string): string => (word.startsWith('/backup/') ? join(data, word.slice(8)) : word);

/** Replaces `<client id>` and `<key id>` in a command with the last id that an earlier command printed. */
function given(word: string, said: string): string {
  const made = { '<client id>': /\bsvc_client_\w+/g, '<key id>': /\bkey_\w+/g };
  const [placeholder = '', format] = Object.entries(made).find(([name]) => word.includes(name)) ?? [];
  return format === undefined ? word : word.replace(placeholder, said.match(format)?.at(-1) ?? placeholder);
}

/**
 * Runs a command of the documentation in a shell, in a folder of the tests. curl fails if the response is an
 * error.
 */
async function inShell(command: string, env: Readonly<Record<string, string>>) {
  const script = `curl() { command curl --silent --show-error --fail-with-body "$@"; }\n${command}`;
  const child = spawn('sh', ['-c', script], {
    cwd: data,
    env: { ...process.env, no_proxy: '*', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, said: output + errors };
}

/**
 * Checks whether a command failed only because it names an object that only the reader has, such as `we_…` or
 * `<client id>`.
 */
function names({ words }: ShellCommand, output: string): boolean {
  return words.some((word) => /…|<[^>]*>/.test(word)) && /^there is no (?!command)/.test(output);
}

const program = join(root, 'examples/reference-server/src/cli/main.ts');

/**
 * Commands of the reference server, in all spellings: `ostiary …`, `npm run ostiary -- …` and `node admin.ts
 * …`.
 */
const programs = commands.flatMap((command) => {
  const { words } = command;
  const at = words[0] === 'ostiary' ? 0 : words.indexOf(scriptOf(command) === 'ostiary' ? '--' : 'admin.ts');
  return at < 0 ? [] : [{ ...command, args: words.slice(at + 1) }];
});

describe('commands of the documentation', () => {
  it('run scripts and files that are there', () => {
    const inText = pages().flatMap((page) =>
      Array.from(textOf(page).matchAll(/`npm run ([\w:-]+)/g), ([, name = '']) => ({ page, name })),
    );
    const inBlocks = commands.flatMap((command) => {
      const name = scriptOf(command);
      return name === undefined ? [] : [{ page: command.page, name }];
    });
    expect(inBlocks.length).toBeGreaterThan(20);
    const starter = {
      folder: 'app',
      framework: 'node',
      storage: 'sqlite',
      languages: ['en'],
      mcp: false,
    } as const;
    const ofStarter: { scripts: object } = JSON.parse(manifestOf(starter));
    const scriptsOf = (page: string) =>
      page.startsWith('packages/create-ostiary/templates/') ? { ...scripts, ...ofStarter.scripts } : scripts;
    const missing = [...inText, ...inBlocks].filter(
      ({ page, name }) => !Object.hasOwn(scriptsOf(page), name),
    );
    expect(missing).toEqual([]);

    const files = commands.flatMap(({ page, words }) =>
      words.filter((word) => /^[\w-]+(\/[\w.-]+)+\.ts$/.test(word)).map((file) => ({ page, file })),
    );
    expect(files.length).toBeGreaterThan(2);
    // Checks that a path exists below the root of the repository, or below the folder of the reference
    // server, as in its container.
    const exists = (file: string) =>
      ['', 'examples/reference-server'].some((folder) => existsSync(join(root, folder, file)));
    expect(files.filter(({ file }) => !exists(file))).toEqual([]);
  });

  it('install packages that are here, wherever a page says so', () => {
    const named = /^(?:@ostiary\/|\.\.\/ostiary\/packed\/ostiary-)([\w-]+)/;
    const installed = commands
      .filter(({ words }) => words[0] === 'npm' && words[1] === 'install')
      .map(({ page, words }) => ({ page, names: words.flatMap((word) => named.exec(word)?.[1] ?? []) }))
      .filter(({ names }) => names.length > 0);
    expect(installed.length).toBeGreaterThan(8);
    const unknown = installed.filter(({ names }) =>
      names.some((name) => !existsSync(join(root, 'packages', name, 'package.json'))),
    );
    expect(unknown).toEqual([]);
    // All install commands are generated, none is written by hand.
    const marked = pages().flatMap((page) => textOf(page).match(/^<!-- install .*@ostiary/gm) ?? []);
    expect(installed).toHaveLength(marked.length);
    // With a release, all of them install from the registry.
    for (const [page, text] of pagesThatInstall(true)) {
      expect(text, page).toMatch(/^npm (?:install (?:--save-dev )?@ostiary\/|create ostiary@latest )/m);
      expect(text, page).not.toMatch(/npm run pack|no release yet/);
    }
  });

  it('name variables that the reference server reads', () => {
    // Variables that only programs on the pages themselves read.
    const readers = new Set(
      pages().flatMap((page) => textOf(page).match(/(?<=process\.env\.)OSTIARY_\w+/g) ?? []),
    );
    const unknown = pages().flatMap((page) =>
      (textOf(page).match(/\bOSTIARY_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [])
        .filter((name) => !knownVariables.has(name) && !readers.has(name))
        .map((name) => `${page}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('of an installation work on a new one, in the order of their page', async () => {
    expect(programs.length).toBeGreaterThan(20);
    const problems: string[] = [];
    for (const [page, own] of byPage(programs)) {
      const env = {
        ...process.env,
        OSTIARY_AUTH_URL: 'http://localhost:3000',
        OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
        OSTIARY_DATA_DIR: join(data, page.replaceAll('/', '-')),
      };
      const run = (args: readonly string[], more: object = {}): Promise<Ended> =>
        // `--yes` stands for the reader's confirmation.
        runHere(program, [...args, '--yes'], { ...env, ...more }, 'a password of the tests\n');
      if (!own.some(({ args }) => args[0] === 'partners' && args[1] === 'create'))
        await run(['partners', 'create', 'kafe', '--name', 'Kafe']);
      let said = '';
      for (const command of own) {
        const { DATABASE_URL = '' } = command.variables;
        const args = command.args.map((word) => written(given(word, said)));
        const { code, output, errors } = await run(args, { DATABASE_URL });
        const answer = output + errors;
        said += answer;
        // A command that was understood may still fail if it needs the reader's database or a public server.
        const understood = code === 0 || (code === 1 && /\b(move|doctor)\b/.test(command.line));
        // A file that is not a program (any more) ends without output.
        if (answer === '' || (!understood && !names(command, answer)))
          problems.push(`${page}: ${command.line}: ${answer}`);
      }
    }
    expect(problems).toEqual([]);
  }, 300_000);

  it('that ask the API get what they ask for', async () => {
    const requests = commands.filter(({ words: [program] }) => program === 'curl');
    expect(requests.length).toBeGreaterThan(4);
    const { server, origin } = await startServer({}, { OSTIARY_INTROSPECTION: 'on' });
    const { accounts, ostiary } = server.installation;
    const ana = { handle: 'ana', password: 'correct horse battery', name: 'Ana', phone: '+50937000009' };
    const { kid } = await accounts.create(ana);
    const api = { name: 'API', resourceServer: true, redirectUris: [], allowedScopes: [] };
    const { client, clientSecret } = await ostiary.admin.clients.create(api);
    const problems: string[] = [];
    for (const [index, [page, own]] of byPage(requests).entries()) {
      const partner = `reader-${index}`;
      await ostiary.admin.partners.create({ slug: partner, name: partner });
      // One key for the whole page, of the mode in which all its requests are possible.
      const mode = own.some(({ line }) => line.includes('/sandbox/')) ? 'test' : 'live';
      const { key } = await ostiary.admin.apiKeys.issue({ partner, mode, scopes: [...keyScopes] });
      const registered = await fetch(`${origin}/v1/partner/webhooks`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: 'https://127.0.0.1/', events: ['*'], secret: 'a secret of the tests' }),
      });
      const { id } = (await registered.json()) as { readonly id: string };
      // Variables that pages use for the reader's objects.
      const env = {
        ...Object.fromEntries(['API_KEY', 'OSTIARY_API_KEY', 'TEST_KEY', 'KEY'].map((name) => [name, key])),
        ...{ WEBHOOK_SECRET: 'a secret of the tests', NEW_SECRET: 'another secret of the tests' },
        ...{ CLIENT_ID: client.clientId, CLIENT_SECRET: String(clientSecret), TOKEN: 'svc_at_unknown' },
      };
      for (const { line } of own) {
        const command = line
          .replaceAll(/https?:\/\/(?:api|id)\.example\.com|http:\/\/127\.0\.0\.1:3000/g, origin)
          .replaceAll('https://shop.example/', 'https://127.0.0.1/')
          .replaceAll('KID-ANA', kid)
          .replaceAll('we_…', id);
        const { code, said } = await inShell(command, env);
        if (code !== 0) problems.push(`${page}: ${line}: ${said}`);
      }
    }
    expect(problems).toEqual([]);
  }, 120_000);
});
