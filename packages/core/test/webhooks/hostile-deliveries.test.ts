import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookClient } from '../../src/webhooks/client.ts';
import { depot } from './support/depot.ts';
import { hostileResolver, hostileTargets } from './support/target-hostile.ts';
import { type RawServer, response, startRawServer } from './support/target-server.ts';

// What registration would have refused, or could not foresee: a name that means something else by now.
describe('a delivery to a hostile target', () => {
  let listener: RawServer;
  beforeAll(async () => {
    listener = await startRawServer((socket) => socket.write(response(200)));
  });
  afterAll(async () => {
    await listener[Symbol.asyncDispose]();
  });

  it.each(hostileTargets(4).map(({ name }, index) => ({ name, index })))(
    'makes no connection, at first and when it is retried: $name',
    async ({ index }) => {
      const target = hostileTargets(listener.port)[index];
      if (target === undefined) throw new Error('no such target');
      // The last answer is the hostile one where the first is not.
      const answers = target.changesLater === true ? target.answers?.slice(-1) : target.answers?.slice(0, 1);
      const { resolve } = hostileResolver({ ...target, ...(answers && { answers }) });
      const client = createWebhookClient({ policy: { allowPrivate: false }, resolve, timeoutMs: 2_000 });
      const { dispatcher, endpoint, publish, deliveries, clock } = await depot(undefined, client);
      await endpoint('a', undefined, target.url);
      await publish('a');
      const worker = dispatcher();
      const refused = (number: number) => ({
        number,
        at: expect.any(Number),
        durationMs: 0,
        httpStatus: null,
        error: 'target_refused',
        response: null,
      });
      expect(await worker.runDue()).toBe(1);
      expect((await deliveries('a'))[0]).toMatchObject({ status: 'pending', attempts: [refused(1)] });
      clock.advance(60_000);
      expect(await worker.runDue()).toBe(1);
      expect((await deliveries('a'))[0]).toMatchObject({
        status: 'dropped',
        attempts: [refused(1), refused(2)],
      });
      await client.close();
      expect(listener.sockets).toHaveLength(0);
    },
  );
});
