import { setTimeout as delay } from 'node:timers/promises';
import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { ana, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';
import { sink } from '../webhooks/support/sink.ts';

it('a client that was fast and hangs now does not keep the queue busy with those that wait', async () => {
  const host = new Host();
  const storage = memoryStorage();
  const { retry } = storage.queue;
  let retries = 0;
  const queue: typeof storage.queue = {
    ...storage.queue,
    retry(...given) {
      retries += 1;
      return retry.apply(storage.queue, given);
    },
  };
  const provider = await startProvider(
    {
      storage: { ...storage, queue },
      login: host.loginWithSignOut,
      clock: { now: () => Date.now() },
      webhooks: { allowPrivateTargets: true },
    },
    host,
  );
  const endpoint = await sink(() => Date.now());
  const client = await provider.client({ backchannelLogoutUri: endpoint.url });
  await provider.tokens(client, {}, provider.browser(ana.sub));
  provider.ostiary.worker.start();
  const signOut = () => provider.ostiary.users.signedOut(ana.sub);
  for (let user = 0; user < 20; user += 1) await signOut();
  await expect.poll(() => endpoint.received.length, { timeout: 10_000 }).toBe(20);
  endpoint.answer = () => undefined;
  for (let user = 0; user < 40; user += 1) await signOut();
  await expect.poll(() => endpoint.received.length, { timeout: 10_000 }).toBe(28);
  await delay(3_000);
  expect(retries).toBeLessThan(200);
}, 40_000);
