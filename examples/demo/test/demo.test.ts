import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OstiaryPartner } from '@ostiary/client-sdk';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { run } from '../../reference-server/test/support/processes.ts';
import { cheap } from '../../reference-server/test/support/server.ts';
import { type Demo, startDemo } from '../src/demo.ts';
import { withArguments } from '../src/environment.ts';
import { demoTable } from '../src/table.ts';
import { createReport } from '../src/walkthrough/report.ts';

const source = join(import.meta.dirname, '../src');
const program = join(source, 'main.ts');
const commands = join(source, '../../reference-server/src/cli/main.ts');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function environment(): Promise<NodeJS.ProcessEnv & { readonly OSTIARY_DATA_DIR: string }> {
  return {
    OSTIARY_DATA_DIR: await temporaryFolder(),
    PORT: String(await freePort()),
    PARTNER_PORT: String(await freePort()),
  };
}

/**
 * Environment of a demo that was started once, for tests of later starts. A first start takes long, because
 * it hashes passwords.
 */
const afterFirstStart = { OSTIARY_DATA_DIR: '', PORT: '', PARTNER_PORT: '' };
beforeAll(async () => {
  afterFirstStart.OSTIARY_DATA_DIR = await mkdtemp(join(tmpdir(), 'demo-test-'));
  afterFirstStart.PORT = String(await freePort());
  afterFirstStart.PARTNER_PORT = String(await freePort());
  const demo = await start(afterFirstStart);
  await demo.close();
});
afterAll(() => rm(afterFirstStart.OSTIARY_DATA_DIR, { recursive: true, force: true }));

/** Returns the environment of a demo that was started once, with a copy of its folder. */
async function startedBefore(): Promise<typeof afterFirstStart> {
  const folder = await temporaryFolder();
  await cp(afterFirstStart.OSTIARY_DATA_DIR, folder, { recursive: true });
  return { ...afterFirstStart, OSTIARY_DATA_DIR: folder };
}

const read = async (folder: string): Promise<string> => readFile(join(folder, 'demo.json'), 'utf8');

/**
 * Starts the demo in this process with cheap hashes. The program itself and the walkthrough use full
 * strength.
 */
const start = (env: NodeJS.ProcessEnv): Promise<Demo> =>
  startDemo({ ...env, OSTIARY_LOG_LEVEL: 'silent' }, { passwordCost: cheap });

/** Makes a client of the partner API with the key of the shop. */
function partnerOf({ file }: Demo, mode: 'live' | 'test'): OstiaryPartner {
  const apiKey = file.apiKeys.find((key) => key.mode === mode)?.key ?? '';
  return new OstiaryPartner({ apiKey, baseUrl: file.baseUrl });
}

/** Triggers a test event, and checks that the shop's page shows it with the result of its delivery. */
async function arrives(demo: Demo, message: string): Promise<void> {
  await partnerOf(demo, 'test').sandbox.triggerEvent({ type: 'webhook.test', data: { message } });
  const shown = async () => (await fetch(`${demo.partnerUrl}/webhooks`)).text();
  await expect.poll(shown).toContain(message);
  expect(await shown()).toContain('handled, answered 200');
}

async function endpointsOf(demo: Demo, mode: 'live' | 'test'): Promise<readonly { id: string }[]> {
  const endpoints = [];
  for await (const endpoint of partnerOf(demo, mode).webhooks.list()) endpoints.push(endpoint);
  return endpoints;
}

