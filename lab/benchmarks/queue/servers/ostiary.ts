// The whole way: claim under a lease, signature, guarded request, log of the attempt, state.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { postgresStorage, StorageUnavailableError } from '@ostiary/adapter-postgres';
import { createOstiary } from '@ostiary/core';
import type { IdempotencyClaim, NewEvent } from '@ostiary/core/storage';
import { registerEndpoint } from '../../../support/http.ts';
import { settings } from '../../../support/measure/control.ts';
import { ostiarySettings } from '../contestants.ts';
import { bodyOf, data, eventType, partner, secret } from '../fixture.ts';
import { type ContestantSettings, serveContestant } from './contestant.ts';

const { port, sink, database, setting, sealingKey } = settings<ContestantSettings>();
const storage = postgresStorage({ connectionString: database });
// Whatever comes fits: what is measured is the delivery.
const schema = {
  '~standard': { version: 1, vendor: 'bench', validate: (value: unknown) => ({ value }) },
} as const;

const ostiary = await createOstiary({
  authUrl: `http://127.0.0.1:${port}`,
  storage,
  sealingKeys: [sealingKey],
  users: { find: () => null, findByKid: () => null, findByPhone: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  payments: { execute: async () => ({ status: 'pending' }) },
  events: { [eventType]: { schema, example: data } },
  webhooks: { allowPrivateTargets: true, concurrency: ostiarySettings[setting]?.concurrency ?? 512 },
});

async function register(): Promise<void> {
  await ostiary.admin.partners.create({ slug: partner, name: 'Benchmark' });
  const { key } = await ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'] });
  const url = `http://127.0.0.1:${sink}/hook`;
  await registerEndpoint(`http://127.0.0.1:${port}`, key, { url, events: [eventType], secret });
}

serveContestant(
  {
    prepare: register,
    async prefill(ids) {
      const now = Date.now();
      const events = ids.map(
        (id): NewEvent => ({
          partner,
          mode: 'live',
          id,
          type: eventType,
          body: bodyOf(id),
          createdAt: now,
          deliveryId: id.replace('evt', 'dl'),
        }),
      );
      // A machine that stands still for a while does not end the benchmark: what was stored is not stored again.
      const idempotency: IdempotencyClaim = {
        ...{ partner, mode: 'live', key: ids[0] ?? '', answer: { status: 200, body: '' } },
        fingerprint: createHash('sha256').update(ids.join()).digest(),
        endsAt: now + 60_000,
      };
      for (let attempt = 1; ; attempt += 1) {
        try {
          await storage.events.publish(events, { idempotency, now });
          return;
        } catch (error) {
          if (!(error instanceof StorageUnavailableError) || attempt === 20) throw error;
          await pause(1_000);
        }
      }
    },
    // Ostiary chooses the id.
    publish: async () => (await ostiary.events.publish({ partner, type: eventType, data })).id,
    start: async () => ostiary.worker.start(),
    stop: () => ostiary.worker.stop(),
  },
  ostiary.handler,
);
