import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BuildOptions, build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserAgent } from '../../../examples/mounts/test/support/user-agent.ts';
import { freePort } from '../../support/free-port.ts';
import { packInto } from '../../support/packages/packed.ts';
import { type TestPostgres, testPostgres } from '../../support/postgres/postgres.ts';
import { run, start } from '../../support/shell.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-bundles-'));
const project = join(folder, 'project');
const entry = join(project, 'lab/tests/runtimes/bundled-host.ts');
const redirectUri = 'https://app.example/callback';
/**
 * Modules that stay outside a bundle: native code, which cannot be bundled, and the optional native part of
 * pg.
 */
const external = ['better-sqlite3', 'pg-native'];

let postgres: TestPostgres;

beforeAll(async () => {
  mkdirSync(project);
  const packing = packInto(folder, [
    'adapter-postgres',
    'adapter-sqlite',
    'console',
    'core',
    'webhook-verifier',
  ]);
  postgres = await testPostgres({ settings: ['fsync=off'] });
  const tarballs = await packing;
  const dependencies = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]));
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: { ...dependencies, pg: '^8.23.0' } }),
  );
  for (const file of ['lab/tests/runtimes/bundled-host.ts', 'examples/mounts/src/host.ts'])
    cpSync(join(root, file), join(project, file));
  // The build script of better-sqlite3 requires a compiler; its package contains binaries.
  await run(project, 'npm install --ignore-scripts --loglevel=error');
}, 180_000);

afterAll(async () => {
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Defines `require`, which CommonJS dependencies need and an ES module lacks. */
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const forNode: BuildOptions = {
  entryPoints: [entry],
  bundle: true,
  platform: 'node',
  external,
  logLevel: 'error',
};

const bundlers: Readonly<Record<string, (outFolder: string) => Promise<string>>> = {
  'esbuild, as an ES module': async (outFolder) => {
    const outfile = join(outFolder, 'host.mjs');
    await esbuild({
      ...forNode,
      outfile,
      format: 'esm',
      banner: { js: banner },
      minify: true,
      keepNames: true,
    });
    return outfile;
  },
  'esbuild, as CommonJS': async (outFolder) => {
    const outfile = join(outFolder, 'host.cjs');
    await esbuild({ ...forNode, outfile, format: 'cjs' });
    return outfile;
  },
  'Vite for a server': async (outFolder) => {
    await vite({
      root: project,
      configFile: false,
      logLevel: 'error',
      build: { ssr: entry, outDir: outFolder, rolldownOptions: { output: { entryFileNames: 'host.mjs' } } },
      ssr: { noExternal: true, external },
    });
    return join(outFolder, 'host.mjs');
  },
};

interface Client {
  readonly id: string;
  readonly secret: string;
}

function authorizationRequest(clientId: string): URLSearchParams {
  const request = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state: 's' };
  return new URLSearchParams({ ...request, scope: 'openid profile', ui_locales: 'fr' });
}

/** Signs in, and returns the userinfo for the access token. */
async function walk(origin: string, { id, secret }: Client): Promise<unknown> {
  const browser = new UserAgent(origin, redirectUri, 'user-ana');
  const { callback } = await browser.visit(`${origin}/oauth/authorize?${authorizationRequest(id)}`);
  const code = callback?.get('code') ?? '';
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
  const tokens = await fetch(`${origin}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...exchange, client_id: id, client_secret: secret }),
  });
  const { access_token: token } = (await tokens.json()) as { readonly access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${origin}/v1/oauth/userinfo`, { headers })).json();
}

/**
 * Copies a bundle into a new folder, in which only the native database driver is installed, and runs the
 * bundle there.
 */
async function deployed<T>(
  outFolder: string,
  file: string,
  env: Readonly<Record<string, string>>,
  visit: (origin: string, client: Client, said: () => string) => Promise<T>,
): Promise<T> {
  const place = mkdtempSync(join(folder, 'deployed-'));
  cpSync(outFolder, place, { recursive: true });
  mkdirSync(join(place, 'node_modules'));
  symlinkSync(join(project, 'node_modules/better-sqlite3'), join(place, 'node_modules/better-sqlite3'));
  const port = await freePort();
  const host = start(place, `exec node ${file.replace(outFolder, '.')}`, {
    ...env,
    PORT: String(port),
    SEALING_KEY: randomBytes(32).toString('base64url'),
    REDIRECT_URI: redirectUri,
  });
  try {
    while (!host.hasEnded() && !host.said().includes('}\n')) await pause(20);
    const client = /^\{.*\}$/m.exec(host.said())?.[0];
    expect(client, host.said()).toBeDefined();
    return await visit(`http://localhost:${port}`, JSON.parse(client ?? '{}'), host.said);
  } finally {
    if (!host.hasEnded()) await host.stop();
  }
}

describe.each(Object.entries(bundlers))('a host bundled with %s', (_, bundle) => {
  it('signs a user in, from a folder without its packages, on SQLite and on PostgreSQL', async () => {
    const outFolder = mkdtempSync(join(folder, 'out-'));
    const file = await bundle(outFolder);
    for (const env of [{}, { DATABASE_URL: await postgres.newDatabase() }]) {
      const user = { sub: 'user-ana', name: 'Ana Joseph' };
      expect(await deployed(outFolder, file, env, walk)).toMatchObject(user);
    }
  }, 120_000);
});

it('a host whose classes were renamed says so at the first sign-in', async () => {
  const outFolder = mkdtempSync(join(folder, 'out-'));
  const outfile = join(outFolder, 'host.cjs');
  await esbuild({ ...forNode, outfile, format: 'cjs', minify: true });
  await deployed(outFolder, outfile, {}, async (origin, { id }, said) => {
    const answer = await fetch(`${origin}/oauth/authorize?${authorizationRequest(id)}`);
    expect(answer.status).toBe(500);
    // Poll, because the line takes its own way out of the process, beside the response.
    await expect.poll(said).toContain('the bundler has renamed classes; let it keep names');
  });
}, 120_000);