describe('npm start', () => {
  test('starts both servers, writes demo.json for its owner only, and shows the next steps in the terminal', async () => {
    const env = await environment();
    const demo = run(program, [], env);
    await demo.until('demo.json');
    const file = JSON.parse(await read(env.OSTIARY_DATA_DIR));
    const authUrl = `http://localhost:${env.PORT}`;
    const shop = `http://localhost:${env.PARTNER_PORT}`;
    const allowedScopes = ['openid', 'profile', 'kyc', 'wallet:balance', 'identity'];
    const user = {
      password: expect.stringMatching(/^[a-z0-9]{5}(-[a-z0-9]{5}){2}$/),
      sub: expect.stringMatching(/^usr_/),
      kid: expect.stringMatching(/^K/),
      phone: expect.stringMatching(/^\+509\d{8}$/),
    };
    expect(file).toEqual({
      authUrl,
      baseUrl: authUrl,
      prefix: 'svc',
      operator: {
        email: 'owner@example.com',
        password: expect.stringMatching(/^(?:[a-z2-9]{5}-?){3}$/),
      },
      users: ['anaika', 'jean.robert', 'mirlande'].map((handle) => ({ handle, ...user })),
      clients: [
        {
          clientId: 'kafe-lakay',
          clientSecret: expect.any(String),
          redirectUris: [`${shop}/callback`],
          allowedScopes,
        },
        {
          clientId: 'kafe-lakay-public',
          clientSecret: null,
          redirectUris: [`${shop}/callback/public`, `${shop}/spa`],
          allowedScopes,
        },
      ],
      apiKeys: ['live', 'test'].map((mode) => ({
        id: expect.stringMatching(/^key_/),
        mode,
        key: expect.stringMatching(new RegExp(`^svc_${mode}_[0-9A-Za-z]{49}$`)),
        scopes: [
          ...['identity:verify', 'payments:write', 'payments:read', 'users:read', 'webhooks'],
          'reconciliation:read',
        ],
        partner: 'kafe-lakay',
        signingSecret: expect.stringMatching(/^svc_sign_[\w-]{40,}$/),
      })),
      webhooks: ['live', 'test'].map((mode) => ({
        mode,
        url: `${shop}/webhooks/${mode}`,
        secret: expect.stringMatching(/^[\w-]{43}$/),
        id: expect.stringMatching(/^we_[0-9a-f]{32}$/),
      })),
    });
    for (const name of await readdir(env.OSTIARY_DATA_DIR)) {
      const { mode } = await stat(join(env.OSTIARY_DATA_DIR, name));
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, '600']);
    }
    const secrets = [
      ...file.users.map(({ password }: { password: string }) => password),
      file.operator.password,
      file.clients[0].clientSecret,
      ...file.apiKeys.flatMap(({ key, signingSecret }: Record<string, string>) => [key, signingSecret]),
      ...file.webhooks.map(({ secret }: Record<string, string>) => secret),
    ];
    const passwords = file.users.map(({ password }: { password: string }) => password);
    const shown = [...passwords, file.operator.password, file.apiKeys[1].key];
    for (const secret of secrets)
      expect([secret, demo.output().includes(secret)]).toEqual([secret, shown.includes(secret)]);
    for (const status of ['approved', 'pending', 'rejected']) expect(demo.output()).toContain(status);
    for (const address of [authUrl, shop, `${authUrl}/sandbox`, `${authUrl}/operators`])
      expect(demo.output()).toContain(address);
    expect(demo.output().split('\n').length).toBeLessThan(24);
    // The README shows the output on its first screen, without the secrets.
    const ofReader = demo.output().replaceAll(authUrl, 'http://localhost:3000');
    const asInReadme = ofReader
      .replaceAll(shop, 'http://localhost:4000')
      .replace(/\w{5}-\w{5}-\w{5}/g, '…'.padEnd(17))
      .replace(file.apiKeys[1].key, '…');
    const readme = await readFile(join(source, '../../../README.md'), 'utf8');
    const inReadme = /^Ostiary is running.*?(?=^```$)/ms.exec(readme)?.[0] ?? 'nothing';
    expect(asInReadme).toContain(inReadme);
    for (const address of [`${shop}/webhooks`, `${authUrl}/sandbox`]) {
      const page = await fetch(address);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('</html>')]);
    }
    expect((await fetch(`${authUrl}/healthz`)).status).toBe(200);
    expect(await (await fetch(shop)).text()).toContain('Kafe Lakay');
    demo.child.kill('SIGTERM');
    expect(await demo.ended).toBe(0);
    const log = await readFile(join(env.OSTIARY_DATA_DIR, 'server.log'), 'utf8');
    expect(log).toContain('"msg":"closed"');
    for (const secret of secrets) expect(log).not.toContain(secret);
  });

  test('keeps all data on later starts, and adapts to changed ports, also for webhooks', async () => {
    const env = await startedBefore();
    const before = await read(env.OSTIARY_DATA_DIR);
    const moved = { ...env, PORT: String(await freePort()), PARTNER_PORT: String(await freePort()) };
    const ports = (text: string): string =>
      text
        .replaceAll(`:${env.PORT}`, `:${moved.PORT}`)
        .replaceAll(`:${env.PARTNER_PORT}/`, `:${moved.PARTNER_PORT}/`);
    const tables: string[] = [];
    for (const [index, settings] of [env, env, moved].entries()) {
      const demo = await start(settings);
      try {
        await arrives(demo, `start ${index}`);
        for (const mode of ['live', 'test'] as const) expect(await endpointsOf(demo, mode)).toHaveLength(1);
        const { ostiary } = demo.server.installation;
        for (const { clientId } of demo.file.clients)
          expect((await ostiary.admin.clients.get(clientId))?.partner).toBe('kafe-lakay');
        tables.push(await demoTable(demo));
      } finally {
        await demo.close();
      }
      const expected = settings === moved ? ports(before) : before;
      expect(JSON.parse(await read(env.OSTIARY_DATA_DIR))).toEqual(JSON.parse(expected));
    }
    expect(tables[1]).toBe(tables[0]);
  });

  test('adapts keys and header names of webhooks to a prefix that is chosen later', async () => {
    const env = await startedBefore();
    const { webhooks } = JSON.parse(await read(env.OSTIARY_DATA_DIR));
    const second = await start({ ...env, OSTIARY_PREFIX: 'acme' });
    onTestFinished(() => second.close());
    expect(second.file.prefix).toBe('acme');
    for (const { key, mode } of second.file.apiKeys) expect(key).toMatch(new RegExp(`^acme_${mode}_`));
    expect(second.file.webhooks).toEqual(webhooks);
    await arrives(second, 'with another prefix');
    // Commands read the prefix from the demo's data.
    const { OSTIARY_DATA_DIR } = env;
    const args = ['keys', 'issue', 'kafe-lakay', '--mode', 'test', '--scope', 'webhooks', '--json'];
    const issued = await runHere(commands, args, { OSTIARY_DATA_DIR });
    expect(JSON.parse(issued.output).key).toMatch(/^acme_test_/);
  });

  test('says what to do if the passwords are lost, and starts again in an empty folder', async () => {
    const env = await startedBefore();
    await writeFile(join(env.OSTIARY_DATA_DIR, 'demo.json'), '{"users": [');
    await expect(start(env)).rejects.toThrow('not its demo.json: remove the folder');
    for (const name of await readdir(env.OSTIARY_DATA_DIR))
      if (name.startsWith('ostiary.sqlite')) await rm(join(env.OSTIARY_DATA_DIR, name));
    await (await start(env)).close();
    expect(JSON.parse(await read(env.OSTIARY_DATA_DIR)).users).toHaveLength(3);
  });

  test.each([
    [{ NODE_ENV: 'production' }, [], 'NODE_ENV is production'],
    [{ OSTIARY_AUTH_URL: 'https://id.example.com' }, [], 'OSTIARY_AUTH_URL leads to another machine'],
    [{ OSTIARY_BASE_URL: 'https://api.example.com' }, [], 'OSTIARY_BASE_URL leads to another machine'],
    [{ OSTIARY_SEALING_KEYS: 'x' }, [], 'OSTIARY_SEALING_KEYS is set'],
    [{ OSTIARY_SEALING_KEYS_FILE: 'x' }, [], 'OSTIARY_SEALING_KEYS_FILE is set'],
    [{ OSTIARY_DEMO: '1' }, [], 'OSTIARY_DEMO is not a setting'],
    [{ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'off' }, [], 'OSTIARY_WEBHOOK_PRIVATE_TARGETS is off'],
    [{ PARTNER_PORT: 'x' }, [], 'PARTNER_PORT must be a port number'],
    [{}, ['--colour', 'red'], 'the only argument is --prefix'],
    [{}, ['--prefix', 'Acme!'], 'OSTIARY_PREFIX must be'],
  ])('refuses %j %j in one line', async (changes, args, message) => {
    const env = await environment();
    const { code, output, errors } = await runHere(program, args, { ...env, ...changes });
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/^ostiary: .*\n$/);
    expect(errors).toContain(message);
    expect(await readdir(env.OSTIARY_DATA_DIR)).not.toContain('demo.json');
  });

  test.each(['PORT', 'PARTNER_PORT'])('says in one line that %s is taken', async (variable) => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const env = { ...(await startedBefore()), [variable]: String(port) };
    const { code, errors } = await runHere(program, [], env);
    const said = `ostiary: port ${port} is taken; set ${variable} to a free one`;
    expect([code, errors]).toEqual([1, expect.stringMatching(new RegExp(`^${said}.*\\n$`))]);
  });
});

test('colours are used at terminals, and on request', () => {
  const terminal = pathToFileURL(join(source, 'terminal.ts')).href;
  const program = `import { styles } from '${terminal}'; process.stdout.write(styles.good('fine'))`;
  const show = (env: NodeJS.ProcessEnv): string =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], { env, encoding: 'utf8' });
  // Output to a pipe has no colours.
  expect(show({})).toBe('fine');
  expect(show({ FORCE_COLOR: '1' })).toBe('\u001b[32mfine\u001b[39m');
  expect(show({ NO_COLOR: '1' })).toBe('fine');
});

test('the summary reports the failed step and the steps that succeeded', () => {
  const lines: string[] = [];
  const report = createReport((line) => void lines.push(line));
  report.step('First');
  report.check({ one: true, two: true });
  report.step('Second');
  expect(() => report.check({ three: false, four: true })).toThrow('three');
  expect(lines).toEqual(['\n1. First', '   ✓ one', '   ✓ two', '\n2. Second', '   ✗ three']);
  expect(report.summary()).toEqual({ checks: 3, lines: '  ✓   First    2 checks\n  ✗   Second   1 check' });
});

test('npm run demo runs every step, with a chosen prefix, and leaves nothing behind', async () => {
  // The environment stays as it is without arguments, as with `npm start`.
  expect(withArguments({}, [])).toEqual({});
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  const walking = run(join(source, 'walkthrough.ts'), ['--prefix', 'acme'], { TMPDIR: folder });
  const ended = [await walking.ended, walking.errors()];
  const output = walking.output();
  expect(ended, output.slice(-500)).toEqual([0, '']);
  expect(Number(/Every step held: (\d+) checks/.exec(output)?.[1])).toBeGreaterThan(120);
  expect(output).not.toContain('✗');
  expect(output).toContain('Summary\n  ✓   Discovery: where everything is');
  for (const name of [
    ...['acme_at_', 'acme_live_', 'acme_test_', 'X-ACME-Signature'],
    ...['verifies', 'pays the user', 'inspects', 'reads the user', 'exports', 'test key'],
    ...[
      'registers a webhook endpoint',
      'verifies the webhook',
      'gets the event again',
      'is dropped',
      'recovers',
    ],
    ...['asks for an event once more', 'identity check of a user changes', 'triggers a test event'],
  ])
    expect(output).toContain(name);
  expect(output).not.toMatch(/svc_|X-SVC-/i);
  // Secrets are shortened: no token, code or signature appears in full.
  expect(output).not.toMatch(
    /_(at|secret|live|test|sign)_[\w-]{20}|eyJ[\w-]{20}|password: [^…]|[Ss]ecret: [\w-]{20}|Signature: [0-9a-f]{20}/,
  );
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
}, 120_000);
