import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { safeVerify } from '@ostiary/webhook-verifier';

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
export class Receiver {
  readonly arrivals = new Map<string, Arrivals>();
  /** What is wrong with requests that are no deliveries. */
  readonly rejected: string[] = [];
  requests = 0;
  readonly #behaviour: Behaviour;
  readonly #secret: string;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  constructor(behaviour: Behaviour, secret: string) {
    this.#behaviour = behaviour;
    this.#secret = secret;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part);
    } catch {
      // The worker was killed in the middle of its request.
      return;
    }
    const body = Buffer.concat(parts);
    // Each worker lives in a later time; the age is not what is proven here.
    const now = Number(request.headers['x-svc-timestamp']) * 1000;
    const result = await safeVerify(body, request.headers, { secret: this.#secret, now: () => now });
    this.requests += 1;
    if (!result.ok) {
      this.rejected.push(result.error.code);
      response.writeHead(400).end();
      return;
    }
    const { id } = result.delivery;
    const arrivals = this.arrivals.get(id) ?? {
      bodies: new Set<string>(),
      endpoints: new Set<string>(),
      requests: 0,
      accepted: 0,
    };
    this.arrivals.set(id, arrivals);
    arrivals.bodies.add(body.toString());
    arrivals.endpoints.add(request.url ?? '');
    arrivals.requests += 1;
    this.#answer(response, id, arrivals);
  }

  #answer(response: ServerResponse, id: string, arrivals: Arrivals): void {
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
