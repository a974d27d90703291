import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installCommand } from '../../../scripts/install-commands.ts';
import { freePort } from '../../support/free-port.ts';
import { blocksOf, root } from './support/pages.ts';
import { commandsOf } from './support/shell.ts';

// The pages say 3000 and 4000; other tests run beside this one.
const ports = new Map<string, string>();
const withPorts = (text: string): string => text.replace(/\b[34]000\b/g, (port) => ports.get(port) ?? port);

const folders: string[] = [];
const running: ChildProcess[] = [];

/** A reader's folder beside a checkout, with the files of a page in it, and with what its commands install. */
async function folderOf(page: string): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'ostiary-quickstart-'));
  folders.push(parent);
  symlinkSync(root, join(parent, 'ostiary'));
  const folder = join(parent, 'app');
  mkdirSync(folder);
  const installing = blocksOf(page, 'sh')
    .flatMap(commandsOf)
    .filter(({ words: [program] }) => program === 'npm');
  expect(installing.map(({ words: [, command] }) => command)).toEqual(
    expect.arrayContaining(['init', 'pkg', 'install']),
  );
  for (const { line, words } of installing) {
    // A release of these packages is older than these pages.
    const own = words.some((word) => word.startsWith('@ostiary/'));
    await run(folder, own ? installCommand(words.slice(2), false) : line);
  }
  for (const block of blocksOf(page, 'ts')) {
    const [, file = ''] = /^\/\/ ([\w-]+\.ts)\n/.exec(block) ?? [];
    writeFileSync(join(folder, file), withPorts(block));
  }
  return folder;
}

/** The command of a page that has these words in it. */
function commandOf(page: string, words: string): string {
  const found = blocksOf(page, 'sh')
    .flatMap(commandsOf)
    .find(({ line }) => line.includes(words));
  if (found === undefined) throw new Error(`${page} has no command with ${words}`);
  return withPorts(found.line);
}

/** Without the conditions of this repository. What was fetched once is not fetched again. */
const { NODE_OPTIONS: _, ...inherited } = process.env;
const readersEnvironment = {
  ...inherited,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};

interface Program {
  readonly said: () => string;
  readonly ended: Promise<number | null>;
}

function start(folder: string, command: string, variables: Readonly<Record<string, string>> = {}): Program {
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

async function run(
  folder: string,
  command: string,
  variables?: Readonly<Record<string, string>>,
): Promise<string> {
  const { said, ended } = start(folder, command, variables);
  expect(await ended, `${command}: ${said()}`).toBe(0);
  return said();
}

/** Asks again until the answer is yes. */
async function until(what: () => boolean | Promise<boolean>, program: Program): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`in vain: ${program.said()}`);
}

const answers = (url: string) => () =>
  fetch(url, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );

/** A browser that follows redirects and keeps cookies. Their names are different on these pages. */
function browser() {
  const cookies = new Map<string, string>();
  return async function open(
    url: string,
    form?: Record<string, string>,
  ): Promise<{ url: string; text: string }> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html', ...(form && { origin: new URL(url).origin }) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    return location === null ? { url, text: await answer.text() } : open(new URL(location, url).href);
  };
}

const printed = (name: string, said: string): string =>
  new RegExp(`^${name} +(\\S+)$`, 'm').exec(said)?.[1] ?? '';

