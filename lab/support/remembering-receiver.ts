import type { ServerResponse } from 'node:http';
import { secret } from './processes/cluster-options.ts';
import { type Delivered, Receiver } from './receiver.ts';

/** How an endpoint mistreats the first requests of some events, by a number that depends on nothing but the event and the path. */
export const misbehaviours = {
  accepting: () => 0,
  refusing: (lot: number) => lot % 3,
  hanging: (lot: number) => (lot % 100 === 0 ? 1 : 0),
  resetting: (lot: number) => lot % 3,
  'refusing every fifth': (lot: number) => (lot % 5 === 0 ? 1 : 0),
} as const;

/** One of {@link misbehaviours}. */
export type Misbehaviour = keyof typeof misbehaviours;

/** What came of one event at one endpoint. */
export interface Arrived {
  readonly path: string;
  /** Of the event. */
  readonly id: string;
  /** The numbers of the attempts, in the order of their arrival. */
  readonly attempts: number[];
  /** Bodies as they came. */
  readonly bodies: Set<string>;
  /** How many were answered with 2xx. */
  accepted: number;
}

function lotOf(text: string): number {
  let lot = 7;
  for (const character of text) lot = (lot * 31 + character.charCodeAt(0)) % 65_521;
  return lot;
}

/** An endpoint for every path, that remembers everything that arrives. */
export class RememberingReceiver extends Receiver {
  /** By path and id of the event. */
  readonly arrivals = new Map<string, Arrived>();
  /** Ids and descriptions of transfers, and messages of test events, that were accepted. */
  readonly seen = new Set<unknown>();
  readonly #behaviour: Misbehaviour;

  constructor(behaviour: Misbehaviour = 'accepting') {
    super({
      secret,
      ignoresAge: true,
      answer: (delivered, response) => this.#answer(delivered, response),
    });
    this.#behaviour = behaviour;
  }

  /** What came of an event at an endpoint. */
  of(path: string, eventId: string): Arrived | undefined {
    return this.arrivals.get(`${path} ${eventId}`);
  }

  #answer({ path, id, attempt, text, event: { data } }: Delivered, response: ServerResponse): void {
    const key = `${path} ${id}`;
    const arrived = this.arrivals.get(key) ?? { path, id, attempts: [], bodies: new Set(), accepted: 0 };
    this.arrivals.set(key, arrived);
    arrived.attempts.push(attempt);
    arrived.bodies.add(text);
    if (arrived.attempts.length <= misbehaviours[this.#behaviour](lotOf(key))) {
      if (this.#behaviour === 'resetting') response.socket?.resetAndDestroy();
      else if (this.#behaviour !== 'hanging') response.writeHead(503).end('not now');
      return;
    }
    arrived.accepted += 1;
    for (const known of [data.id, data.description, data.message]) this.seen.add(known);
    response.writeHead(204).end();
  }
}
