import { setImmediate } from 'node:timers/promises';
import type { TransferRecord } from '../../../core/src/ports/transfers.ts';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

const inDouble = (transfer: TransferRecord): TransferRecord => ({
  ...transfer,
  amount: BigInt(Number(transfer.amount)),
});

const mistakes: Mistakes = {
  'replaces a partner whatever its version is': {
    case: 'partners: replace stores the next version and refuses any other',
    spoil: differing('partners', ({ partners }) => ({
      async replace(partner) {
        const stored = await partners.find(partner.slug);
        return partners.replace({ ...partner, version: (stored?.version ?? 0) + 1 });
      },
    })),
  },
  'compares the version, then replaces': {
    case: 'partners: of parallel replacements of one version exactly one is stored',
    spoil: differing('partners', ({ partners }) => ({
      async replace(partner) {
        const stored = await partners.find(partner.slug);
        if (stored?.version !== partner.version - 1) return null;
        await setImmediate();
        await partners.replace(partner);
        return { keys: 0, clients: 0, codes: 0, tokens: 0, deliveries: 0 };
      },
    })),
  },
  'does not ask the partner about its keys': {
    case: 'api keys: keys follow their partner when it is disabled and enabled',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
      async findByDigest(digest) {
        const key = await apiKeys.findByDigest(digest);
        return key && { ...key, partnerDisabled: false };
      },
    })),
  },
  'takes keys of partners that do not exist': {
    case: 'api keys: a key needs its partner',
    spoil: differing('apiKeys', ({ apiKeys, partners }) => ({
      async insert(key) {
        const partner = {
          slug: key.partner,
          name: '',
          createdAt: 0,
          updatedAt: 0,
          disabledAt: null,
          version: 1,
        };
        await partners.insert(partner);
        return apiKeys.insert(key);
      },
    })),
  },
  'notes the last use that was told, not the latest': {
    case: 'api keys: a use is noted, and never goes back in time',
    spoil: differing('apiKeys', ({ apiKeys }) => {
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
  },
  'rolls in two steps': {
    case: 'rolled keys: a key that is revoked while it is rolled has a successor only if the roll came first',
    spoil: differing('apiKeys', ({ apiKeys }) => ({
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
  },
  'rolls a key for as long as it is told': {
    case: 'rolled keys: rolling never makes a key live longer',
    spoil: differing('apiKeys', ({ apiKeys }) => {
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
  },
  'looks a key up, then creates': {
    case: 'replays: of parallel requests with one key one is stored, and the others give its answer',
    spoil: differing('transfers', ({ transfers, idempotency }) => ({
      async create(creation) {
        const { idempotency: claim, now } = creation;
        const earlier = claim && (await idempotency.find({ ...claim, now }));
        if (earlier !== null) return earlier;
        await setImmediate();
        const creating = await transfers.create({ ...creation, idempotency: null });
        if (claim === null) return creating;
        // The record on its own, with a transfer of nobody: two transactions where there should be one.
        const nobody = { ...creation.transfer, id: `${creation.transfer.id} x`, partner: 'nobody' };
        await transfers.create({ ...creation, transfer: nobody });
        return creating;
      },
    })),
  },
  'shares keys between modes': {
    case: 'replays: one key means another request for another partner and in another mode',
    spoil: differing('transfers', ({ transfers }) => ({
      create: (creation) =>
        transfers.create({
          ...creation,
          idempotency: creation.idempotency && { ...creation.idempotency, mode: 'live' },
        }),
    })),
  },
  'answers whatever the payload was': {
    case: 'replays: a key with another payload is a conflict and changes nothing',
    spoil: differing('transfers', ({ transfers }) => ({
      create: (creation) =>
        transfers.create({
          ...creation,
          idempotency: creation.idempotency && { ...creation.idempotency, fingerprint: Buffer.alloc(32) },
        }),
    })),
  },
  'keeps a record one millisecond too long': {
    case: 'replays: a record that has ended is overwritten, at its exact millisecond',
    spoil: differing('transfers', ({ transfers }) => ({
      create: (creation) => transfers.create({ ...creation, now: creation.now - 1 }),
    })),
  },
  'finds a record one millisecond too long': {
    case: 'idempotency: a record ends at its exact millisecond',
    spoil: ({ idempotency }) => ({
      idempotency: { find: (request) => idempotency.find({ ...request, now: request.now - 1 }) },
    }),
  },
  'parses stored answers and writes them anew': {
    case: 'idempotency: a record gives its answer again, byte for byte',
    spoil: ({ idempotency }) => ({
      idempotency: {
        async find(request) {
          const found = await idempotency.find(request);
          if (found?.outcome !== 'replayed' || !found.answer.body.startsWith('{')) return found;
          const body = JSON.stringify(JSON.parse(found.answer.body));
          return { ...found, answer: { ...found.answer, body } };
        },
      },
    }),
  },
  'looks at the reference before the key': {
    case: 'replays: the key is looked at before the reference',
    spoil: differing('transfers', ({ transfers }) => ({
      async create(creation) {
        const without = await transfers.create({
          ...creation,
          transfer: { ...creation.transfer, id: `${creation.transfer.id} x`, partner: 'nobody' },
          idempotency: null,
        });
        return without.outcome === 'reference_conflict' ? without : transfers.create(creation);
      },
    })),
  },
  'does not mind a reference that is taken': {
    case: 'transfers: a reference stays taken, whatever became of its transfer',
    spoil: differing('transfers', ({ transfers }) => ({
      async create(creation) {
        const answer = await transfers.create(creation);
        if (answer.outcome !== 'reference_conflict') return answer;
        const earlier = await transfers.findById(answer.transferId);
        if (earlier?.status !== 'failed') return answer;
        return transfers.create({ ...creation, transfer: { ...creation.transfer, reference: null } });
      },
    })),
  },
  'keeps the key of a request that was refused': {
    case: 'transfers: of parallel requests with one reference exactly one is stored, and the others hear its id',
    spoil: differing('transfers', ({ transfers }) => ({
      async create(creation) {
        const answer = await transfers.create(creation);
        if (answer.outcome !== 'reference_conflict') return answer;
        const nobody = { ...creation.transfer, id: `${creation.transfer.id} x`, reference: null };
        await transfers.create({ ...creation, transfer: nobody, job: { ...creation.job, kind: 'nothing' } });
        return answer;
      },
    })),
  },
  'enqueues the job before it looks': {
    case: 'replays: a key with another payload is a conflict and changes nothing',
    spoil: differing('transfers', ({ transfers, queue }) => ({
      async create(creation) {
        await queue.enqueue([creation.job]);
        return transfers.create(creation);
      },
    })),
  },
  'enqueues the job in another transaction': {
    case: 'transfers: a transfer id that is taken is an error and stores nothing',
    spoil: differing('transfers', ({ transfers, queue }) => ({
      async create(creation) {
        const [answer] = await Promise.all([transfers.create(creation), queue.enqueue([creation.job])]);
        return answer;
      },
    })),
  },
  'keeps amounts in doubles': {
    case: 'transfers: amounts are exact',
    spoil: differing('transfers', ({ transfers }) => ({
      async find(owner, id) {
        const transfer = await transfers.find(owner, id);
        return transfer && inDouble(transfer);
      },
    })),
  },
  'exports amounts through doubles': {
    case: 'transfers: amounts are exact',
    spoil: differing('transfers', ({ transfers }) => ({
      listFinal: async (request) => (await transfers.listFinal(request)).map(inDouble),
    })),
  },
  'shows a transfer to whoever knows its id': {
    case: 'transfers: somebody else’s transfer is as unknown as any other',
    spoil: differing('transfers', ({ transfers }) => ({ find: (_owner, id) => transfers.findById(id) })),
  },
  'looks whether a transfer is pending, then settles it': {
    case: 'settlement: of parallel settlements exactly one settles, and the others see what it did',
    spoil: differing('transfers', ({ transfers }) => ({
      async settle(settlement) {
        const before = await transfers.findById(settlement.id);
        await setImmediate();
        const answer = await transfers.settle(settlement);
        return answer && { ...answer, settled: before?.status === 'pending' };
      },
    })),
  },
  'answers a final transfer as it was asked to be': {
    case: 'settlement: what is final stays final',
    spoil: differing('transfers', ({ transfers }) => ({
      async settle(settlement) {
        const answer = await transfers.settle(settlement);
        return answer && { ...answer, transfer: { ...answer.transfer, status: settlement.status } };
      },
    })),
  },
  'pages by time alone': {
    case: 'transfer lists: pages have no gap and no repetition while transfers arrive, at one millisecond too',
    spoil: differing('transfers', ({ transfers }) => ({
      list: (request) => transfers.list({ ...request, after: request.after && { ...request.after, id: '' } }),
    })),
  },
  'pages by offset': {
    case: 'transfer lists: pages have no gap and no repetition while transfers arrive, at one millisecond too',
    spoil: differing('transfers', ({ transfers }) => {
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
  },
  'filters a page after it was cut': {
    case: 'transfer lists: filters take what they name, alone and together',
    spoil: differing('transfers', ({ transfers }) => ({
      async list(request) {
        const page = await transfers.list({ ...request, status: null });
        return page.filter(({ status }) => request.status === null || status === request.status);
      },
    })),
  },
  'includes the end of a range': {
    case: 'transfer lists: a range has its start and not its end',
    spoil: differing('transfers', ({ transfers }) => ({
      list: (request) => transfers.list({ ...request, to: request.to && request.to + 1 }),
    })),
  },
  'exports the end of a range': {
    case: 'final transfers: a range has its start and not its end',
    spoil: differing('transfers', ({ transfers }) => ({
      listFinal: (request) => transfers.listFinal({ ...request, to: request.to + 1 }),
    })),
  },
  'starts an export page where the last one ended': {
    case: 'final transfers: pages have no gap and no repetition while others become final',
    spoil: differing('transfers', ({ transfers }) => ({
      listFinal: ({ after, ...request }) =>
        transfers.listFinal({ ...request, after: null, from: after?.time ?? request.from }),
    })),
  },
  'says what any partner holds': {
    case: 'consents of partners: a partner holds what a user let its client read, and nothing else',
    spoil: differing('consents', ({ consents }) => ({
      async partnerHolds({ sub, scope }) {
        return (await consents.list(sub)).some(({ scopes }) => scopes.includes(scope));
      },
    })),
  },
  'keeps the partner that a client had first': {
    case: 'consents of partners: it follows a client that gets, changes or loses its partner',
    spoil: differing('clients', ({ clients }) => ({
      async replace(client) {
        const stored = await clients.find(client.clientId);
        return clients.replace({ ...client, partner: stored?.partner ?? null });
      },
    })),
  },
  'purges a record in its last millisecond': {
    case: 'purge: a record of an idempotency key goes after its last millisecond, and its transfer stays',
    spoil: (storage) => ({ purge: (request) => storage.purge({ ...request, now: request.now + 1 }) }),
  },
  'purges idempotency records without a bound': {
    case: 'purge: one call removes at most the limit of idempotency records, the oldest first',
    spoil: (storage) => ({ purge: (request) => storage.purge({ ...request, limit: 1000 }) }),
  },
};

describeMistakes(mistakes);
