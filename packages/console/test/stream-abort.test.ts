import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../lab/support/patient.ts';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { visited } from './console-kit.ts';
import { openStream } from './stream-kit.ts';

/** Maximum number of update streams per partner. */
const places = 20;

/** Opens update streams on a new connection, all requests in one write. */
function ask(browser: TestBrowser, times: number) {
  const { host, hostname, port } = new URL(browser.origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const cookie = browser.cookieHeader('/sandbox');
  socket.write(
    `GET /sandbox HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\nCookie: ${cookie}\r\n\r\n`.repeat(
      times,
    ),
  );
  return {
    async leave(): Promise<void> {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.destroy();
      await closed;
    },
  };
}

/** Resolves once a partner can open the maximum number of update streams again. */
async function allFree(browser: TestBrowser): Promise<void> {
  await vi.waitFor(async () => {
    const tabs = await Promise.all(Array.from({ length: places }, () => openStream(browser)));
    for (const { close } of tabs) close();
    expect(tabs.map(({ response }) => response.status)).toEqual(Array(places).fill(200));
  }, patient);
}

it('a reader that disconnects before its stream begins frees its place', async () => {
  const { kit, browser } = await visited();
  const { sandbox } = kit.storage;
  const find = sandbox.find.bind(sandbox);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  sandbox.find = async (...given) => {
    asked += 1;
    await released;
    return find(...given);
  };
  for (let opened = 0; opened < places; opened += 1) {
    const reader = ask(browser, 1);
    await vi.waitFor(() => expect(asked).toBe(opened + 1), patient);
    await reader.leave();
  }
  // Once a later request has its response, the server has noticed that the earlier clients disconnected.
  await (await fetch(`${browser.origin}/sandbox/nothing`)).text();
  sandbox.find = find;
  release();
  await allFree(browser);
});

it('a reader that disconnects while its streams wait frees their places', async () => {
  const { kit, browser } = await visited();
  const { webhooks } = kit.storage;
  const list = webhooks.list.bind(webhooks);
  let made = 0;
  webhooks.list = (...given) => {
    made += 1;
    return list(...given);
  };
  const reader = ask(browser, places);
  await vi.waitFor(() => expect(made).toBeGreaterThanOrEqual(places), patient);
  expect((await openStream(browser)).response.status).toBe(429);
  await reader.leave();
  await allFree(browser);
});
