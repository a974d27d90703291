import { setImmediate } from 'node:timers/promises';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

const mistakes: Mistakes = {
  'fails where the job is there already': {
    case: 'parallel calls: that store the same jobs in any order store each once, and none fails',
    spoil: differing('queue', ({ queue }) => {
      const known = new Set<string>();
      return {
        async enqueue(jobs) {
          if (jobs.some(({ id }) => known.has(id))) throw new Error('duplicate key');
          for (const { id } of jobs) known.add(id);
          await queue.enqueue(jobs);
        },
      };
    }),
  },
  'says that a job was handed back, whoever held it': {
    case: 'parallel calls: with results of one job count once, whatever they say',
    spoil: differing('queue', ({ queue }) => ({
      async retry(held, next) {
        await queue.retry(held, next);
        return true;
      },
    })),
  },
  'says that a job is done, whoever took it over': {
    case: 'parallel calls: with a result and the claim after its lease give the job to one of them',
    spoil: differing('queue', ({ queue }) => ({
      async complete(held) {
        await setImmediate();
        await queue.complete(held);
        return true;
      },
    })),
  },
  'lists the consents of a user who ends, then revokes them': {
    case: 'parallel calls: that end a user while a code is issued leave neither a consent nor a code that works',
    spoil: ({ consents, grants }) => ({
      consents: {
        ...consents,
        async endUser(sub, now) {
          for (const { clientId } of await consents.list(sub)) await consents.revoke(sub, clientId, now);
        },
      },
      grants: {
        ...grants,
        // Has looked at the consent before.
        async issue(grant) {
          const consent = await consents.find(grant.sub, grant.clientId);
          if (consent === null) return false;
          await setImmediate();
          await consents.remember({ ...grant, now: grant.issuedAt });
          return grants.issue(grant);
        },
      },
    }),
  },
  'looks whether the client is disabled, then stores the consent': {
    case: 'parallel calls: that disable a client while a consent is given leave no consent',
    spoil({ clients, consents }) {
      const late = new Map<string, { readonly scopes: readonly string[] }>();
      return {
        consents: {
          ...consents,
          async remember(consent) {
            const client = await clients.find(consent.clientId);
            if (client === null || client.disabledAt !== null) return false;
            await setImmediate();
            late.set(consent.clientId, consent);
            return true;
          },
          async find(sub, clientId) {
            const { scopes } = late.get(clientId) ?? {};
            return scopes === undefined ? null : { sub, clientId, scopes, grantedAt: 0, updatedAt: 0 };
          },
        },
      };
    },
  },
  'numbers the events of one call together': {
    case: 'parallel calls: that publish to several partners in any order all succeed, without a gap',
    spoil: differing('events', ({ events }) => ({
      async list(request) {
        const listed = await events.list(request);
        const numbered = listed.events.map((event) => ({ ...event, sequence: event.sequence * 3 }));
        return { ...listed, events: numbered };
      },
    })),
  },
  'keeps the keys of endpoints apart from the others': {
    case: 'parallel calls: of every kind with one key take effect once',
    spoil: differing('webhooks', ({ webhooks }) => ({
      create: (creation) =>
        webhooks.create({
          ...creation,
          idempotency: creation.idempotency && {
            ...creation.idempotency,
            key: `endpoints ${creation.idempotency.key}`,
          },
        }),
    })),
  },
  'recovers first, and looks at the key afterwards': {
    case: 'parallel calls: that recover deliveries with one key take effect once, and the others give its answer',
    spoil: differing('deliveries', ({ deliveries }) => ({
      recover: (request) => deliveries.recover({ ...request, idempotency: null }),
    })),
  },
  'answers by the delivery, and not by the claim': {
    case: 'parallel calls: with the same results in any order count each once, and none fails',
    spoil: differing('deliveries', ({ deliveries }) => ({
      async finish(results) {
        await deliveries.finish(results);
        return results.map(() => true);
      },
    })),
  },
  'counts what it wanted to purge': {
    case: 'parallel calls: that purge remove each row once',
    spoil: (storage) => ({
      async purge(request) {
        const counts = await storage.purge(request);
        return { ...counts, interactions: request.limit };
      },
    }),
  },
  'looks for the event, and delivers it again after it was purged': {
    case: 'parallel calls: that purge an event and deliver it again do one or the other',
    spoil: differing('deliveries', ({ deliveries }) => ({
      async redeliver(request) {
        const answer = await deliveries.redeliver(request);
        return answer.outcome === 'unknown_event'
          ? { outcome: 'queued', answer: request.answer([]) }
          : answer;
      },
    })),
  },
};

describeMistakes(mistakes);
