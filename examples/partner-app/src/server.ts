import { listen } from '@ostiary/web-kit';
import { createPartnerApp } from './app.ts';
import type { PartnerConfig } from './config.ts';

/** Starts the shop. @throws AddressError if the shop cannot listen at its address */
export async function startPartnerApp(config: PartnerConfig): Promise<{ close(): Promise<void> }> {
  const listener = createPartnerApp(config).callback();
  const server = await listen(config, (request, response) => void listener(request, response), {
    variables: { host: 'HOST', port: 'PARTNER_PORT' },
  });
  return { close: () => server.close(1_000) };
}
