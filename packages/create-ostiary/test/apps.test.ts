import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { packInto } from '../../../lab/support/packages/packed.ts';
import { type TestPostgres, testPostgres } from '../../../lab/support/postgres/postgres.ts';
import { run, start } from '../../../lab/support/shell.ts';
import { createCommands } from '../../../scripts/install-commands.ts';
import { frameworks, storages } from '../src/choices.ts';
import { isReleased } from '../src/install.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

// All apps together take minutes, and 440 MB if npm has no cache yet, so only the workflow tests them all.
const isEvery = process.env.TEST_EVERY_APP !== undefined;
const few = ['node-sqlite', 'express-postgres', 'hono-sqlite-mcp'];
const combinations = frameworks
  .flatMap((framework) =>
    storages.flatMap((storage) =>
      [false, true].map((mcp) => ({
        ...{ framework, storage, mcp },
        app: `${framework}-${storage}${mcp ? '-mcp' : ''}`,
      })),
    ),
  )
  .filter(({ app }) => isEvery || few.includes(app));
// The apps are written with flags and share the packages in the folder above them. The tests run this app from
// another folder, in which it is written and installed as the pages say.
const asOnPages = 'node-sqlite';
const folder = mkdtempSync(join(tmpdir(), 'create-ostiary-'));
const reader = mkdtempSync(join(tmpdir(), 'create-ostiary-reader-'));
const folderOf = (app: string): string => (app === asOnPages ? join(reader, 'own', app) : join(folder, app));
const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');
const manifestOf = (app: string): Manifest => JSON.parse(read(app, 'package.json'));

let postgres: TestPostgres;

/** Installs the dependencies of all apps in the folder above them. */
async function installAll(tarballs: ReadonlyMap<string, string>): Promise<void> {
  const asked = combinations.flatMap(({ app }) => (app === asOnPages ? [] : manifestOf(app)));
  const dependencies = Object.assign({}, ...asked.flatMap((own) => [own.dependencies, own.devDependencies]));
  for (const [name, tarball] of tarballs) dependencies[name] = `file:${tarball}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await run(folder, 'npm install --loglevel=error');
}

/**
 * Creates and installs an app with the commands of a page of the documentation. The folder `ostiary` beside it
 * stands for a checkout, and has only the packed packages.
 */
async function createAsOnPages(): Promise<void> {
  for (const name of ['own', 'ostiary']) mkdirSync(join(reader, name));
  symlinkSync(folder, join(reader, 'ostiary/packed'));
  // Use the commands for unreleased packages, because a published release would be older than these pages.
  await run(join(reader, 'own'), ['set -e', ...createCommands(asOnPages, false)].join('\n'));
}

beforeAll(async () => {
  const packing = packInto(folder);
  postgres = await testPostgres({ settings: ['fsync=off'] });
  const tarballs = await packing;
  await createAsOnPages();
  mkdirSync(join(folder, 'packed'));
  await run(folder, `tar -xzf ${tarballs.get('create-ostiary')} -C packed`);
  // Run the program before installing anything, because it needs only Node.
  for (const { app, framework, storage, mcp } of combinations)
    await run(
      folder,
      `node packed/package/dist/main.js ${app} --framework ${framework} --storage ${storage} --languages ht,en${mcp ? ' --mcp' : ''}`,
    );
  await installAll(tarballs);
}, 180_000);

afterAll(async () => {
  await postgres?.remove();
  for (const made of [folder, reader]) rmSync(made, { recursive: true, force: true });
});

async function environmentOf(storage: string): Promise<Record<string, string>> {
  return storage === 'postgres' ? { DATABASE_URL: await postgres.newDatabase() } : {};
}

/** Starts an app as its README says, returns its login page and stops the app. */
async function startedApp(app: string, env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const server = start(folderOf(app), 'npm start', { ...env, PORT: String(port) });
  try {
    const deadline = Date.now() + 90_000;
    for (; !server.hasEnded() && Date.now() < deadline; await pause(50)) {
      const answer = await fetch(`http://localhost:${port}/login`).catch(() => null);
      if (answer === null) continue;
      const [cookie = ''] = answer.headers.getSetCookie();
      return { status: answer.status, html: await answer.text(), cookie, said: server.said() };
    }
    throw new Error(`npm start does not answer: ${server.said()}`);
  } finally {
    await server.stop();
  }
}

