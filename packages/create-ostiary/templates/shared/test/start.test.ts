import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const command = [
  // <not-next>
  fileURLToPath(import.meta.resolve('../src/server.ts')),
  // </not-next>
  // <next>
  fileURLToPath(import.meta.resolve('next/dist/bin/next')),
  'start',
  // </next>
];

test('the app starts on its storage, and responds', async () => {
  const free = createServer().listen(0);
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  const origin = `http://localhost:${port}`;
  // A separate database, not the one that you work with. It is kept for the next run.
  const env = {
    // <sqlite>
    DATABASE_FILE: 'test.db',
    // </sqlite>
    // <postgres>
    DATABASE_SCHEMA: 'ostiary_test',
    // </postgres>
    SEALING_KEY: Buffer.alloc(32).toString('base64url'),
    AUTH_URL: origin,
    PORT: String(port),
  };
  const app = spawn(process.execPath, command, { env: { ...process.env, ...env }, stdio: 'inherit' });
  const ended = once(app, 'exit');
  try {
    let answer: Response | null = null;
    for (let tries = 0; answer === null && app.exitCode === null && tries < 600; tries += 1) {
      await pause(50);
      answer = await fetch(`${origin}/.well-known/openid-configuration`).catch(() => null);
    }
    const problem = [
      `The app does not start: ${answer === null ? 'it ended, or does not answer' : `it answers ${answer.status}`}.`,
      'Its own words are above.',
      // <postgres>
      'It needs a PostgreSQL at DATABASE_URL of .env; README.md says how to start one.',
      // </postgres>
    ];
    assert.ok(answer?.ok, problem.join(' '));
    assert.equal((await answer.json()).issuer, origin);
  } finally {
    app.kill();
    await ended;
  }
});
