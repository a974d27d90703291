import { createHash } from 'node:crypto';
import type { AuditRecord } from '../../../core/src/ports/audit.ts';
import type { PartnerStore } from '../../../core/src/ports/partners.ts';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

/** A storage that does something else, or nothing, when a partner is disabled. */
const disabling =
  (work: (storage: Storage, partner: Parameters<PartnerStore['replace']>[0]) => Promise<unknown>) =>
  (storage: Storage): Partial<Storage> => ({
    partners: {
      ...storage.partners,
      async replace(partner, audit) {
        const reach = await storage.partners.replace(partner, audit);
        if (reach !== null && partner.disabledAt !== null) await work(storage, partner);
        return reach;
      },
    },
  });

/** Acts whose chain differs. */
const chained =
  (chainOf: (before: Uint8Array, act: AuditRecord) => Uint8Array) =>
  (storage: Storage): Partial<Storage> => {
    const digests = new Map<string, AuditRecord>();
    return {
      audit: {
        ...storage.audit,
        append(record) {
          digests.set(record.id, record);
          return storage.audit.append(record);
        },
        async chain(page) {
          const acts = await storage.audit.chain({ after: 0, limit: 1000 });
          let last: Uint8Array = new Uint8Array(32);
          return acts
            .map((act) => {
              const record = digests.get(act.id);
              if (record !== undefined) last = chainOf(last, record);
              return { ...act, chain: last };
            })
            .slice(page.after, page.after + page.limit);
        },
      },
    };
  };

const mistakes: Mistakes = {
  'revokes consents when a partner is disabled': {
    case: 'the end of a partner: ends the codes and tokens of its clients, and leaves consents and everybody else',
    spoil: disabling(({ consents }) => consents.revoke('user-1', 'client-1', 0)),
  },
  'ends tokens with the partner, and forgets codes': {
    case: 'the end of a partner: is told in numbers',
    spoil: differing('partners', ({ partners }) => ({
      async replace(partner, audit) {
        const reach = await partners.replace(partner, audit);
        return reach && { ...reach, codes: 0 };
      },
    })),
  },
  'asks clients whether they are disabled, and not their partner': {
    case: 'the end of a partner: counts as the end of its clients, until it is enabled',
    spoil: differing('clients', ({ clients }) => ({
      async find(clientId) {
        const client = await clients.find(clientId);
        return client && { ...client, partnerDisabled: false };
      },
    })),
  },
  'allows the origins of a disabled partner': {
    case: 'the end of a partner: counts as the end of its clients, until it is enabled',
    spoil: differing('clients', ({ clients }) => ({
      async originRegistered(origin) {
        const all = await clients.list({ after: null, limit: 100 });
        return all.some(({ redirectUris }) => redirectUris.some((uri) => new URL(uri).origin === origin));
      },
    })),
  },
  'delivers what a host publishes to a disabled partner': {
    case: 'the end of a partner: keeps its events, and delivers none of them',
    spoil: (storage) => ({
      events: {
        ...storage.events,
        async publish(events, options) {
          const partner = await storage.partners.find('acme');
          if (partner === null || partner.disabledAt === null) return storage.events.publish(events, options);
          const at = { ...partner, updatedAt: partner.updatedAt };
          await storage.partners.replace({ ...at, disabledAt: null, version: at.version + 1 });
          return storage.events.publish(events, options);
        },
      },
    }),
  },
  'brings clients back one by one, and not with their partner': {
    case: 'the end of a partner: counts as the end of its clients, until it is enabled',
    spoil: disabling(async ({ clients }, { slug }) => {
      for (const client of await clients.list({ after: null, limit: 100 })) {
        if (client.partner !== slug) continue;
        await clients.replace({ ...client, disabledAt: 1, version: client.version + 1 });
      }
    }),
  },
  'judges a key without its partner': {
    case: 'api keys: a key lives until it is revoked, ends, or its partner is disabled',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
      async isLive(id) {
        return (await apiKeys.find(id))?.revokedAt === null;
      },
    })),
  },
  'counts interactions that have ended': {
    case: 'interactions: those that have not ended are counted',
    spoil: differing('interactions', ({ interactions }) => ({ count: () => interactions.count(0) })),
  },
  'brings the end of an interaction forward': {
    case: 'interactions: an end is put off, and never brought forward',
    spoil: differing('interactions', ({ interactions }) => ({
      async extend(digest, expiresAt) {
        const payload = await interactions.find(digest, 0);
        if (payload !== null) await interactions.save(digest, payload, expiresAt);
      },
    })),
  },
  'chains the acts themselves, and not their digests': {
    case: 'audit: every act takes the next place in the chain, with its change and not without',
    spoil: chained((before, { id }) => createHash('sha256').update(before).update(id).digest()),
  },
  'forgets the value before': {
    case: 'audit: every act takes the next place in the chain, with its change and not without',
    spoil: chained((_before, { digest }) => createHash('sha256').update(digest).digest()),
  },
  'numbers the acts from where a page begins': {
    case: 'audit: every act takes the next place in the chain, with its change and not without',
    spoil: differing('audit', ({ audit }) => ({
      head: async () => ({ ...(await audit.head()), number: (await audit.head()).number - 1 }),
    })),
  },
};

describeMistakes(mistakes);
