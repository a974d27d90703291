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
    'webhook endpoints: the key is looked at before the number, until its record ends',
    instead('webhooks', 'create', (create, { webhooks }) => async (creation) => {
      const stored = await webhooks.list(creation.endpoint);
      return stored.length >= creation.max ? { outcome: 'too_many' } : create(creation);
    }),
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
    'fan-out: disabling and removing cancel what is pending and nothing else',
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
      if (earlier !== null) return earlier;
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
});
