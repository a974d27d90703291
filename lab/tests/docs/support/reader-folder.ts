import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { TestBrowser } from '../../../../packages/core/test/support/browser.ts';
import { installCommand } from '../../../../scripts/install-commands.ts';
import { blocksOf } from '../../../support/documentation.ts';
import { freePort } from '../../../support/free-port.ts';
import { packInto } from '../../../support/packages/packed.ts';
import { commandsOf } from './shell.ts';

/** Free ports that replace 3000 and 4000, because other tests run at the same time. */
const ports = new Map<string, string>();
/** Replaces the ports in a text of a documentation page with free ports. */
export const withPorts = (text: string): string =>
  text.replace(/\b[34]000\b/g, (port) => ports.get(port) ?? port);

/**
 * Packages of this repository that the documentation pages install. Type declarations of only one of the
 * packages are read.
 */
const packages = ['adapter-sqlite', 'cli', 'client-sdk', 'core', 'webhook-verifier'];
const checkout = mkdtempSync(join(tmpdir(), 'ostiary-checkout-'));
const folders: string[] = [checkout];
const running: ChildProcess[] = [];

/** Creates an empty folder beside `ostiary`, which stands for a clone of the repository and contains only the packed packages. */
function emptyFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'ostiary-quickstart-'));
  folders.push(parent);
  symlinkSync(checkout, join(parent, 'ostiary'));
  const folder = join(parent, 'app');
  mkdirSync(folder);
  return folder;
}

/**
 * Checks whether a code block creates an app in its own folder. The tests of `create-ostiary` run such
 * blocks.
 */
const writesApp = (block: string): boolean => /\bcreate[ -]ostiary/.test(block);

/**
 * Creates a reader's folder beside the folder `ostiary` with the packed packages, writes the files of a documentation page into
 * it, and installs the packages that the page's commands name.
 */
export async function folderOf(page: string): Promise<string> {
  const folder = emptyFolder();
  const installing = blocksOf(page, 'sh')
    .filter((block) => !writesApp(block))
    .flatMap(commandsOf)
    .filter(({ words: [program] }) => program === 'npm');
  expect(installing.map(({ words: [, command] }) => command)).toEqual(
    expect.arrayContaining(['init', 'pkg', 'install']),
  );
  for (const { line, words } of installing) {
    // Install unreleased packages: a published release is older than these pages.
    const own = words.some((word) => word.startsWith('@ostiary/'));
    await run(folder, own ? installCommand(words.slice(2), false) : line);
  }
  for (const block of blocksOf(page, 'ts')) {
    const [, file = ''] = /^\/\/ ([\w-]+\.ts)\n/.exec(block) ?? [];
    writeFileSync(join(folder, file), withPorts(block));
  }
  return folder;
}

/** Returns the command of a page that contains these words. */
export function commandOf(page: string, words: string): string {
  const found = blocksOf(page, 'sh')
    .flatMap(commandsOf)
    .find(({ line }) => line.includes(words));
  if (found === undefined) throw new Error(`${page} has no command with ${words}`);
  return withPorts(found.line);
}

/**
 * Environment of this process without `NODE_OPTIONS`, which selects sources of this repository instead of the
 * packages.
 */
const { NODE_OPTIONS: _, ...inherited } = process.env;
const readersEnvironment = {
  ...inherited,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};

export interface Program {
  readonly said: () => string;
  readonly ended: Promise<number | null>;
}

export function start(
  folder: string,
  command: string,
  variables: Readonly<Record<string, string>> = {},
): Program {
  const child = spawn(
    '/bin/sh',
    ['-c', command.replace(/^((?:\w+=(?:"[^"]*"|\S+) )*)node /, '$1exec node ')],
    {
      cwd: folder,
      env: {
        ...readersEnvironment,
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        ...variables,
      },
    },
  );
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  return {
    said: () => output,
    ended: new Promise((resolve) => child.once('close', (code) => resolve(code))),
  };
}

export async function run(
  folder: string,
  command: string,
  variables?: Readonly<Record<string, string>>,
): Promise<string> {
  const { said, ended } = start(folder, command, variables);
  expect(await ended, `${command}: ${said()}`).toBe(0);
  return said();
}

/** Repeats a check until the check succeeds. @throws Error with the program's output after a minute */
export async function until(what: () => boolean | Promise<boolean>, program: Program): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`in vain: ${program.said()}`);
}

export const answers = (url: string) => () =>
  fetch(url, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );

/**
 * Makes a browser that follows redirects. As on a reader's machine, all ports share their cookies, and other
 * apps on localhost set cookies of their own between two pages, such as the `session` of Flask and Starlette.
 */
export function browser() {
  const jar = new TestBrowser(withPorts('http://localhost:3000'));
  return async (target: string, form?: Record<string, string>): Promise<{ url: string; text: string }> => {
    for (const name of ['session', 'shop_session', 'not_remembered']) jar.setCookie(name, 'another-app', '/');
    let url = target;
    let answer = await (form === undefined ? jar.get(url) : jar.post(url, form));
    while (answer.location !== null) {
      url = answer.location;
      answer = await jar.get(url);
    }
    return { url, text: answer.text };
  };
}

/** Returns the value that a command printed after a name. */
export const printed = (name: string, said: string): string =>
  new RegExp(`^${name} +(\\S+)$`, 'm').exec(said)?.[1] ?? '';

/**
 * Packs the packages to where the documentation pages expect a checkout of the repository, and gives each
 * test its own ports.
 */
export function useCheckout(): void {
  beforeAll(async () => {
    mkdirSync(join(checkout, 'packed'));
    await packInto(join(checkout, 'packed'), packages, ['client-sdk']);
  }, 300_000);
  beforeEach(async () => {
    for (const port of ['3000', '4000']) ports.set(port, String(await freePort()));
  });
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
}
