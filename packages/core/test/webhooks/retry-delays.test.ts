import { expect, it } from 'vitest';
import { answering, shop } from '../partner/webhook-shop.ts';
import { storages } from '../support/partner-api.ts';

it.each(storages)('waits with parts of milliseconds are kept as whole ones, on %s', async (_, storage) => {
  // Waits that grow by half: 60 s, …, 683.4375 s.
  const retryDelaysSeconds = [60 * 1.5 ** 6, 16.1];
  const { provider, register, trigger, deliveries, work } = await shop({
    storage: storage(),
    webhooks: { retryDelaysSeconds },
  });
  const endpoint = await answering(500);
  const id = await register(endpoint.url);
  await trigger();
  await work();
  const nextAttemptAt = new Date(provider.clock.now() + 683_438).toISOString();
  expect(await deliveries(id)).toMatchObject([{ nextAttemptAt, attempts: [{ number: 1 }] }]);
  provider.clock.advance(683_438);
  await work();
  provider.clock.advance(16_100);
  await work();
  expect(await deliveries(id)).toMatchObject([{ status: 'dropped', attempts: [{}, {}, {}] }]);
  expect(endpoint.received).toHaveLength(3);
});
