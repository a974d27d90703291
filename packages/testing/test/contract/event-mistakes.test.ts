import { setImmediate } from 'node:timers/promises';
import {
  answered,
  asked,
  describeMistakes,
  differing,
  keyLookedUpFirst,
  recordKey,
  type Spoil,
} from './mistakes.ts';

type Endpoint = Parameters<Parameters<Spoil>[0]['webhooks']['create']>[0]['endpoint'];

/** A storage that keeps something else of an endpoint than it was given. */
const storing = (change: (endpoint: Endpoint) => Partial<Endpoint>): Spoil =>
  asked('webhooks', 'create', ({ endpoint, ...creation }) => ({
    ...creation,
    endpoint: { ...endpoint, ...change(endpoint) },
  }));

describeMistakes({
  'counts the endpoints, then stores one more': [
    'webhook endpoints: of parallel requests no more are stored than are allowed',
    differing('webhooks', ({ webhooks }) => ({
      async create(creation) {
        const stored = await webhooks.list(creation.endpoint);
        await setImmediate();
        return webhooks.create({ ...creation, max: stored.length < creation.max ? 1000 : 0 });
      },
    })),
  ],
  'keeps the key of an endpoint that was one too many': [
    'webhook endpoints: of parallel requests no more are stored than are allowed',
    differing('webhooks', (storage) => ({
      async create(creation) {
        const answer = await storage.webhooks.create(creation);
        if (answer.outcome === 'too_many') await recordKey(storage, creation);
        return answer;
      },
    })),
  ],
  'counts before it looks at the key': [
    'keys of webhook endpoints: the key is looked at first, and what is refused leaves it as it was',
    differing('webhooks', ({ webhooks }) => ({
      async create(creation) {
        const stored = await webhooks.list(creation.endpoint);
        return stored.length >= creation.max ? { outcome: 'too_many' } : webhooks.create(creation);
      },
    })),
  ],
  'looks an endpoint’s key up, then stores it': [
    'keys of webhook endpoints: of parallel requests with one key one takes effect, and the others give its answer',
    keyLookedUpFirst('webhooks', 'create'),
  ],
  'shows an endpoint to the partner’s other mode': [
    'webhook endpoints: somebody else’s endpoint is as unknown as any other',
    differing('webhooks', ({ webhooks }) => ({
      find: async (owner, id) =>
        (await webhooks.find({ ...owner, mode: 'live' }, id)) ??
        webhooks.find({ ...owner, mode: 'test' }, id),
    })),
  ],
  'removes an endpoint for whoever knows its id': [
    'webhook endpoints: somebody else’s endpoint is as unknown as any other',
    asked('webhooks', 'remove', () => ({ partner: 'acme', mode: 'live' as const })),
  ],
  'replaces an endpoint whatever its version is': [
    'webhook endpoints: replace stores the next version and refuses any other',
    differing('webhooks', ({ webhooks }) => ({
      async replace(endpoint, now) {
        const stored = await webhooks.find(endpoint, endpoint.id);
        return webhooks.replace({ ...endpoint, version: (stored?.version ?? 0) + 1 }, now);
      },
    })),
  ],
  'leaves deliveries of a disabled endpoint pending': [
    'the end of deliveries: when an endpoint is disabled, what is pending is cancelled, also what a worker holds, and nothing else',
    asked('webhooks', 'replace', (endpoint) => ({ ...endpoint, enabled: true })),
  ],
  'cancels before it knows whether it may': [
    'fan-out: a change that is refused, and one that disables nothing, cancel nothing',
    differing('webhooks', ({ webhooks }) => ({
      async replace(endpoint, now) {
        const stored = await webhooks.find(endpoint, endpoint.id);
        if (!endpoint.enabled && stored !== null)
          await webhooks.replace({ ...stored, enabled: false, version: stored.version + 1 }, now);
        return webhooks.replace(endpoint, now);
      },
    })),
  ],
  'ignores the case of types': [
    'fan-out: nobody else gets one',
    storing(({ events }) => ({ events: events.map((type) => type.toLowerCase()) })),
  ],
  'finds types as parts of a text': [
    'fan-out: nobody else gets one',
    storing(({ events }) =>
      JSON.stringify(events).includes('payment.completed') ? { events: ['payment.completed'] } : {},
    ),
  ],
  'delivers to disabled endpoints': ['fan-out: nobody else gets one', storing(() => ({ enabled: true }))],
  'has one sequence for both modes': [
    'events: each partner and mode counts from 1, in the order of each call',
    asked('events', 'publish', (events) => events.map((event) => ({ ...event, mode: 'live' as const }))),
  ],
  'sorts events by time': [
    'events: each partner and mode counts from 1, in the order of each call',
    asked('events', 'publish', (events) => events.toSorted((a, b) => a.createdAt - b.createdAt)),
  ],
  'loses the number of an event that fails': [
    'events: parallel publications leave no gap, also when some of them fail',
    differing('events', ({ events }) => {
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
  ],
  'publishes event by event': [
    'events: an event that cannot be stored takes the whole call along',
    differing('events', ({ events }) => ({
      async publish(all, options) {
        for (const event of all) await events.publish([event], { ...options, idempotency: null });
        return events.publish([], options);
      },
    })),
  ],
  'looks the key of a publication up, then publishes': [
    'keys of events: of parallel requests with one key one takes effect, and the others give its answer',
    differing('events', ({ events, idempotency }) => ({
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
  ],
  'numbers the events of one call together': [
    'parallel calls: that publish to several partners in any order all succeed, without a gap',
    answered('events', 'list', ({ events, ...rest }) => ({
      ...rest,
      events: events.map((event) => ({ ...event, sequence: event.sequence * 3 })),
    })),
  ],
  'parses bodies and writes them anew': [
    'events: an event is read back as it was stored, byte for byte',
    asked('events', 'publish', (events) =>
      events.map(({ body, ...event }) => ({
        ...event,
        body: body.startsWith('{') ? JSON.stringify(JSON.parse(body)) : body,
      })),
    ),
  ],
  'lists from a number on, not after it': [
    'events: a list begins after a number, has a limit and tells the oldest',
    asked('events', 'list', (request) => ({ ...request, after: request.after - 1 })),
  ],
  'shows an event in both modes': [
    'events: somebody else’s event is as unknown as any other',
    asked('events', 'find', (owner) => ({ ...owner, mode: 'live' as const })),
  ],
  'takes anything for a transaction': [
    'events: what is no transaction of this database is refused with a TypeError',
    differing('events', () => ({
      within: () => ({ publish: () => undefined, partnersHolding: () => [] }),
    })),
  ],
  'remembers who held a scope': [
    'consents of partners: it ends with the client for good, and with the partner until it is enabled',
    differing('events', ({ events }) => {
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
  ],
  'purges events in the first millisecond that is kept': [
    'purge of events: events and final deliveries go when they were created before the given time',
    (storage) => ({
      purge: (request) => storage.purge({ ...request, eventsBefore: request.eventsBefore + 1 }),
    }),
  ],
  'forgets what is the oldest': [
    'purge of events: numbers go on after everything was purged, and so do ids of deliveries',
    answered('events', 'list', (listed) => ({ ...listed, oldestSequence: 1 })),
  ],
});
