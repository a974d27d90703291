import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { command } from './command.ts';
import { openDatabase } from './database.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts the app on a free port, with a database of its own and a fresh sealing key. */
export async function startApp() {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const database = openDatabase();
  const app = spawn(process.execPath, command, {
    env: {
      ...process.env,
      ...database.env,
      PORT: String(port),
      AUTH_URL: origin,
      SEALING_KEY: randomBytes(32).toString('base64url'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exit = once(app, 'exit');
  const stop = async (): Promise<void> => {
    app.kill();
    await exit;
    await database.remove();
  };
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await pause(50)) {
    if (app.exitCode !== null) break;
    const isUp = await fetch(`${origin}/.well-known/openid-configuration`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { origin, stop };
  }
  await stop();
  throw new Error('the app did not start');
}
