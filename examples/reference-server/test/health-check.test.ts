import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer, temporaryFolder } from './support/server.ts';

const program = join(import.meta.dirname, '../src/health-check.ts');

/**
 * Runs the image's health check in the environment of a server. @returns the exit code of the health check
 */
const check = (env: Readonly<Record<string, string>>): Promise<number> =>
  promisify(execFile)(process.execPath, [program], { env }).then(
    () => 0,
    (error) => error.code,
  );

test('the health check of the image passes while the server answers on its port', async () => {
  const { server } = await startServer();
  const env = { HOST: '127.0.0.1', PORT: String(server.port) };
  expect(await check(env)).toBe(0);
  await server.close();
  expect(await check(env)).toBe(1);
});

test('the health check of the image passes while the server answers on its Unix socket', async () => {
  const env = { OSTIARY_SOCKET: join(await temporaryFolder(), 'ostiary.sock') };
  const { server } = await startServer({}, { ...env, OSTIARY_TRUSTED_PROXIES: 'unix' });
  expect(await check(env)).toBe(0);
  await server.close();
  expect(await check(env)).toBe(1);
});

test('the health check of the image fails where a server accepts connections and does not respond', async () => {
  await using frozen = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(frozen, 'listening');
  const address = frozen.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  expect(await check({ HOST: '127.0.0.1', PORT: String(address.port) })).toBe(1);
});
