import { expect, test } from 'vitest';
import { boundWaits } from '../../core/src/worker/waits.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

test('waits that are no whole milliseconds in floating point do not stop the worker and the purge', async () => {
  const { storage } = await server.opened();
  const options = { webhooks: { retryDelaysSeconds: [16.1, 1 / 3] } };
  const core = { storage, clock: { now: () => 1 }, options } as unknown as Parameters<typeof boundWaits>[0];
  expect(await boundWaits(core, {})).toEqual({ jobs: 0, deliveries: 0 });
});
