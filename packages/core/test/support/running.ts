import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, onTestFinished, TestRunner } from 'vitest';
import { TestProvider } from './provider.ts';

/** Runs a function at the end of the current test; outside of tests, at the end of the file or suite. */
export function afterwards(end: () => unknown): void {
  const ended = async () => void (await end());
  if (TestRunner.getCurrentTest() === undefined) afterAll(ended);
  else onTestFinished(ended);
}

/** Starts a provider that stops at the end of the test or test file. */
export async function startProvider(...given: Parameters<typeof TestProvider.start>): Promise<TestProvider> {
  const provider = await TestProvider.start(...given);
  afterwards(() => provider.stop());
  return provider;
}

/**
 * Starts a server of a host application or a third party, which stops at the end of the test. Returns its
 * origin.
 */
export async function serve(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
