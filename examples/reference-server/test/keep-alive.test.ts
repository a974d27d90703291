import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from './support/server.ts';

/**
 * Makes a function that requests a server over one connection, which stays open as a proxy's connection does.
 */
function proxyTo(origin: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return () =>
    new Promise<{ readonly port: number; readonly keepAlive: unknown }>((resolve, reject) => {
      get(`${origin}/healthz`, { agent }, (response) => {
        const port = response.socket.localPort ?? 0;
        response.resume().once('end', () => resolve({ port, keepAlive: response.headers['keep-alive'] }));
      }).once('error', reject);
    });
}

test('an idle connection is kept for 75 s, longer than proxies keep it', async () => {
  const { origin } = await startServer();
  expect(await proxyTo(origin)()).toMatchObject({ keepAlive: 'timeout=75' });
});

test('an idle connection is kept for as long as OSTIARY_KEEP_ALIVE_SECONDS says', async () => {
  const { origin } = await startServer({}, { OSTIARY_KEEP_ALIVE_SECONDS: '9' });
  const ask = proxyTo(origin);
  const first = await ask();
  expect(first.keepAlive).toBe('timeout=9');
  await pause(6_800);
  expect((await ask()).port).toBe(first.port);
}, 30_000);
