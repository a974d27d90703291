import { setImmediate } from 'node:timers/promises';
import {
  answered,
  asked,
  describeMistakes,
  differing,
  instead,
  keyLookedUpFirst,
  recordKey,
} from './mistakes.ts';

describeMistakes({
  'hands a delivery out one millisecond early': [
    'leases of deliveries: it begins at the exact millisecond at which something is due',
    asked('deliveries', 'claim', (request) => ({ ...request, now: request.now + 1 })),
  ],
  'lets a lease end one millisecond early': [
    'leases of deliveries: it ends at its exact millisecond, and then only the next claim counts',
    asked('deliveries', 'claim', (request) => ({ ...request, leaseMs: request.leaseMs - 1 })),
  ],
  'gives a lost attempt the same number again': [
    'leases of deliveries: it ends at its exact millisecond, and then only the next claim counts',
    differing('deliveries', ({ deliveries }) => ({
      async claim(request) {
        const claimed = await deliveries.claim(request);
        return claimed.map((delivery) => ({ ...delivery, attempt: delivery.failures + 1 }));
      },
    })),
  ],
  'looks what is due, then claims it': [
    'leases of deliveries: parallel claims never share anything',
    differing('deliveries', ({ deliveries }) => ({
      async claim(request) {
        // A lease that ends at once, so that looking holds nothing.
        const due = await deliveries.claim({ ...request, leaseMs: 0 });
        await setImmediate();
        await deliveries.claim(request);
        return due;
      },
    })),
  ],
  'forgets who has no room': [
    'delivery claims: limits hold together, per endpoint and by name',
    asked('deliveries', 'claim', (request) => ({ ...request, rooms: new Map() })),
  ],
  'passes over endpoints without room after the limit': [
    'delivery claims: endpoints without room do not use up the limit',
    instead('deliveries', 'claim', (claim) => async (request) => {
      const claimed = await claim({ ...request, rooms: new Map() });
      return claimed.filter(({ endpointId }) => request.rooms.get(endpointId) !== 0);
    }),
  ],
  'begins with the first endpoint every time': [
    'delivery claims: endpoints take turns: the one that was served longest ago is next, then by id',
    answered('deliveries', 'claim', (claimed) =>
      claimed.toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1)),
    ),
  ],
  'takes results of earlier claims': [
    'leases of deliveries: it ends at its exact millisecond, and then only the next claim counts',
    differing('deliveries', ({ deliveries }) => {
      const current = new Map<string, string>();
      return {
        async claim(request) {
          const claimed = await deliveries.claim(request);
          for (const { id, claimId } of claimed) current.set(id, claimId);
          return claimed;
        },
        finish: (results) =>
          deliveries.finish(
            results.map((result) => ({ ...result, claimId: current.get(result.id) ?? result.claimId })),
          ),
      };
    }),
  ],
  'says that the result of a cancelled delivery counted': [
    'the end of deliveries: when an endpoint is removed, what is pending is cancelled, also what a worker holds, and nothing else',
    answered('deliveries', 'finish', (answers) => answers.map(() => true)),
  ],
  'answers for a batch as a whole': [
    'delivery results: each result of a batch counts for itself',
    answered('deliveries', 'finish', (answers) => answers.map(() => !answers.includes(false))),
  ],
  'writes a batch result by result': [
    'delivery results: a batch that cannot be written is not written at all',
    instead('deliveries', 'finish', (finish) => async (results) => {
      const answers: boolean[] = [];
      for (const result of results) answers.push(...(await finish([result])));
      return answers;
    }),
  ],
  'says that every result counted, of whichever claim it is': [
    'parallel calls: with the same results in any order count each once, and none fails',
    answered('deliveries', 'finish', (answers) => answers.map(() => true)),
  ],
  'logs an attempt of a delivery that is handed back': [
    'delivery results: a delivery that is handed back has no attempt more',
    asked('deliveries', 'finish', (results) => {
      const none = { number: 1, at: 0, durationMs: 0, httpStatus: null, error: null, response: null };
      return results.map((result) => ({ ...result, attempt: result.attempt ?? none }));
    }),
  ],
  'keeps a delivery back until its lease would have ended': [
    'leases of deliveries: what is given back is due when it was told, with the next attempt',
    asked('deliveries', 'finish', (results) =>
      results.map(({ next, ...result }) => ({
        ...result,
        next: next.status === 'pending' ? { ...next, dueAt: next.dueAt + 29_999 } : next,
      })),
    ),
  ],
  'filters a page of deliveries after it was cut': [
    'delivery lists: filters take what they name, alone and together',
    instead('deliveries', 'list', (list) => async (request) => {
      const page = await list({ ...request, status: null });
      return page.filter(({ status }) => request.status === null || status === request.status);
    }),
  ],
  'shows deliveries to whoever knows the endpoint': [
    'delivery lists: a list is of one partner and one mode',
    instead('deliveries', 'list', (list) => async (request) => {
      if (request.endpointId === null) return list(request);
      const owners = ['acme', 'other'].flatMap((partner) => [
        { partner, mode: 'live' } as const,
        { partner, mode: 'test' } as const,
      ]);
      return (await Promise.all(owners.map((owner) => list({ ...request, ...owner })))).flat();
    }),
  ],
  'answers with new deliveries only': [
    'redeliveries: a pending delivery stands for the new one, with what it has',
    asked('deliveries', 'redeliver', (request) => ({
      ...request,
      answer: (all) => request.answer(all.filter(({ id }) => id.startsWith(request.deliveryId))),
    })),
  ],
  'looks the key of a redelivery up, then delivers': [
    'keys of redeliveries: of parallel requests with one key one takes effect, and the others give its answer',
    keyLookedUpFirst('deliveries', 'redeliver'),
  ],
  'keeps the key of a redelivery that was refused': [
    'redeliveries: the event, then the endpoint, have to be the partner’s',
    instead('deliveries', 'redeliver', (redeliver, storage) => async (request) => {
      const outcome = await redeliver(request);
      if (outcome.outcome === 'unknown_event') await recordKey(storage, request, { status: 404, body: '' });
      return outcome;
    }),
  ],
  'makes deliveries, then asks for the answer': [
    'redeliveries: an answer that cannot be given leaves nothing behind',
    instead('deliveries', 'redeliver', (redeliver) => async (request) => {
      const answer = { status: 202, body: '' };
      const outcome = await redeliver({ ...request, answer: () => answer });
      if (outcome.outcome === 'queued') request.answer([]);
      return outcome;
    }),
  ],
  'looks for the event, and delivers it again after it was purged': [
    'parallel calls: that purge an event and deliver it again do one or the other',
    answered('deliveries', 'redeliver', (answer, request) =>
      answer.outcome === 'unknown_event'
        ? { outcome: 'queued' as const, answer: request.answer([]) }
        : answer,
    ),
  ],
  'recovers what was purged': [
    'parallel calls: that purge events and recover their deliveries do one or the other',
    answered('deliveries', 'recover', (answer, request) =>
      answer.outcome === 'queued' ? { outcome: 'queued' as const, answer: request.answer(1) } : answer,
    ),
  ],
  'recovers by when the last attempt began': [
    'recoveries: a delivery was dropped when its last attempt ended',
    asked('deliveries', 'finish', (results) =>
      results.map(({ attempt, ...result }) => ({
        ...result,
        attempt: attempt && { ...attempt, durationMs: 0 },
      })),
    ),
  ],
  'recovers first, and looks at the key afterwards': [
    'keys of recoveries: of parallel requests with one key one takes effect, and the others give its answer',
    asked('deliveries', 'recover', (request) => ({ ...request, idempotency: null })),
  ],
  'recovers what was recovered': [
    'recoveries: nothing is recovered twice',
    instead('deliveries', 'recover', (recover, { deliveries }) => async (request) => {
      const dropped = await deliveries.list({
        ...request,
        eventId: null,
        status: 'dropped',
        after: null,
      });
      await recover(request);
      return { outcome: 'queued', answer: request.answer(dropped.length) };
    }),
  ],
  'serves the longest backlog first': [
    'delivery claims: a large backlog neglects nobody',
    asked('deliveries', 'claim', (request) => ({ ...request, room: 1000 })),
  ],
  'keeps the address that an endpoint had first': [
    'delivery claims: the address and the secret are those of the moment',
    differing('deliveries', ({ deliveries }) => {
      const urls = new Map<string, string>();
      return {
        async claim(request) {
          const claimed = await deliveries.claim(request);
          for (const { id, url } of claimed) if (!urls.has(id)) urls.set(id, url);
          return claimed.map((delivery) => ({ ...delivery, url: urls.get(delivery.id) ?? delivery.url }));
        },
      };
    }),
  ],
  'sorts attempts by time': [
    'delivery results: attempts come back as they were logged, in order',
    answered('deliveries', 'list', (page) =>
      page.map((delivery) => ({
        ...delivery,
        attempts: delivery.attempts.toSorted((a, b) => a.at - b.at),
      })),
    ),
  ],
  'pages deliveries by time alone': [
    'delivery lists: pages have no gap and no repetition while deliveries arrive, at one millisecond too',
    asked('deliveries', 'list', ({ after, ...request }) => ({
      ...request,
      after: after && { ...after, id: '' },
    })),
  ],
  'lists status by status': [
    'delivery lists: the newest come first, then by id in descending code unit order',
    answered('deliveries', 'list', (page) => page.toSorted((a, b) => a.status.localeCompare(b.status))),
  ],
  'recovers what was dropped after a moment, not at it': [
    'recoveries: what was dropped at or after a moment is queued, the longest dropped first',
    asked('deliveries', 'recover', (request) => ({ ...request, since: request.since + 1 })),
  ],
  'recovers without a limit': [
    'recoveries: one call has a limit, and the next one goes on',
    asked('deliveries', 'recover', (request) => ({ ...request, limit: 1000 })),
  ],
});
