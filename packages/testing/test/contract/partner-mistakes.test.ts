import { setImmediate } from 'node:timers/promises';
import type { PartnerStore } from '../../../core/src/ports/partners.ts';
import type { SealedSecrets } from '../../../core/src/ports/sealed-secrets.ts';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { answered, describeMistakes, differing, type Spoil } from './mistakes.ts';

/** A storage that does something else, or nothing, when a partner is disabled. */
const disabling =
  (work: (storage: Storage, partner: Parameters<PartnerStore['replace']>[0]) => Promise<unknown>): Spoil =>
  (storage) => ({
    partners: {
      ...storage.partners,
      async replace(partner, audit) {
        const reach = await storage.partners.replace(partner, audit);
        if (reach !== null && partner.disabledAt !== null) await work(storage, partner);
        return reach;
      },
    },
  });

/** Every secret that there is. */
const everything = { after: null, limit: 1_000 };

/** Replaces whatever a row holds by now. */
const overwriting = (store: SealedSecrets): Partial<SealedSecrets> => ({
  async reseal(secrets) {
    await setImmediate();
    const held = new Map((await store.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
    return store.reseal(secrets.map((secret) => ({ ...secret, before: held.get(secret.id) ?? '' })));
  },
});

describeMistakes({
  'compares the version of a partner, then replaces it': [
    'partners: of parallel replacements of one version exactly one is stored',
    differing('partners', ({ partners }) => ({
      async replace(partner) {
        const stored = await partners.find(partner.slug);
        if (stored?.version !== partner.version - 1) return null;
        await setImmediate();
        await partners.replace(partner);
        return { keys: 0, clients: 0, codes: 0, tokens: 0, deliveries: 0 };
      },
    })),
  ],
  'revokes consents when a partner is disabled': [
    'the end of access: when a partner is disabled, what it gave ends for good, and nothing else',
    disabling(({ consents }) => consents.revoke('user-1', 'client-1', 0)),
  ],
  'ends tokens with the partner, and forgets codes': [
    'the end of a partner: is told in numbers',
    answered('partners', 'replace', (reach) => reach && { ...reach, codes: 0 }),
  ],
  'asks clients whether they are disabled, and not their partner': [
    'the end of a partner: counts as the end of its clients, until it is enabled',
    answered('clients', 'find', (client) => client && { ...client, partnerDisabled: false }),
  ],
  'brings clients back one by one, and not with their partner': [
    'the end of a partner: counts as the end of its clients, until it is enabled',
    disabling(async ({ clients }, { slug }) => {
      for (const client of await clients.list({ after: null, limit: 100 })) {
        if (client.partner !== slug) continue;
        await clients.replace({ ...client, disabledAt: 1, version: client.version + 1 });
      }
    }),
  ],
  'delivers what a host publishes to a disabled partner': [
    'the end of a partner: keeps its events, and delivers none of them',
    differing('events', ({ events, partners }) => ({
      async publish(all, options) {
        const partner = await partners.find('acme');
        if (partner !== null && partner.disabledAt !== null)
          await partners.replace({ ...partner, disabledAt: null, version: partner.version + 1 });
        return events.publish(all, options);
      },
    })),
  ],
  'does not ask the partner about its keys': [
    'api keys: keys follow their partner when it is disabled and enabled',
    answered('apiKeys', 'findByDigest', (key) => key && { ...key, partnerDisabled: false }),
  ],
  'judges a key without its partner': [
    'api keys: a key lives until it is revoked, ends, or its partner is disabled',
    differing('apiKeys', ({ apiKeys }) => ({
      isLive: async (id) => (await apiKeys.find(id))?.revokedAt === null,
    })),
  ],
  'notes the last use that was told, not the latest': [
    'api keys: a use is noted, and never goes back in time',
    differing('apiKeys', ({ apiKeys }) => {
      const lastUsed = new Map<string, number>();
      return {
        async touch(id, now) {
          lastUsed.set(id, now);
        },
        async findByDigest(digest) {
          const key = await apiKeys.findByDigest(digest);
          return key && { ...key, lastUsedAt: lastUsed.get(key.id) ?? key.lastUsedAt };
        },
      };
    }),
  ],
  'rolls in two steps': [
    'rolled keys: a key that is revoked while it is rolled has a successor only if the roll came first',
    differing('apiKeys', ({ apiKeys }) => ({
      async roll(roll) {
        const key = await apiKeys.find(roll.id);
        if (key === null || key.revokedAt !== null) return false;
        await setImmediate();
        await apiKeys.insert(roll.successor);
        const other = { ...roll.successor, id: `${roll.id} x`, digest: Buffer.from(roll.id.padEnd(32)) };
        await apiKeys.roll({ ...roll, successor: other });
        return true;
      },
    })),
  ],
  'rolls a key for as long as it is told': [
    'rolled keys: rolling never makes a key live longer',
    differing('apiKeys', ({ apiKeys }) => {
      const ends = new Map<string, number>();
      return {
        async roll(roll) {
          ends.set(roll.id, roll.endsAt);
          return apiKeys.roll(roll);
        },
        async find(id) {
          const key = await apiKeys.find(id);
          return key && { ...key, expiresAt: ends.get(id) ?? key.expiresAt };
        },
      };
    }),
  ],
  'takes the secret of a partner who was faster away': [
    'sealed secrets: a webhook secret that was rotated between read and replace stays',
    differing('webhooks', ({ webhooks }) => overwriting(webhooks)),
  ],
  'takes a rotation away that comes at the same time': [
    'sealed secrets: a rotation that meets a replacement wins, and is not refused',
    differing('webhooks', ({ webhooks }) => overwriting(webhooks)),
  ],
  'looks what rows hold, then replaces it': [
    'sealed secrets: of API keys: of parallel calls for the same rows one replaces each, whatever their order',
    differing('apiKeys', ({ apiKeys }) => ({
      async reseal(secrets) {
        const held = new Map((await apiKeys.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
        const unchanged = secrets.filter(({ id, before }) => held.get(id) === before);
        await setImmediate();
        await apiKeys.reseal(unchanged);
        return unchanged.length;
      },
    })),
  ],
  'makes a new version of an endpoint whose secret is what it was': [
    'sealed secrets: of webhook endpoints: what a row held when it was read is replaced, and nothing else of it',
    differing('webhooks', ({ webhooks }) => ({
      async reseal(secrets) {
        const count = await webhooks.reseal(secrets);
        for (const endpoint of await webhooks.list({ partner: 'acme', mode: 'live' }))
          await webhooks.replace({ ...endpoint, version: endpoint.version + 1 }, 0);
        return count;
      },
    })),
  ],
  'sorts pages by a locale': [
    'sealed secrets: of webhook endpoints: pages go by id, in code unit order, and leave nothing out',
    differing('webhooks', ({ webhooks }) => ({
      async listSealed({ after, limit }) {
        const all = await webhooks.listSealed(everything);
        const sorted = all.toSorted((a, b) => a.id.localeCompare(b.id));
        return sorted.filter(({ id }) => after === null || id.localeCompare(after) > 0).slice(0, limit);
      },
    })),
  ],
});
