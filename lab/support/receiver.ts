import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { safeVerify } from '@ostiary/webhook-verifier';
import { bodyOf, close, listen } from './http.ts';
import { secret } from './processes/cluster-options.ts';

/** Path of the only endpoint that responds while all others hang. */
export const healthyPath = '/acme-0/0';

/**
 * Misbehaviours of a webhook endpoint. Each returns for how many of its first requests an event is refused,
 * reset or left without a response. The number depends on `lot` (see {@link Arrived.lot}) and on the path.
 */
const misbehaviours = {
  accepting: () => 0,
  refusing: (lot) => lot % 3,
  hanging: (lot) => (lot % 100 === 0 ? 1 : 0),
  resetting: (lot) => lot % 3,
  'refusing every fifth': (lot) => (lot % 5 === 0 ? 1 : 0),
  'hanging but one': (_lot, path) => (path === healthyPath ? 0 : Number.POSITIVE_INFINITY),
} as const satisfies Readonly<Record<string, (lot: number, path: string) => number>>;

/** Name of an endpoint's misbehaviour, from {@link misbehaviours}. */
export type Misbehaviour = keyof typeof misbehaviours;

/** Requests that one webhook endpoint received for one event. */
interface Arrived {
  readonly path: string;
  /** Id of the received event. */
  readonly id: string;
  /** Number of earlier arrivals of another event, or of the event at another path. */
  readonly lot: number;
  /** Time of the event's first arrival, from `performance.now()`. */
  readonly at: number;
  /** Numbers of the delivery attempts, in the order of arrival. */
  readonly attempts: number[];
  /** Bodies of the webhook requests as received. */
  readonly bodies: Set<string>;
  /** Number of webhook requests that got a 2xx response. */
  accepted: number;
}

/** Webhook endpoints of the partner. The endpoints verify and record every request, at any path. */
export class Receiver {
  /** Received webhook requests by path and event id. */
  readonly arrivals = new Map<string, Arrived>();
  /** Ids and descriptions of transfers, and messages of test events, whose webhooks were accepted. */
  readonly seen = new Set<unknown>();
  /** Reasons why some requests were no valid webhooks. */
  readonly rejected: string[] = [];
  requests = 0;
  readonly #behaviour: Misbehaviour;
  readonly #server = createServer((request, response) => this.#receive(request, response));

  constructor(behaviour: Misbehaviour = 'accepting') {
    this.#behaviour = behaviour;
  }

  listen(): Promise<string> {
    return listen(this.#server);
  }

  close(): Promise<void> {
    return close(this.#server);
  }

  /** Returns the requests that a webhook endpoint received for an event. */
  of(path: string, eventId: string): Arrived | undefined {
    return this.arrivals.get(`${path} ${eventId}`);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request).catch(() => null);
    // The sender was killed during its request.
    if (body === null) return;
    this.requests += 1;
    // Accept any age, because the clocks of the sending processes may differ.
    const time = Number(request.headers['x-svc-timestamp']) * 1000;
    const result = await safeVerify(body, request.headers, { secret, now: () => time });
    if (result.ok) return this.#answer(request, result.delivery.id, body.toString(), response);
    this.rejected.push(result.error.code);
    response.writeHead(400).end();
  }

  #answer({ url: path = '', headers }: IncomingMessage, id: string, text: string, response: ServerResponse) {
    const key = `${path} ${id}`;
    const arrived = this.arrivals.get(key) ?? {
      ...{
        path,
        id,
        lot: this.arrivals.size,
        at: performance.now(),
        attempts: [],
        bodies: new Set(),
        accepted: 0,
      },
    };
    this.arrivals.set(key, arrived);
    arrived.attempts.push(Number(headers['x-svc-attempt']));
    arrived.bodies.add(text);
    if (arrived.attempts.length <= misbehaviours[this.#behaviour](arrived.lot, path)) {
      if (this.#behaviour === 'resetting') response.socket?.resetAndDestroy();
      else if (!this.#behaviour.startsWith('hanging')) response.writeHead(503).end('not now');
      return;
    }
    arrived.accepted += 1;
    const { data } = JSON.parse(text);
    for (const known of [data.id, data.description, data.message]) this.seen.add(known);
    response.writeHead(204).end();
  }
}
