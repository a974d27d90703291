import { createServer } from 'node:http';
import { createPartnerApp } from './app.ts';
import type { PartnerConfig } from './config.ts';

/** A shop that is open. */
export interface PartnerApp {
  close(): Promise<void>;
}

/**
 * Opens the shop.
 *
 * @throws the error of `listen`, such as `EADDRINUSE`
 */
export async function startPartnerApp(config: PartnerConfig): Promise<PartnerApp> {
  const timeouts = { requestTimeout: 15_000, headersTimeout: 10_000 };
  const server = createServer(timeouts, createPartnerApp(config).callback());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      }),
  };
}