describe('an app of the packed package', () => {
  it.each(combinations)(
    'passes its own test and starts: $app',
    async ({ app, storage, mcp }) => {
      const env = await environmentOf(storage);
      expect(await run(folderOf(app), 'npm test', env)).toMatch(mcp ? /^ℹ pass 7$/m : /^ℹ pass 4$/m);
      const { status, html, said } = await startedApp(app, env);
      expect([status, html.includes('<form method="post" action="/login">')]).toEqual([200, true]);
      expect(said).toContain('Demo client: demo-app, redirect URI: http://localhost:4000/callback');
      expect(/MCP server: http:\/\/localhost:\d+\/mcp, client id: assistant/.test(said)).toBe(mcp);
    },
    180_000,
  );

  it('is written by the commands of the quickstart', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/quickstart-embed.md'), 'utf8');
    expect(page).toContain(createCommands('my-app', isReleased).join('\n'));
  });

  it('has cookies for https only at an https address, and no demo client there', async () => {
    const { cookie, said } = await startedApp(asOnPages, { AUTH_URL: 'https://id.example.com' });
    expect(cookie).toMatch(/^__Host-login-form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(said).not.toContain('Demo client');
  });

  it('reads secrets from files', async () => {
    const file = join(reader, 'sealing-key');
    writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64url')}\n`);
    const env = { SEALING_KEY: '', SEALING_KEY_FILE: file, DATABASE_FILE: join(reader, 'other.db') };
    expect((await startedApp(asOnPages, env)).status).toBe(200);
  });

  it('has no demo users at a public address, and says so', async () => {
    const { said } = await startedApp(asOnPages, { AUTH_URL: 'https://id.example.com' });
    expect(said).toContain('There are no demo users at https://id.example.com');
    const { said: local } = await startedApp(asOnPages, {});
    expect(local).not.toContain('There are no demo users');
  });

  it('says in its test what is missing without a database', async () => {
    const { app } = combinations.find(({ storage }) => storage === 'postgres') ?? { app: '' };
    const DATABASE_URL = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await expect(run(folderOf(app), 'npm test', { DATABASE_URL })).rejects.toThrow(
      /The app does not start: .* It needs a PostgreSQL at DATABASE_URL of \.env/,
    );
  }, 180_000);

  it('is installed and started by the commands of its Dockerfile', async () => {
    const dockerfile = readFileSync(join(folderOf(asOnPages), 'Dockerfile'), 'utf8');
    const [, install = ''] = /^ {2}(npm ci .*)$/m.exec(dockerfile) ?? [];
    expect(dockerfile).toMatch(/^COPY --from=ostiary \. \/ostiary\/packed\/$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    // As in the image, the path from the app's folder to the packed packages is `../../ostiary/packed`.
    const image = mkdtempSync(join(reader, 'image-'));
    const app = join(image, 'own/app');
    mkdirSync(join(image, 'ostiary'));
    symlinkSync(folder, join(image, 'ostiary/packed'));
    for (const file of ['package.json', 'package-lock.json', 'src'])
      cpSync(join(folderOf(asOnPages), file), join(app, file), { recursive: true });
    const registry = await run(app, 'npm config get registry');
    await run(app, install, { NPM_REGISTRY: registry.trim() });
    const port = await freePort();
    const server = start(app, 'exec node src/server.ts', {
      PORT: String(port),
      SEALING_KEY: Buffer.alloc(32).toString('base64url'),
    });
    try {
      const [, check = ''] = /^ +CMD \["node", "-e", "(.*)"\]$/m.exec(dockerfile) ?? [];
      writeFileSync(join(app, 'healthcheck.mjs'), check);
      await expect.poll(() => run(app, 'node healthcheck.mjs', { PORT: String(port) })).toBe('');
    } finally {
      await server.stop();
    }
  }, 180_000);

  it('has versions that were packed together, and a key file that only its owner can read', () => {
    const { version }: { version: string } = JSON.parse(read('packed/package/package.json'));
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    const keys = combinations.map(({ app, storage }) => {
      const { dependencies } = manifestOf(app);
      expect(dependencies['@ostiary/core']).toMatch(/^\^\d+\.\d+\.\d+/);
      expect(dependencies[`@ostiary/adapter-${storage}`]).toMatch(/^\^\d+\.\d+\.\d+/);
      expect(read(app, '.gitignore').split('\n')).toEqual(expect.arrayContaining(['node_modules/', '.env']));
      expect(read(app, 'src/ostiary.ts')).toContain("languages: ['ht', 'en'],");
      expect(statSync(join(folder, app, '.env')).mode & 0o077).toBe(0);
      return /^SEALING_KEY=([\w-]{43})$/m.exec(read(app, '.env'))?.[1];
    });
    expect(new Set(keys).size).toBe(combinations.length);
    expect(keys).not.toContain(undefined);
  });
});
