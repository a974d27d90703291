import { onTestFinished } from 'vitest';
import type { DeliveryResult, DeliveryStore, NewEvent, Owner } from '../../../src/storage.ts';
import { createDispatcher } from '../../../src/webhooks/dispatcher.ts';
import type { AttemptAnswer, WebhookClient, WebhookRequest } from '../../../src/webhooks/http-client.ts';
import { outfit, quiet } from '../../worker/workshop.ts';

/**
 * Responds to a request for a partner's endpoint. `null` means that nothing was sent, because the IP address
 * had no free place.
 */
export type Behaviour = (request: WebhookRequest) => Promise<AttemptAnswer | null>;

/** Builds the result of a webhook attempt whose response has the given status. */
export function answered(httpStatus: number): AttemptAnswer {
  const ok = httpStatus < 300;
  return { ok, httpStatus, error: ok ? null : 'status', response: '', durationMs: 5 };
}

/** Leaves the attempt without a response until the worker gives up. */
export function hangs(): Promise<AttemptAnswer> {
  return new Promise(() => {});
}

/** Makes an endpoint that responds at once while `isQuick`, and later when the test tells it to. */
export function byHand() {
  const waiting: ((answer: AttemptAnswer) => void)[] = [];
  const endpoint = {
    isQuick: false,
    /** Attempts that wait for their response from the test. */
    waiting,
    behave: async (): Promise<AttemptAnswer> =>
      endpoint.isQuick ? answered(200) : new Promise((resolve) => waiting.push(resolve)),
    /** Responds to the first `count` waiting attempts, by default to all of them. */
    answer(answer = answered(200), count = waiting.length): void {
      for (const tell of waiting.splice(0, count)) tell(answer);
    },
  };
  return endpoint;
}

/** Records the calls of a worker to its storage. */
export function watchedStore() {
  const writes: (readonly DeliveryResult[])[] = [];
  let claims = 0;
  let claimable: Promise<void> = Promise.resolve();
  return {
    /** Results that the worker wrote, one list per write, since the test emptied this list. */
    writes,
    claims: () => claims,
    /** Makes all claims of the worker wait. @returns a function that lets them continue */
    holdClaims(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      claimable = promise;
      return resolve;
    },
    wrap: (store: DeliveryStore): DeliveryStore => ({
      ...store,
      async claim(request) {
        claims += 1;
        await claimable;
        return store.claim(request);
      },
      finish(results) {
        writes.push([...results]);
        return store.finish(results);
      },
    }),
  };
}

/** Makes a real event store, endpoints that the test controls, and timers that the test fires. */
export async function depot(wrap: (store: DeliveryStore) => DeliveryStore = (store) => store) {
  const given = await outfit();
  const { storage, clock, tools } = given;
  onTestFinished(() => storage.close());
  const requests: WebhookRequest[] = [];
  const behaviours = new Map<string, Behaviour>();
  const owner: Owner = { partner: 'acme', mode: 'live' };
  let published = 0;
  let aborted = Promise.withResolvers<AttemptAnswer>();
  const client: WebhookClient = {
    post(request) {
      requests.push(request);
      const answer = behaviours.get(request.url)?.(request);
      return Promise.race([answer ?? Promise.reject(new Error('no such endpoint')), aborted.promise]);
    },
    abort() {
      aborted.resolve({ ok: false, httpStatus: null, error: 'aborted', response: null, durationMs: 0 });
      aborted = Promise.withResolvers<AttemptAnswer>();
    },
    async close() {},
  };
  const dispatcher = (concurrency = 512) =>
    createDispatcher({
      ...{ ...tools, client, concurrency, deliveries: wrap(storage.deliveries) },
      ...{
        prefix: 'svc',
        standardHeaders: false,
        delaysMs: [60_000],
        secretOf: () => 'whsec_0123456789abcdef',
      },
    });

  return {
    ...{ ...given, requests, dispatcher },
    /** Starts a worker, and returns it after all due work is done. */
    async started(concurrency?: number) {
      const worker = dispatcher(concurrency);
      worker.start();
      await quiet();
      return worker;
    },
    async endpoint(
      id: string,
      behaviour: Behaviour = async () => answered(204),
      other: Partial<Owner> = {},
    ): Promise<void> {
      const url = `https://${id}.example/`;
      behaviours.set(url, behaviour);
      const now = clock.now();
      const settings = { url, events: [`order.${id}`], enabled: true, sealedSecret: 'sealed' };
      await storage.webhooks.create({
        endpoint: { ...owner, ...other, id, ...settings, createdAt: now, updatedAt: now, version: 1 },
        ...{ idempotency: null, max: 1_000, now },
      });
    },
    /** Publishes events that are delivered to one endpoint. */
    async publish(endpoint: string, count = 1, other: Partial<Owner> = {}): Promise<void> {
      const now = clock.now();
      const events = Array.from({ length: count }, (): NewEvent => {
        published += 1;
        const [id, type] = [`evt_${published}`, `order.${endpoint}`];
        const body = JSON.stringify({ id, type });
        return { ...owner, ...other, id, type, body, createdAt: now, deliveryId: `dl_${published}` };
      });
      await storage.events.publish(events, { idempotency: null, now });
    },
    deliveries: (endpointId: string) =>
      storage.deliveries.list({
        ...{ ...owner, endpointId },
        ...{ eventId: null, status: null, after: null, limit: 1_000 },
      }),
  };
}
