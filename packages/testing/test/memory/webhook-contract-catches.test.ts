import { setImmediate } from 'node:timers/promises';
import { describeMistakes, differing, type Mistakes } from './mistakes.ts';

const mistakes: Mistakes = {
  'counts the endpoints, then stores one more': {
    case: 'webhook endpoints: of parallel requests no more are stored than are allowed',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async create(creation) {
        const stored = await webhooks.list(creation.endpoint);
        await setImmediate();
        return webhooks.create({ ...creation, max: stored.length < creation.max ? 1000 : 0 });
      },
    })),
  },
  'keeps the key of an endpoint that was one too many': {
    case: 'webhook endpoints: of parallel requests no more are stored than are allowed',
    spoil: differing('webhooks', ({ webhooks, events }) => ({
      async create(creation) {
        const answer = await webhooks.create(creation);
        if (answer.outcome === 'too_many') await events.publish([], creation);
        return answer;
      },
    })),
  },
  'counts before it looks at the key': {
    case: 'webhook endpoints: the key is looked at before the number, until its record ends',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async create(creation) {
        const stored = await webhooks.list(creation.endpoint);
        return stored.length >= creation.max ? { outcome: 'too_many' } : webhooks.create(creation);
      },
    })),
  },
  'looks an endpoint’s key up, then stores it': {
    case: 'webhook endpoints: of parallel requests with one key one is stored, and the others give its answer',
    spoil: differing('webhooks', ({ webhooks, events, idempotency }) => ({
      async create(creation) {
        const { idempotency: claim, now } = creation;
        const earlier = claim && (await idempotency.find({ ...claim, now }));
        if (earlier !== null) return earlier;
        await setImmediate();
        const creating = await webhooks.create({ ...creation, idempotency: null });
        await events.publish([], creation);
        return creating;
      },
    })),
  },
  'shows an endpoint to the partner’s other mode': {
    case: 'webhook endpoints: somebody else’s endpoint is as unknown as any other',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async find(owner, id) {
        return (
          (await webhooks.find({ ...owner, mode: 'live' }, id)) ??
          webhooks.find({ ...owner, mode: 'test' }, id)
        );
      },
    })),
  },
  'removes an endpoint for whoever knows its id': {
    case: 'webhook endpoints: somebody else’s endpoint is as unknown as any other',
    spoil: differing('webhooks', ({ webhooks }) => ({
      remove: (_owner, id, now) => webhooks.remove({ partner: 'acme', mode: 'live' }, id, now),
    })),
  },
  'replaces an endpoint whatever its version is': {
    case: 'webhook endpoints: replace stores the next version and refuses any other',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async replace(endpoint, now) {
        const stored = await webhooks.find(endpoint, endpoint.id);
        return webhooks.replace({ ...endpoint, version: (stored?.version ?? 0) + 1 }, now);
      },
    })),
  },
  'compares an endpoint’s version, then replaces it': {
    case: 'webhook endpoints: of parallel replacements of one version exactly one is stored',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async replace(endpoint, now) {
        const stored = await webhooks.find(endpoint, endpoint.id);
        if (stored?.version !== endpoint.version - 1) return false;
        await setImmediate();
        await webhooks.replace(endpoint, now);
        return true;
      },
    })),
  },
  'leaves deliveries of a disabled endpoint pending': {
    case: 'fan-out: disabling and removing cancel what is pending and nothing else',
    spoil: differing('webhooks', ({ webhooks }) => ({
      replace: (endpoint, now) => webhooks.replace({ ...endpoint, enabled: true }, now),
    })),
  },
  'cancels before it knows whether it may': {
    case: 'fan-out: a change that is refused, and one that disables nothing, cancel nothing',
    spoil: differing('webhooks', ({ webhooks }) => ({
      async replace(endpoint, now) {
        const stored = await webhooks.find(endpoint, endpoint.id);
        if (endpoint.enabled || stored === null) return webhooks.replace(endpoint, now);
        await webhooks.replace({ ...stored, enabled: false, version: stored.version + 1 }, now);
        return webhooks.replace(endpoint, now);
      },
    })),
  },
  'ignores the case of types': {
    case: 'fan-out: nobody else gets one',
    spoil: differing('webhooks', ({ webhooks }) => ({
      create: (creation) => {
        const events = creation.endpoint.events.map((type) => type.toLowerCase());
        return webhooks.create({ ...creation, endpoint: { ...creation.endpoint, events } });
      },
    })),
  },
  'finds types as parts of a text': {
    case: 'fan-out: nobody else gets one',
    spoil: differing('webhooks', ({ webhooks }) => ({
      create: (creation) => {
        const text = JSON.stringify(creation.endpoint.events);
        const events = text.includes('payment.completed') ? ['payment.completed'] : creation.endpoint.events;
        return webhooks.create({ ...creation, endpoint: { ...creation.endpoint, events } });
      },
    })),
  },
  'delivers to disabled endpoints': {
    case: 'fan-out: nobody else gets one',
    spoil: differing('webhooks', ({ webhooks }) => ({
      create: (creation) =>
        webhooks.create({ ...creation, endpoint: { ...creation.endpoint, enabled: true } }),
    })),
  },
  'delivers at the time of the call': {
    case: 'fan-out: a delivery is pending and due at the time of its event',
    spoil: differing('events', ({ events }) => ({
      publish: (all, options) =>
        events.publish(
          all.map((event) => ({ ...event, createdAt: options.now })),
          options,
        ),
    })),
  },
  'has one sequence for both modes': {
    case: 'events: each partner and mode counts from 1, in the order of each call',
    spoil: differing('events', ({ events }) => ({
      publish: (all, options) =>
        events.publish(
          all.map((event) => ({ ...event, mode: 'live' })),
          options,
        ),
    })),
  },
  'sorts events by time': {
    case: 'events: each partner and mode counts from 1, in the order of each call',
    spoil: differing('events', ({ events }) => ({
      publish: (all, options) =>
        events.publish(
          all.toSorted((a, b) => a.createdAt - b.createdAt),
          options,
        ),
    })),
  },
  'loses the number of an event that fails': {
    case: 'events: parallel publications leave no gap, also when some of them fail',
    spoil: differing('events', ({ events }) => {
      const lost = new Set<string>();
      return {
        async publish(all, options) {
          try {
            return await events.publish(all, options);
          } catch (error) {
            for (const event of all.slice(0, 1)) {
              lost.add(`${event.id} lost`);
              await events.publish([{ ...event, id: `${event.id} lost` }], options);
            }
            throw error;
          }
        },
        async list(request) {
          const { events: all, ...rest } = await events.list(request);
          return { ...rest, events: all.filter(({ id }) => !lost.has(id)) };
        },
      };
    }),
  },
  'publishes event by event': {
    case: 'events: an event that cannot be stored takes the whole call along',
    spoil: differing('events', ({ events }) => ({
      async publish(all, options) {
        for (const event of all) await events.publish([event], { ...options, idempotency: null });
        return events.publish([], options);
      },
    })),
  },
  'looks the key of a publication up, then publishes': {
    case: 'events: of parallel publications with one key one takes effect, and the others give its answer',
    spoil: differing('events', ({ events, idempotency }) => ({
      async publish(all, options) {
        const { idempotency: claim, now } = options;
        const earlier = claim && (await idempotency.find({ ...claim, now }));
        if (earlier !== null) return earlier;
        await setImmediate();
        const publishing = await events.publish(all, { idempotency: null, now });
        await events.publish([], options);
        return publishing;
      },
    })),
  },
  'parses bodies and writes them anew': {
    case: 'events: an event is read back as it was stored, byte for byte',
    spoil: differing('events', ({ events }) => ({
      publish: (all, options) =>
        events.publish(
          all.map((event) => ({
            ...event,
            body: event.body.startsWith('{') ? JSON.stringify(JSON.parse(event.body)) : event.body,
          })),
          options,
        ),
    })),
  },
  'lists from a number on, not after it': {
    case: 'events: a list begins after a number, has a limit and tells the oldest',
    spoil: differing('events', ({ events }) => ({
      list: (request) => events.list({ ...request, after: request.after - 1 }),
    })),
  },
  'shows an event in both modes': {
    case: 'events: somebody else’s event is as unknown as any other',
    spoil: differing('events', ({ events }) => ({
      find: (owner, id) => events.find({ ...owner, mode: 'live' }, id),
    })),
  },
  'takes anything for a transaction': {
    case: 'events: what is no transaction of this database is refused with a TypeError',
    spoil: differing('events', () => ({
      within: () => ({ publish: () => undefined, partnersHolding: () => [] }),
    })),
  },
  'remembers who held a scope': {
    case: 'holders: it ends with the consent, with the client and with the partner',
    spoil: differing('events', ({ events }) => {
      const known = new Map<string, Promise<string[]>>();
      return {
        async partnersHolding({ sub, scope }) {
          const key = `${sub} ${scope}`;
          const asked = known.get(key) ?? events.partnersHolding({ sub, scope });
          known.set(key, asked);
          return asked;
        },
      };
    }),
  },
  'publishes the event of every settlement': {
    case: 'settlement: of parallel settlements the event of the one that settles is published, and no other',
    spoil: differing('transfers', ({ transfers, events }) => ({
      async settle(settlement) {
        const answer = await transfers.settle(settlement);
        if (answer?.settled === false) {
          await events.publish([settlement.event], { idempotency: null, now: settlement.now });
        }
        return answer;
      },
    })),
  },
  'settles, then publishes': {
    case: 'settlement: a transfer whose event cannot be stored stays pending',
    spoil: differing('transfers', ({ transfers, events }) => ({
      async settle(settlement) {
        const { event, now } = settlement;
        const elsewhere = { ...event, id: `${event.id} x`, partner: 'nobody' };
        const answer = await transfers.settle({ ...settlement, event: elsewhere });
        if (answer?.settled) await events.publish([event], { idempotency: null, now });
        return answer;
      },
    })),
  },
  'purges events in the first millisecond that is kept': {
    case: 'purge of events: events and final deliveries go when they were created before the given time',
    spoil: (storage) => ({
      purge: (request) => storage.purge({ ...request, eventsBefore: request.eventsBefore + 1 }),
    }),
  },
  'purges events without a bound': {
    case: 'purge of events: one call removes at most the limit of each, the oldest first',
    spoil: (storage) => ({ purge: (request) => storage.purge({ ...request, limit: 1000 }) }),
  },
  'forgets what is the oldest': {
    case: 'purge of events: numbers go on after everything was purged, and so do ids of deliveries',
    spoil: differing('events', ({ events }) => ({
      list: async (request) => ({ ...(await events.list(request)), oldestSequence: 1 }),
    })),
  },
};

describeMistakes(mistakes);
