import { setImmediate } from 'node:timers/promises';
import type { PartnerStore } from '../../../core/src/ports/partners.ts';
import type { SealedSecrets } from '../../../core/src/ports/sealed-secrets.ts';
import type { Storage } from '../../../core/src/ports/storage.ts';
import type { TransferRecord } from '../../../core/src/ports/transfers.ts';
import {
  answered,
  asked,
  describeMistakes,
  differing,
  keyLookedUpFirst,
  recordKey,
  type Spoil,
} from './mistakes.ts';

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

const inDouble = (transfer: TransferRecord): TransferRecord => ({
  ...transfer,
  amount: BigInt(Number(transfer.amount)),
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
    'the end of a partner: ends the codes and tokens of its clients, and leaves consents and everybody else',
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
  'looks the key of a transfer up, then creates it': [
    'keys of transfers: of parallel requests with one key one takes effect, and the others give its answer',
    keyLookedUpFirst('transfers', 'create'),
  ],
  'shares keys between modes': [
    'replays: one key means another request for another partner and in another mode',
    asked('transfers', 'create', ({ idempotency, ...creation }) => ({
      ...creation,
      idempotency: idempotency && { ...idempotency, mode: 'live' as const },
    })),
  ],
  'answers whatever the payload was': [
    'keys of transfers: a key with another payload is a conflict and changes nothing, until its record ends',
    asked('transfers', 'create', ({ idempotency, ...creation }) => ({
      ...creation,
      idempotency: idempotency && { ...idempotency, fingerprint: Buffer.alloc(32) },
    })),
  ],
  'keeps a record one millisecond too long': [
    'keys of transfers: a key with another payload is a conflict and changes nothing, until its record ends',
    asked('transfers', 'create', (creation) => ({ ...creation, now: creation.now - 1 })),
  ],
  'parses stored answers and writes them anew': [
    'idempotency: a record gives its answer again, byte for byte',
    answered('idempotency', 'find', (found) => {
      if (found?.outcome !== 'replayed' || !found.answer.body.startsWith('{')) return found;
      return {
        ...found,
        answer: { ...found.answer, body: JSON.stringify(JSON.parse(found.answer.body)) },
      };
    }),
  ],
  'looks at the reference before the key': [
    'replays: the key is looked at before the reference',
    differing('transfers', ({ transfers }) => ({
      async create(creation) {
        const { transfer } = creation;
        const other = { ...transfer, id: `${transfer.id} x`, partner: 'nobody' };
        const without = await transfers.create({ ...creation, transfer: other, idempotency: null });
        return without.outcome === 'reference_conflict' ? without : transfers.create(creation);
      },
    })),
  ],
  'does not mind a reference that is taken': [
    'transfers: a reference stays taken, whatever became of its transfer',
    differing('transfers', ({ transfers }) => ({
      async create(creation) {
        const answer = await transfers.create(creation);
        if (answer.outcome !== 'reference_conflict') return answer;
        const earlier = await transfers.findById(answer.transferId);
        if (earlier?.status !== 'failed') return answer;
        return transfers.create({ ...creation, transfer: { ...creation.transfer, reference: null } });
      },
    })),
  ],
  'keeps the key of a request that was refused': [
    'transfers: of parallel requests with one reference exactly one is stored, and the others hear its id',
    differing('transfers', (storage) => ({
      async create(creation) {
        const answer = await storage.transfers.create(creation);
        if (answer.outcome === 'reference_conflict') await recordKey(storage, creation);
        return answer;
      },
    })),
  ],
  'enqueues the job in another transaction': [
    'transfers: a transfer id that is taken is an error and stores nothing',
    differing('transfers', ({ transfers, queue }) => ({
      async create(creation) {
        const [answer] = await Promise.all([transfers.create(creation), queue.enqueue([creation.job])]);
        return answer;
      },
    })),
  ],
  'keeps amounts in doubles': [
    'transfers: amounts are exact',
    answered('transfers', 'find', (transfer) => transfer && inDouble(transfer)),
  ],
  'exports amounts through doubles': [
    'transfers: amounts are exact',
    answered('transfers', 'listFinal', (page) => page.map(inDouble)),
  ],
  'shows a transfer to whoever knows its id': [
    'transfers: somebody else’s transfer is as unknown as any other',
    differing('transfers', ({ transfers }) => ({ find: (_owner, id) => transfers.findById(id) })),
  ],
  'looks whether a transfer is pending, then settles it': [
    'settlement: of parallel settlements exactly one settles, and the others see what it did',
    differing('transfers', ({ transfers }) => ({
      async settle(settlement) {
        const before = await transfers.findById(settlement.id);
        await setImmediate();
        const answer = await transfers.settle(settlement);
        return answer && { ...answer, settled: before?.status === 'pending' };
      },
    })),
  ],
  'answers a final transfer as it was asked to be': [
    'settlement: what is final stays final',
    answered(
      'transfers',
      'settle',
      (answer, { status }) => answer && { ...answer, transfer: { ...answer.transfer, status } },
    ),
  ],
  'publishes the event of every settlement': [
    'settlement: of parallel settlements the event of the one that settles is published, and no other',
    differing('transfers', ({ transfers, events }) => ({
      async settle({ event, now, ...settlement }) {
        const answer = await transfers.settle({ ...settlement, event, now });
        if (answer?.settled === false) await events.publish([event], { idempotency: null, now });
        return answer;
      },
    })),
  ],
  'settles, then publishes': [
    'settlement: a transfer whose event cannot be stored stays pending',
    differing('transfers', ({ transfers, events }) => ({
      async settle({ event, now, ...settlement }) {
        const elsewhere = { ...event, id: `${event.id} x`, partner: 'nobody' };
        const answer = await transfers.settle({ ...settlement, event: elsewhere, now });
        if (answer?.settled) await events.publish([event], { idempotency: null, now });
        return answer;
      },
    })),
  ],
  'pages by time alone': [
    'transfer lists: pages have no gap and no repetition while transfers arrive, at one millisecond too',
    asked('transfers', 'list', ({ after, ...request }) => ({
      ...request,
      after: after && { ...after, id: '' },
    })),
  ],
  'pages by offset': [
    'transfer lists: pages have no gap and no repetition while transfers arrive, at one millisecond too',
    differing('transfers', ({ transfers }) => {
      let offset = 0;
      return {
        async list(request) {
          if (request.after === null) offset = 0;
          const all = await transfers.list({ ...request, after: null, limit: offset + request.limit });
          const page = all.slice(offset);
          offset += page.length;
          return page;
        },
      };
    }),
  ],
  'filters a page after it was cut': [
    'transfer lists: filters take what they name, alone and together',
    differing('transfers', ({ transfers }) => ({
      async list(request) {
        const page = await transfers.list({ ...request, status: null });
        return page.filter(({ status }) => request.status === null || status === request.status);
      },
    })),
  ],
  'includes the end of a range': [
    'transfer lists: a range has its start and not its end',
    asked('transfers', 'list', (request) => ({ ...request, to: request.to && request.to + 1 })),
  ],
  'exports the end of a range': [
    'final transfers: a range has its start and not its end',
    asked('transfers', 'listFinal', (request) => ({ ...request, to: request.to + 1 })),
  ],
  'starts an export page where the last one ended': [
    'final transfers: pages have no gap and no repetition while others become final',
    asked('transfers', 'listFinal', ({ after, ...request }) => ({
      ...request,
      after: null,
      from: after?.time ?? request.from,
    })),
  ],
  'keeps the keys of endpoints apart from the others': [
    'parallel calls: of every kind with one key take effect once',
    asked('webhooks', 'create', ({ idempotency, ...creation }) => ({
      ...creation,
      idempotency: idempotency && { ...idempotency, key: `endpoints ${idempotency.key}` },
    })),
  ],
  'purges a record in its last millisecond': [
    'purge: a record of an idempotency key goes after its last millisecond, and its transfer stays',
    (storage) => ({ purge: (request) => storage.purge({ ...request, now: request.now + 1 }) }),
  ],
});