beforeAll(async () => {
  // What the pages tell a reader to do in the checkout.
  await run(root, 'npm run pack');
  ports.set('3000', String(await freePort()));
  ports.set('4000', String(await freePort()));
}, 300_000);

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('the quickstart for those who embed', () => {
  const page = 'docs/quickstart-embed.md';

  it('is a server of less than sixty lines', () => {
    const lines = blocksOf(page, 'ts')
      .filter((block) => /^\/\/ (users|ostiary|server)\.ts\n/.test(block))
      .flatMap((block) => block.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//')));
    expect(lines.length).toBeGreaterThan(30);
    expect(lines.length).toBeLessThan(60);
  });

  it('ends with a user who signed in, a payment and a webhook; the one for partners works on it', async () => {
    const folder = await folderOf(page);
    await run(folder, commandOf(page, 'SEALING_KEY'));
    const server = start(folder, commandOf(page, 'server.ts'));
    await until(answers(withPorts('http://localhost:3000/login')), server);

    await run(folder, commandOf(page, 'partners create'));
    const key = printed('key', await run(folder, commandOf(page, 'keys issue')));
    const client = await run(folder, commandOf(page, 'clients create'));
    const shopEnv = {
      API_KEY: key,
      CLIENT_ID: printed('client_id', client),
      CLIENT_SECRET: printed('client_secret', client),
      WEBHOOK_SECRET: 'a secret of a reader',
    };
    const lines = Object.entries(shopEnv).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(folder, 'shop.env'), lines.join('\n'));
    const shop = start(folder, commandOf(page, 'shop.ts'));
    await until(answers(withPorts('http://localhost:4000/')), shop);
    const registered = async () => {
      const headers = { 'x-api-key': key };
      const answer = await fetch(withPorts('http://localhost:3000/v1/partner/webhooks'), { headers });
      return (await answer.text()).includes('/webhooks');
    };
    await until(registered, shop);

    const open = browser();
    const login = await open(withPorts('http://localhost:4000/'));
    const consent = await open(login.url, { handle: 'ana', password: 'kafe ak pen' });
    const csrf = /name="csrf" value="([^"]*)"/.exec(consent.text)?.[1] ?? '';
    const greeting = await open(consent.url, { csrf, decision: 'approve' });
    expect(greeting.text).toMatch(/^Hello Ana Pierre! .*tr_/);
    await until(() => shop.said().includes('payment.completed'), shop);

    // Who is signed in is asked for the password again where an app wants that, once.
    const again = await fetch(withPorts('http://localhost:4000/'), { redirect: 'manual' });
    const asked = await open(`${again.headers.get('location')}&prompt=login`);
    expect(asked.text).toContain('name="password"');
    expect((await open(asked.url, { handle: 'ana', password: 'kafe ak pen' })).text).toContain('name="csrf"');

    // Nothing was wrong until now, and nothing was told.
    expect(server.said()).not.toContain('ERROR');

    // Ports that are taken are told, as the table at the end of the page says.
    const second: Program[] = [];
    for (const words of ['server.ts', 'shop.ts']) second.push(start(folder, commandOf(page, words)));
    for (const { ended, said } of second) {
      expect(await ended).toBe(1);
      expect(said()).toContain('EADDRINUSE');
    }

    // The partner's page, with a test key of this installation.
    const partnerPage = 'docs/quickstart-partner.md';
    const testKey = printed(
      'key',
      await run(folder, 'node --env-file=.env admin.ts keys issue kafe --mode test --scope all'),
    );
    const said = await run(
      await folderOf(partnerPage),
      commandOf(partnerPage, 'pay.ts').replace('svc_test_…', testKey),
      {
        OSTIARY_BASE_URL: withPorts('http://localhost:3000'),
      },
    );
    expect(said).toContain('This is KID-TEST-APPROVED approved');
    expect(said).toMatch(/^tr_\w+ pending$/m);
  }, 300_000);
});

describe('the quickstart for receivers', () => {
  const page = 'docs/quickstart-receiver.md';

  it('accepts what is signed and refuses everything else', async () => {
    ports.set('4000', String(await freePort()));
    const folder = await folderOf(page);
    const receiver = start(folder, commandOf(page, 'receiver.ts'));
    await until(answers(withPorts('http://localhost:4000/')), receiver);
    const [signed = '', ...forged] = (await run(folder, commandOf(page, 'send.ts'))).trim().split('\n');
    expect(signed).toBe('signed: 200 again: 200');
    expect(forged.length).toBeGreaterThan(20);
    expect(forged.filter((line) => !line.endsWith(': 400'))).toEqual([]);
  }, 120_000);
});
