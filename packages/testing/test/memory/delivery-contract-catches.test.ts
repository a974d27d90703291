import { setImmediate } from 'node:timers/promises';
import type { DeliveryStore } from '../../../core/src/ports/deliveries.ts';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { describeMistakes, type Mistakes } from './mistakes.ts';

/** A storage whose deliveries differ in these calls. */
const deliveriesWith =
  (spoil: (storage: Storage) => Partial<DeliveryStore>) =>
  (storage: Storage): Partial<Storage> => ({ deliveries: { ...storage.deliveries, ...spoil(storage) } });

const mistakes: Mistakes = {
  'hands a delivery out one millisecond early': {
    case: 'delivery claims: a delivery is due at its exact millisecond',
    spoil: deliveriesWith(({ deliveries }) => ({
      claim: (request) => deliveries.claim({ ...request, now: request.now + 1 }),
    })),
  },
  'lets a lease end one millisecond early': {
    case: 'delivery claims: a lease ends at its exact millisecond, and the next claim holds the delivery',
    spoil: deliveriesWith(({ deliveries }) => ({
      claim: (request) => deliveries.claim({ ...request, leaseMs: request.leaseMs - 1 }),
    })),
  },
  'counts claims, not attempts': {
    case: 'delivery claims: a lease ends at its exact millisecond, and the next claim holds the delivery',
    spoil: deliveriesWith(({ deliveries }) => {
      const claims = new Map<string, number>();
      return {
        async claim(request) {
          const claimed = await deliveries.claim(request);
          return claimed.map((delivery) => {
            const attempt = (claims.get(delivery.id) ?? 0) + 1;
            claims.set(delivery.id, attempt);
            return { ...delivery, attempt };
          });
        },
      };
    }),
  },
  'looks what is due, then claims it': {
    case: 'delivery claims: parallel claims never share a delivery',
    spoil: deliveriesWith(({ deliveries }) => ({
      async claim(request) {
        // A lease that ends at once, so that looking holds nothing.
        const due = await deliveries.claim({ ...request, leaseMs: 0 });
        await setImmediate();
        await deliveries.claim(request);
        return due;
      },
    })),
  },
  'forgets who has no room': {
    case: 'delivery claims: limits hold together, per endpoint and by name',
    spoil: deliveriesWith(({ deliveries }) => ({
      claim: (request) => deliveries.claim({ ...request, rooms: new Map() }),
    })),
  },
  'lets an endpoint have more than its part': {
    case: 'delivery claims: limits hold together, per endpoint and by name',
    spoil: deliveriesWith(({ deliveries }) => ({
      claim: (request) => deliveries.claim({ ...request, room: request.room + 1 }),
    })),
  },
  'passes over endpoints without room after the limit': {
    case: 'delivery claims: endpoints without room do not use up the limit',
    spoil: deliveriesWith(({ deliveries }) => ({
      async claim(request) {
        const claimed = await deliveries.claim({ ...request, rooms: new Map() });
        return claimed.filter(({ endpointId }) => request.rooms.get(endpointId) !== 0);
      },
    })),
  },
  'begins with the first endpoint every time': {
    case: 'delivery claims: endpoints take turns: the one that was served longest ago is next, then by id',
    spoil: deliveriesWith(({ deliveries }) => ({
      async claim(request) {
        const all = await deliveries.claim({ ...request, limit: 1000, leaseMs: 0 });
        const chosen = new Map(all.map(({ endpointId }) => [endpointId, 0]));
        for (const id of [...chosen.keys()].sort().slice(0, request.limit)) {
          chosen.set(id, request.rooms.get(id) ?? request.room);
        }
        return deliveries.claim({ ...request, rooms: chosen });
      },
    })),
  },
  'serves the longest backlog first': {
    case: 'delivery claims: a large backlog neglects nobody',
    spoil: deliveriesWith(({ deliveries }) => ({
      claim: (request) => deliveries.claim({ ...request, room: 1000 }),
    })),
  },
  'keeps the address that an endpoint had first': {
    case: 'delivery claims: the address and the secret are those of the moment',
    spoil: deliveriesWith(({ deliveries }) => {
      const urls = new Map<string, string>();
      return {
        async claim(request) {
          const claimed = await deliveries.claim(request);
          for (const { id, url } of claimed) if (!urls.has(id)) urls.set(id, url);
          return claimed.map((delivery) => ({ ...delivery, url: urls.get(delivery.id) ?? delivery.url }));
        },
      };
    }),
  },
  'takes results of earlier claims': {
    case: 'delivery results: a late result counts while nobody took over, and not after that',
    spoil: deliveriesWith(({ deliveries }) => {
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
  },
  'says that the result of a cancelled delivery counted': {
    case: 'fan-out: what a worker holds is cancelled too, and its result is refused',
    spoil: deliveriesWith(({ deliveries }) => ({
      async finish(results) {
        await deliveries.finish(results);
        return results.map(() => true);
      },
    })),
  },
  'answers for a batch as a whole': {
    case: 'delivery results: each result of a batch counts for itself',
    spoil: deliveriesWith(({ deliveries }) => ({
      async finish(results) {
        const answers = await deliveries.finish(results);
        return answers.map(() => answers.every((answer) => answer));
      },
    })),
  },
  'writes a batch result by result': {
    case: 'delivery results: a batch that cannot be written is not written at all',
    spoil: deliveriesWith(({ deliveries }) => ({
      async finish(results) {
        const answers: boolean[] = [];
        for (const result of results) answers.push(...(await deliveries.finish([result])));
        return answers;
      },
    })),
  },
  'logs an attempt of a delivery that is handed back': {
    case: 'delivery results: a delivery that is handed back has no attempt more',
    spoil: deliveriesWith(({ deliveries }) => {
      const none = { number: 1, at: 0, durationMs: 0, httpStatus: null, error: null, response: null };
      return {
        finish: (results) =>
          deliveries.finish(results.map((result) => ({ ...result, attempt: result.attempt ?? none }))),
      };
    }),
  },
  'keeps a delivery back until its lease would have ended': {
    case: 'delivery results: a delivery that is due earlier than its lease ended is given out then',
    spoil: deliveriesWith(({ deliveries }) => ({
      finish: (results) =>
        deliveries.finish(
          results.map((result) =>
            result.next.status === 'pending'
              ? { ...result, next: { status: 'pending', dueAt: result.next.dueAt + 29_999 } }
              : result,
          ),
        ),
    })),
  },
  'sorts attempts by time': {
    case: 'delivery results: attempts come back as they were logged, in order',
    spoil: deliveriesWith(({ deliveries }) => ({
      list: async (request) =>
        (await deliveries.list(request)).map((delivery) => ({
          ...delivery,
          attempts: delivery.attempts.toSorted((a, b) => a.at - b.at),
        })),
    })),
  },
  'lets the answer be empty where there was none': {
    case: 'delivery results: attempts come back as they were logged, in order',
    spoil: deliveriesWith(({ deliveries }) => ({
      list: async (request) =>
        (await deliveries.list(request)).map((delivery) => ({
          ...delivery,
          attempts: delivery.attempts.map((attempt) => ({ ...attempt, response: attempt.response ?? '' })),
        })),
    })),
  },
  'pages deliveries by time alone': {
    case: 'delivery lists: pages have no gap and no repetition while deliveries arrive, at one millisecond too',
    spoil: deliveriesWith(({ deliveries }) => ({
      list: (request) =>
        deliveries.list({ ...request, after: request.after && { ...request.after, id: '' } }),
    })),
  },
  'filters a page of deliveries after it was cut': {
    case: 'delivery lists: filters take what they name, alone and together',
    spoil: deliveriesWith(({ deliveries }) => ({
      async list(request) {
        const page = await deliveries.list({ ...request, status: null });
        return page.filter(({ status }) => request.status === null || status === request.status);
      },
    })),
  },
  'lists status by status': {
    case: 'delivery lists: the newest come first, then by id in descending code unit order',
    spoil: deliveriesWith(({ deliveries }) => ({
      async list(request) {
        const page = await deliveries.list(request);
        return page.toSorted((a, b) => a.status.localeCompare(b.status));
      },
    })),
  },
  'shows deliveries to whoever knows the endpoint': {
    case: 'delivery lists: a list is of one partner and one mode',
    spoil: deliveriesWith(({ deliveries }) => ({
      async list(request) {
        if (request.endpointId === null) return deliveries.list(request);
        const owners = ['acme', 'other'].flatMap((partner) => [
          { partner, mode: 'live' } as const,
          { partner, mode: 'test' } as const,
        ]);
        return (await Promise.all(owners.map((owner) => deliveries.list({ ...request, ...owner })))).flat();
      },
    })),
  },
  'answers with new deliveries only': {
    case: 'redeliveries: a pending delivery stands for the new one, with what it has',
    spoil: deliveriesWith(({ deliveries }) => ({
      redeliver: (request) =>
        deliveries.redeliver({
          ...request,
          answer: (all) => request.answer(all.filter(({ id }) => id.startsWith(request.deliveryId))),
        }),
    })),
  },
  'looks the key of a redelivery up, then delivers': {
    case: 'redeliveries: of parallel requests with one key one takes effect, and the others give its answer',
    spoil: deliveriesWith(({ deliveries, events, idempotency }) => ({
      async redeliver(request) {
        const { idempotency: claim, now } = request;
        const earlier = claim && (await idempotency.find({ ...claim, now }));
        if (earlier !== null) return earlier;
        await setImmediate();
        const outcome = await deliveries.redeliver({ ...request, idempotency: null });
        if (outcome.outcome !== 'queued' || claim === null) return outcome;
        await events.publish([], { idempotency: { ...claim, answer: outcome.answer }, now });
        return outcome;
      },
    })),
  },
  'keeps the key of a redelivery that was refused': {
    case: 'redeliveries: the event, then the endpoint, have to be the partner’s',
    spoil: deliveriesWith(({ deliveries, events }) => ({
      async redeliver(request) {
        const outcome = await deliveries.redeliver(request);
        const { idempotency: claim, now } = request;
        if (outcome.outcome === 'unknown_event' && claim !== null) {
          const answer = { status: 404, body: '' };
          await events.publish([], { idempotency: { ...claim, answer }, now });
        }
        return outcome;
      },
    })),
  },
  'makes deliveries, then asks for the answer': {
    case: 'redeliveries: an answer that cannot be given leaves nothing behind',
    spoil: deliveriesWith(({ deliveries }) => ({
      async redeliver(request) {
        const answer = { status: 202, body: '' };
        const outcome = await deliveries.redeliver({ ...request, answer: () => answer });
        if (outcome.outcome === 'queued') request.answer([]);
        return outcome;
      },
    })),
  },
  'recovers what was dropped after a moment, not at it': {
    case: 'recoveries: what was dropped at or after a moment is queued, the longest dropped first',
    spoil: deliveriesWith(({ deliveries }) => ({
      recover: (request) => deliveries.recover({ ...request, since: request.since + 1 }),
    })),
  },
  'recovers by when the last attempt began': {
    case: 'recoveries: a delivery was dropped when its last attempt ended',
    spoil: deliveriesWith(({ deliveries }) => ({
      finish: (results) =>
        deliveries.finish(
          results.map((result) => ({
            ...result,
            attempt: result.attempt && { ...result.attempt, durationMs: 0 },
          })),
        ),
    })),
  },
  'recovers without a limit': {
    case: 'recoveries: one call has a limit, and the next one goes on',
    spoil: deliveriesWith(({ deliveries }) => ({
      recover: (request) => deliveries.recover({ ...request, limit: 1000 }),
    })),
  },
  'recovers what was recovered': {
    case: 'recoveries: nothing is recovered twice',
    spoil: deliveriesWith(({ deliveries }) => ({
      async recover(request) {
        const dropped = await deliveries.list({
          ...request,
          eventId: null,
          status: 'dropped',
          after: null,
        });
        await deliveries.recover(request);
        return { outcome: 'queued', answer: request.answer(dropped.length) };
      },
    })),
  },
};

describeMistakes(mistakes);
