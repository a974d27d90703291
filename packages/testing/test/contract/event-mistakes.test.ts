import { setImmediate } from 'node:timers/promises';
import { answered, asked, describeMistakes, differing, instead, keyLookedUpFirst } from './mistakes.ts';

describeMistakes({
  'counts the endpoints, then stores one more': [
    'webhook endpoints: of parallel requests no more are stored than are allowed',
    instead('webhooks', 'create', (create, { webhooks }) => async (creation) => {
      const stored = await webhooks.list(creation.endpoint);
      await setImmediate();
      return create({ ...creation, max: stored.length < creation.max ? 1000 : 0 });
    }),
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
  'removes an endpoint for whoever knows its id': [
    'webhook endpoints: somebody else’s endpoint is as unknown as any other',
    asked('webhooks', 'remove', () => ({ partner: 'acme', mode: 'live' as const })),
  ],
  'replaces an endpoint whatever its version is': [
    'webhook endpoints: replace stores the next version and refuses any other',
    instead('webhooks', 'replace', (replace, { webhooks }) => async (endpoint, now) => {
      const stored = await webhooks.find(endpoint, endpoint.id);
      return replace({ ...endpoint, version: (stored?.version ?? 0) + 1 }, now);
    }),
  ],
  'leaves deliveries of a disabled endpoint pending': [
    'the end of deliveries: when an endpoint is disabled, what is pending is cancelled, also what a worker holds, and nothing else',
    asked('webhooks', 'replace', (endpoint) => ({ ...endpoint, enabled: true })),
  ],
  'cancels before it knows whether it may': [
    'fan-out: a change that is refused, and one that disables nothing, cancel nothing',
    instead('webhooks', 'replace', (replace, { webhooks }) => async (endpoint, now) => {
      const stored = await webhooks.find(endpoint, endpoint.id);
      if (!endpoint.enabled && stored !== null)
        await replace({ ...stored, enabled: false, version: stored.version + 1 }, now);
      return replace(endpoint, now);
    }),
  ],
  'delivers to disabled endpoints': [
    'fan-out: nobody else gets one',
    asked('webhooks', 'create', (creation) => ({
      ...creation,
      endpoint: { ...creation.endpoint, enabled: true },
    })),
  ],
  'has one sequence for both modes': [
    'events: each partner and mode counts from 1, in the order of each call',
    asked('events', 'publish', (events) => events.map((event) => ({ ...event, mode: 'live' as const }))),
  ],
  'publishes event by event': [
    'events: an event that cannot be stored takes the whole call along',
    instead('events', 'publish', (publish) => async (all, options) => {
      for (const event of all) await publish([event], { ...options, idempotency: null });
      return publish([], options);
    }),
  ],
  'looks the key of a publication up, then publishes': [
    'keys of events: of parallel requests with one key one takes effect, and the others give its answer',
    instead('events', 'publish', (publish, { idempotency }) => async (all, options) => {
      const { idempotency: claim, now } = options;
      const earlier = claim && (await idempotency.find({ ...claim, now }));
      if (earlier !== null) return { outcome: 'replayed', answer: earlier.answer };
      await setImmediate();
      const publishing = await publish(all, { idempotency: null, now });
      await publish([], options);
      return publishing;
    }),
  ],
  'numbers the events of one call together': [
    [
      'events: parallel publications leave no gap, also when some of them fail',
      'parallel calls: that publish to several partners in any order all succeed, without a gap',
    ],
    answered('events', 'list', ({ events, ...rest }) => ({
      ...rest,
      events: events.map((event) => ({ ...event, sequence: event.sequence * 3 })),
    })),
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
  'counts what another one purges too': [
    'parallel calls: that purge events remove each once and leave no gap, while others are published',
    (storage) => {
      const under = new Map<number, ReturnType<typeof storage.purge>>();
      return {
        purge(request) {
          const purging = under.get(request.limit) ?? storage.purge(request);
          under.set(request.limit, purging);
          return purging.finally(() => under.delete(request.limit));
        },
      };
    },
  ],
  'forgets what is the oldest': [
    'purge of events: numbers go on after everything was purged, and so do ids of deliveries',
    answered('events', 'list', (listed) => ({ ...listed, oldestSequence: 1 })),
  ],
  'forgets what is the newest once it is purged': [
    'purge of events: numbers go on after everything was purged, and so do ids of deliveries',
    answered('events', 'list', (listed) => ({
      ...listed,
      newestSequence: listed.oldestSequence === null ? 0 : listed.newestSequence,
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
    'events: a list begins after a number, has a limit and tells the oldest and the newest',
    asked('events', 'list', (request) => ({ ...request, after: request.after - 1 })),
  ],
});
