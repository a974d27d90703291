import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../../lab/support/free-port.ts';
import { createLogger } from '../../src/http/logging.ts';
import {
  loadConfig,
  type ReferenceServer,
  type ServerOptions,
  startReferenceServer,
} from '../../src/index.ts';

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reference-server-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns an environment for a server that only one test uses. */
export async function environment(changes: NodeJS.ProcessEnv = {}): Promise<NodeJS.ProcessEnv> {
  const port = await freePort();
  return {
    NODE_ENV: 'test',
    OSTIARY_AUTH_URL: `http://localhost:${port}`,
    OSTIARY_DATA_DIR: await temporaryFolder(),
    OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
    PORT: String(port),
    ...changes,
  };
}

/** Cost of cheap password hashes, for tests that do not concern their strength. */
export const cheap = { logN: 10, r: 8, p: 1 };

export const anaika = {
  handle: 'anaika',
  password: 'correct horse battery',
  name: 'Anaïka Pierre',
  phone: '+50937000001',
};

export const jean = {
  handle: 'jean',
  password: 'another long password',
  name: 'Jean Désir',
  phone: '+50937000002',
};

/** Starts a server with the given environment. The server closes at the end of the test. */
export async function start(env: NodeJS.ProcessEnv, options: ServerOptions = {}): Promise<ReferenceServer> {
  const own = { passwordCost: cheap, logger: createLogger('silent') };
  const server = await startReferenceServer(loadConfig(env), { ...own, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** Starts a server with two users. `lines` collects the log lines. */
export async function startServer(
  options: ServerOptions = {},
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly server: ReferenceServer; readonly origin: string; readonly lines: string[] }> {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line) => void lines.push(line) });
  const server = await start(await environment(env), { logger, ...options });
  await server.installation.accounts.create(anaika);
  await server.installation.accounts.create(jean);
  return { server, origin: `http://localhost:${server.port}`, lines };
}
