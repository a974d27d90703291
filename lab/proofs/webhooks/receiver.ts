import type { ServerResponse } from 'node:http';
import { partner } from '../../support/processes/cluster-options.ts';
import { type Delivered, Receiver } from '../../support/receiver.ts';

/** Whose events they are. */
export const owner = { partner, mode: 'live' } as const;

/** How the receiver behaves. */
export const behaviours = ['accepting', 'refusing', 'hanging', 'resetting'] as const;

/** One of {@link behaviours}. */
export type Behaviour = (typeof behaviours)[number];

/** What the receiver knows of one event. */
export interface Arrivals {
  /** Bodies as they came. */
  readonly bodies: Set<string>;
  readonly endpoints: Set<string>;
  requests: number;
  /** Requests that were answered with 2xx. */
  accepted: number;
}

/** A small number that depends on nothing but the event. */
function lotOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16);
}

/** An endpoint that misbehaves in one way, and remembers everything. */
export class MisbehavingReceiver extends Receiver {
  readonly arrivals = new Map<string, Arrivals>();
  readonly #behaviour: Behaviour;

  constructor(behaviour: Behaviour, secret: string) {
    super({ secret, ignoresAge: true, answer: (delivered, response) => this.#answer(delivered, response) });
    this.#behaviour = behaviour;
  }

  #answer({ id, path, text }: Delivered, response: ServerResponse): void {
    const arrivals = this.arrivals.get(id) ?? {
      bodies: new Set<string>(),
      endpoints: new Set<string>(),
      requests: 0,
      accepted: 0,
    };
    this.arrivals.set(id, arrivals);
    arrivals.bodies.add(text);
    arrivals.endpoints.add(path);
    arrivals.requests += 1;
    const lot = lotOf(id);
    const isEarly = arrivals.requests <= lot % 3;
    switch (this.#behaviour) {
      case 'refusing':
        if (isEarly) return void response.writeHead(503).end('not now');
        break;
      case 'resetting':
        if (isEarly) return void response.socket?.resetAndDestroy();
        break;
      case 'hanging':
        if (arrivals.requests === 1 && lot % 100 === 0) return;
        break;
      case 'accepting':
        break;
    }
    arrivals.accepted += 1;
    response.writeHead(204).end();
  }
}
