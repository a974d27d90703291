import { memoryStorage } from '@ostiary/testing/memory';
import { onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/random.ts';
import type { DeliveryResult, DeliveryStore, NewEvent, Storage } from '../../../src/storage.ts';
import type { AttemptAnswer, WebhookClient, WebhookRequest } from '../../../src/webhooks/client.ts';
import { createDispatcher } from '../../../src/webhooks/dispatcher.ts';
import { TestClock } from '../../support/provider.ts';

/** What a partner's endpoint does with a request. */
export type Behaviour = (request: WebhookRequest) => Promise<AttemptAnswer>;

/** An answer with a status. */
export function answered(httpStatus: number): AttemptAnswer {
  const ok = httpStatus < 300;
  return { ok, httpStatus, error: ok ? null : 'status', response: '', durationMs: 5 };
}

/** Does not answer before the worker gives up. */
export function hangs(): Promise<AttemptAnswer> {
  return new Promise(() => {});
}

/** An endpoint that answers at once as long as it is quick, and when a test says so from then on. */
export function byHand() {
  const waiting: ((answer: AttemptAnswer) => void)[] = [];
  const endpoint = {
    isQuick: false,
    /** Attempts that wait for their answer. */
    waiting,
    behave: async (): Promise<AttemptAnswer> =>
      endpoint.isQuick ? answered(200) : new Promise((resolve) => waiting.push(resolve)),
    /** Answers to some of them, unless told otherwise to all. */
    answer(answer = answered(200), count = waiting.length): void {
      for (const tell of waiting.splice(0, count)) tell(answer);
    },
  };
  return endpoint;
}

interface Timer {
  readonly ms: number;
  readonly fire: () => void;
}

/** Tells what a worker asks of the store that it gets. */
export function watchedStore() {
  const writes: (readonly DeliveryResult[])[] = [];
  let claims = 0;
  return {
    /** What was written since this was emptied, write by write. */
    writes,
    claims: () => claims,
    wrap: (store: DeliveryStore): DeliveryStore => ({
      ...store,
      claim(request) {
        claims += 1;
        return store.claim(request);
      },
      finish(results) {
        writes.push([...results]);
        return store.finish(results);
      },
    }),
  };
}

/** A real outbox, endpoints that behave as a test says, and timers that are fired by hand. */
export async function depot(
  wrap: (store: DeliveryStore) => DeliveryStore = (store) => store,
  real: WebhookClient | null = null,
) {
  const storage: Storage = memoryStorage();
  await storage.open();
  onTestFinished(() => storage.close());
  const clock = new TestClock();
  const timers: Timer[] = [];
  const lines: string[] = [];
  const requests: WebhookRequest[] = [];
  const behaviours = new Map<string, Behaviour>();
  const owner = { partner: 'acme', mode: 'live' } as const;
  let published = 0;
  const log = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`);
  let aborted = Promise.withResolvers<AttemptAnswer>();
  const client: WebhookClient = real ?? {
    post(request) {
      requests.push(request);
      const behave = behaviours.get(request.url) ?? (async () => answered(204));
      return Promise.race([behave(request), aborted.promise]);
    },
    abort() {
      aborted.resolve({ ok: false, httpStatus: null, error: 'aborted', response: null, durationMs: 0 });
      aborted = Promise.withResolvers<AttemptAnswer>();
    },
    async close() {},
  };

  const dispatcher = (concurrency = 512) =>
    createDispatcher({
      deliveries: wrap(storage.deliveries),
      client,
      clock,
      random: systemRandom,
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      prefix: 'svc',
      delaysMs: [60_000],
      concurrency,
      telemetry: null,
      secretOf: () => 'whsec_0123456789abcdef',
      schedule(callback, ms) {
        const timer = { ms, fire: callback };
        timers.push(timer);
        return () => remove(timer);
      },
    });
  const remove = (timer: Timer) => {
    if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
  };

  return {
    storage,
    clock,
    timers,
    lines,
    requests,
    owner,
    async endpoint(id: string, behaviour?: Behaviour, url = `https://${id}.example/`): Promise<void> {
      if (behaviour !== undefined) behaviours.set(url, behaviour);
      const now = clock.now();
      await storage.webhooks.create({
        endpoint: {
          ...owner,
          id,
          url,
          events: [`order.${id}`],
          enabled: true,
          sealedSecret: 'sealed',
          createdAt: now,
          updatedAt: now,
          version: 1,
        },
        idempotency: null,
        max: 1_000,
        now,
      });
    },
    /** Publishes events that go to one endpoint. */
    async publish(endpoint: string, count = 1): Promise<void> {
      const now = clock.now();
      const events = Array.from({ length: count }, (): NewEvent => {
        published += 1;
        const id = `evt_${published}`;
        return {
          ...owner,
          id,
          type: `order.${endpoint}`,
          body: JSON.stringify({ id, type: `order.${endpoint}` }),
          createdAt: now,
          deliveryId: `dl_${published}`,
        };
      });
      await storage.events.publish(events, { idempotency: null, now });
    },
    deliveries: (endpointId: string) =>
      storage.deliveries.list({
        ...owner,
        endpointId,
        eventId: null,
        status: null,
        after: null,
        limit: 1_000,
      }),
    dispatcher,
    /** A worker that has done what there was to do, and goes on. */
    async started(concurrency?: number) {
      const worker = dispatcher(concurrency);
      worker.start();
      await quiet();
      return worker;
    },
    /** Lets the first timer go off, or the first one of so many milliseconds. */
    async fire(ms?: number): Promise<void> {
      const timer = timers.find((each) => ms === undefined || each.ms === ms);
      if (timer !== undefined) remove(timer);
      timer?.fire();
      await quiet();
    },
  };
}

/** Resolves when everything that needs no timer has happened. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
