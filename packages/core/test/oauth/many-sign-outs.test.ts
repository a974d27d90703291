import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ana, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';
import { sink } from '../webhooks/support/sink.ts';

it('a client is notified of many sign-outs at once as fast as it answers', async () => {
  const host = new Host();
  const provider = await startProvider(
    {
      login: host.loginWithSignOut,
      clock: { now: () => Date.now() },
      webhooks: { allowPrivateTargets: true },
    },
    host,
  );
  const endpoint = await sink(() => Date.now());
  endpoint.answer = (response) => void delay(50).then(() => response.writeHead(204).end());
  const client = await provider.client({ backchannelLogoutUri: endpoint.url });
  await provider.tokens(client, {}, provider.browser(ana.sub));
  const all = 200;
  for (let user = 0; user < all; user += 1) await provider.ostiary.users.signedOut(ana.sub);
  provider.ostiary.worker.start();
  await expect.poll(() => endpoint.received.length, { timeout: 20_000, interval: 100 }).toBe(all);
}, 30_000);
