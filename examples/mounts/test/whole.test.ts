import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';

const whole = join(import.meta.dirname, '../src/whole');
const files = {
  Node: join(whole, 'node.ts'),
  Express: join(whole, 'express.ts'),
  Fastify: join(whole, 'fastify.ts'),
  Hono: join(whole, 'hono.ts'),
  'Next.js': join(import.meta.dirname, 'support/serve-route.ts'),
};

/** Starts a program in an empty folder, and returns its origin. */
async function start(file: string): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--conditions=ostiary-source', file], {
    cwd: mkdtempSync(join(tmpdir(), 'whole-')),
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      SEALING_KEY: randomBytes(32).toString('base64url'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return `http://localhost:${port}`;
}

it.each(Object.entries(files))(
  'the whole server of the landing page runs: %s',
  async (_name, file) => {
    const origin = await start(file);
    const home = await vi.waitFor(() => fetch(origin), { timeout: 40_000, interval: 200 });
    expect(await home.text()).toBe('Your app');
    const metadata = await fetch(`${origin}/.well-known/openid-configuration`);
    expect(await metadata.json()).toMatchObject({ issuer: 'http://localhost:3000' });
    const authorization = await fetch(`${origin}/oauth/authorize?client_id=unknown`);
    expect(await authorization.json()).toMatchObject({ error: 'invalid_request' });
  },
  60_000,
);
