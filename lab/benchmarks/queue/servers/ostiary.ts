// Ostiary's complete delivery: claim under a lease, signature, guarded request, log of the attempt, new
// state.
import { postgresStorage } from '@ostiary/adapter-postgres';
import type { NewEvent } from '@ostiary/core/storage';
import { registerEndpoint } from '../../../support/http.ts';
import { openHost } from '../../../support/measure/host.ts';
import { settings } from '../../../support/processes/control.ts';
import { ostiarySettings } from '../contestants.ts';
import { bodyOf, data, eventType, partner, secret } from '../fixture.ts';
import { type ContestantSettings, serveContestant } from './contestant.ts';

const { sink, setting, database, isSilent } = settings<ContestantSettings>();

/** Makes a PostgreSQL storage that does not notify workers of new work. */
function silentStorage() {
  const { wakeUps: _, ...silent } = postgresStorage({ connectionString: database ?? '' });
  return silent;
}

// Accept every payload, because the delivery alone is measured.
const schema = {
  '~standard': { version: 1, vendor: 'bench', validate: (value: unknown) => ({ value }) },
} as const;
const { ostiary, storage, port, authUrl } = await openHost({
  payments: { execute: async () => ({ status: 'pending' }) },
  events: { [eventType]: { schema, example: data } },
  webhooks: { allowPrivateTargets: true, ...ostiarySettings[setting] },
  ...(isSilent && { storage: silentStorage() }),
});

await serveContestant(
  {
    async prepare() {
      await ostiary.admin.partners.create({ slug: partner, name: 'Benchmark' });
      const { key } = await ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'] });
      const url = `http://127.0.0.1:${sink}/hook`;
      await registerEndpoint(authUrl, key, { url, events: [eventType], secret });
    },
    async prefill(ids) {
      const now = Date.now();
      const events = ids.map(
        (id): NewEvent => ({
          ...{ partner, mode: 'live', id, type: eventType, body: bodyOf(id), createdAt: now },
          deliveryId: id.replace('evt', 'dl'),
        }),
      );
      await storage.events.publish(events, { idempotency: null, now });
    },
    // Ostiary generates the id itself.
    publish: async () => (await ostiary.events.publish({ partner, type: eventType, data })).id,
    start: async () => ostiary.worker.start(),
    stop: () => ostiary.worker.stop(),
  },
  ostiary.handler,
  port,
);
