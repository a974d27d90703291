import { setImmediate } from 'node:timers/promises';
import { answered, describeMistakes, differing, instead } from './mistakes.ts';

/** Every secret that there is. */
const everything = { after: null, limit: 1_000 };

describeMistakes({
  'compares the version of a partner, then replaces it': [
    'partners: of parallel replacements of one version exactly one is stored',
    instead('partners', 'replace', (replace, { partners }) => async (partner) => {
      const stored = await partners.find(partner.slug);
      if (stored?.version !== partner.version - 1) return null;
      await setImmediate();
      await replace(partner);
      return { keys: 0, clients: 0, codes: 0, tokens: 0, deliveries: 0 };
    }),
  ],
  'revokes consents when a partner is disabled': [
    'the end of access: when a partner is disabled, what it gave ends for good, and nothing else',
    instead('partners', 'replace', (replace, { consents }) => async (partner, audit) => {
      if (partner.disabledAt !== null) await consents.revoke('user-1', 'client-1', 0);
      return replace(partner, audit);
    }),
  ],
  'ends tokens with the partner, and forgets codes': [
    'the end of a partner: is told in numbers',
    answered('partners', 'replace', (reach) => reach && { ...reach, codes: 0 }),
  ],
  'asks clients whether they are disabled, and not their partner': [
    'the end of a partner: counts as the end of its clients, until it is enabled',
    answered('clients', 'find', (client) => client && { ...client, partnerDisabled: false }),
  ],
  'delivers what a host publishes to a disabled partner': [
    'the end of a partner: keeps its events, and delivers none of them',
    instead('events', 'publish', (publish, { partners }) => async (all, options) => {
      const partner = await partners.find('acme');
      if (partner !== null && partner.disabledAt !== null)
        await partners.replace({ ...partner, disabledAt: null, version: partner.version + 1 });
      return publish(all, options);
    }),
  ],
  'rolls in two steps': [
    'rolled keys: a key that is revoked while it is rolled has a successor only if the roll came first',
    instead('apiKeys', 'roll', (roll, { apiKeys }) => async (request) => {
      const key = await apiKeys.find(request.id);
      if (key === null || key.revokedAt !== null) return false;
      await setImmediate();
      await apiKeys.insert(request.successor);
      const other = {
        ...request.successor,
        id: `${request.id} x`,
        digest: Buffer.from(request.id.padEnd(32)),
      };
      await roll({ ...request, successor: other });
      return true;
    }),
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
  'replaces whatever a row holds by now': [
    [
      'sealed secrets: a webhook secret that was rotated between read and replace stays',
      'sealed secrets: a rotation that meets a replacement wins, and is not refused',
    ],
    instead('webhooks', 'reseal', (reseal, { webhooks }) => async (secrets) => {
      await setImmediate();
      const held = new Map((await webhooks.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
      return reseal(secrets.map((secret) => ({ ...secret, before: held.get(secret.id) ?? '' })));
    }),
  ],
  'looks what rows hold, then replaces it': [
    'sealed secrets: of API keys: of parallel calls for the same rows one replaces each, whatever their order',
    instead('apiKeys', 'reseal', (reseal, { apiKeys }) => async (secrets) => {
      const held = new Map((await apiKeys.listSealed(everything)).map(({ id, sealed }) => [id, sealed]));
      const unchanged = secrets.filter(({ id, before }) => held.get(id) === before);
      await setImmediate();
      await reseal(unchanged);
      return unchanged.length;
    }),
  ],
  'makes a new version of an endpoint whose secret is what it was': [
    'sealed secrets: of webhook endpoints: what a row held when it was read is replaced, and nothing else of it',
    instead('webhooks', 'reseal', (reseal, { webhooks }) => async (secrets) => {
      const count = await reseal(secrets);
      for (const endpoint of await webhooks.list({ partner: 'acme', mode: 'live' }))
        await webhooks.replace({ ...endpoint, version: endpoint.version + 1 }, 0);
      return count;
    }),
  ],
  'sorts pages by a locale': [
    'sealed secrets: of webhook endpoints: pages go by id, in code unit order, and leave nothing out',
    instead('webhooks', 'listSealed', (listSealed) => async ({ after, limit }) => {
      const all = await listSealed(everything);
      const sorted = all.toSorted((a, b) => a.id.localeCompare(b.id));
      return sorted.filter(({ id }) => after === null || id.localeCompare(after) > 0).slice(0, limit);
    }),
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
});
