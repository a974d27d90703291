// The whole way: claim, signature, request, attempt log, state, on SQLite with FULL durability.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import type { NewEvent } from '@ostiary/core/storage';
import { registerEndpoint } from '../../../support/http.ts';
import { serve, settings } from '../../../support/measure/control.ts';
import { eventId, partner, secret } from '../../queue/fixture.ts';
import { bodyOf } from '../fixture.ts';

const { port, sink, file, sealingKey } = settings<{
  readonly port: number;
  readonly sink: number;
  readonly file: string;
  readonly sealingKey: string;
}>();
const authUrl = `http://127.0.0.1:${port}`;
const storage = sqliteStorage({ file });
let written = 0;
let allWritten: { readonly count: number; readonly resolve: () => void } | null = null;

const ostiary = await createOstiary({
  authUrl,
  storage: {
    ...storage,
    deliveries: {
      ...storage.deliveries,
      async finish(results) {
        const outcomes = await storage.deliveries.finish(results);
        written += outcomes.filter((isCurrent) => isCurrent).length;
        if (allWritten !== null && written >= allWritten.count) allWritten.resolve();
        return outcomes;
      },
    },
  },
  sealingKeys: [sealingKey],
  users: { find: () => null, findByKid: () => null, findByPhone: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  payments: { execute: async () => ({ status: 'pending' }) },
  webhooks: { allowPrivateTargets: true },
});

const owner = { partner, mode: 'live' } as const;
let published = 0;

/** Publishes in batches, as many changes at once would. */
async function publish(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 500) {
    const now = Date.now();
    const events = Array.from({ length: Math.min(500, left) }, (): NewEvent => {
      published += 1;
      const id = eventId(published);
      return {
        ...owner,
        id,
        type: 'payment.completed',
        body: bodyOf(id),
        createdAt: now,
        deliveryId: id.replace('evt', 'dl'),
      };
    });
    await storage.events.publish(events, { idempotency: null, now });
  }
}

serve(ostiary.handler, port, {
  async prepare() {
    await ostiary.admin.partners.create({ slug: partner, name: 'Benchmark' });
    const { key } = await ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'] });
    const url = `http://127.0.0.1:${sink}/hook`;
    await registerEndpoint(authUrl, key, { url, events: ['payment.completed'], secret });
  },
  /** Publishes, then delivers with the worker, and answers the seconds from its start to the last result on the disk. */
  async deliver({ count }: { readonly count: number }) {
    await publish(count);
    written = 0;
    const done = new Promise<void>((resolve) => {
      allWritten = { count, resolve };
    });
    const started = performance.now();
    ostiary.worker.start();
    await done;
    const seconds = (performance.now() - started) / 1000;
    await ostiary.worker.stop();
    return seconds;
  },
});
