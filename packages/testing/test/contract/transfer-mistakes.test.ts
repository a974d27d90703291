import { setImmediate } from 'node:timers/promises';
import type { TransferRecord } from '../../../core/src/ports/transfers.ts';
import {
  answered,
  asked,
  describeMistakes,
  differing,
  instead,
  keyLookedUpFirst,
  recordKey,
} from './mistakes.ts';

const inDouble = (transfer: TransferRecord): TransferRecord => ({
  ...transfer,
  amount: BigInt(Number(transfer.amount)),
});

describeMistakes({
  'looks the key of a transfer up, then creates it': [
    'keys of transfers: of parallel requests with one key one takes effect, and the others give its answer',
    keyLookedUpFirst('transfers', 'create'),
  ],
  'shares keys between modes': [
    'idempotency: one key means another request for another partner and in another mode',
    asked('transfers', 'create', ({ idempotency, ...creation }) => ({
      ...creation,
      idempotency: idempotency && { ...idempotency, mode: 'live' as const },
    })),
  ],
  'parses stored answers and writes them anew': [
    'idempotency: a record gives its answer again, byte for byte',
    answered('idempotency', 'find', (found) => {
      if (found === null || !found.answer.body.startsWith('{')) return found;
      return {
        ...found,
        answer: { ...found.answer, body: JSON.stringify(JSON.parse(found.answer.body)) },
      };
    }),
  ],
  'looks at the reference before the key': [
    'keys of transfers: the key is looked at first, and what is refused leaves it as it was',
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
    instead('transfers', 'create', (create, { transfers }) => async (creation) => {
      const answer = await create(creation);
      if (answer.outcome !== 'reference_conflict') return answer;
      const earlier = await transfers.findById(answer.transferId);
      if (earlier?.status !== 'failed') return answer;
      return create({ ...creation, transfer: { ...creation.transfer, reference: null } });
    }),
  ],
  'keeps the key of a request that was refused': [
    'transfers: of parallel requests with one reference exactly one is stored, and the others hear its id',
    instead('transfers', 'create', (create, storage) => async (creation) => {
      const answer = await create(creation);
      if (answer.outcome === 'reference_conflict') await recordKey(storage, creation);
      return answer;
    }),
  ],
  'enqueues the job in another transaction': [
    'transfers: a transfer id that is taken is an error and stores nothing',
    instead('transfers', 'create', (create, { queue }) => async (creation) => {
      const [answer] = await Promise.all([create(creation), queue.enqueue([creation.job])]);
      return answer;
    }),
  ],
  'keeps amounts in doubles': [
    'transfers: amounts are exact',
    answered('transfers', 'find', (transfer) => transfer && inDouble(transfer)),
  ],
  'shows a transfer to whoever knows its id': [
    'transfers: somebody else’s transfer is as unknown as any other',
    differing('transfers', ({ transfers }) => ({ find: (_owner, id) => transfers.findById(id) })),
  ],
  'looks whether a transfer is pending, then settles it': [
    'settlement: of parallel settlements exactly one settles, with its event, and the others see what it did',
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
    'settlement: of parallel settlements exactly one settles, with its event, and the others see what it did',
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
    instead('transfers', 'settle', (settle, { events }) => async ({ event, now, ...settlement }) => {
      const elsewhere = { ...event, id: `${event.id} x`, partner: 'nobody' };
      const answer = await settle({ ...settlement, event: elsewhere, now });
      if (answer?.settled) await events.publish([event], { idempotency: null, now });
      return answer;
    }),
  ],
  'pages by time alone': [
    'transfer lists: pages have no gap and no repetition while transfers arrive, at one millisecond too',
    asked('transfers', 'list', ({ after, ...request }) => ({
      ...request,
      after: after && { ...after, id: '' },
    })),
  ],
  'filters a page after it was cut': [
    'transfer lists: filters take what they name, alone and together',
    instead('transfers', 'list', (list) => async (request) => {
      const page = await list({ ...request, status: null });
      return page.filter(({ status }) => request.status === null || status === request.status);
    }),
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
  'includes the end of a range': [
    'transfer lists: a range has its start and not its end',
    asked('transfers', 'list', (request) => ({ ...request, to: request.to && request.to + 1 })),
  ],
  'exports the end of a range': [
    'final transfers: a range has its start and not its end',
    asked('transfers', 'listFinal', (request) => ({ ...request, to: request.to + 1 })),
  ],
});
