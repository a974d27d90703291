import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { safeVerify } from '@ostiary/webhook-verifier';
import { secret } from './processes/cluster-options.ts';

/** What came of one event at one endpoint. */
export interface Arrived {
  /** The numbers of the attempts, in the order of their arrival. */
  readonly attempts: number[];
  /** How many were answered with 2xx. */
  accepted: number;
}

/** An endpoint for every path, that remembers everything that arrives. */
export class Receiver {
  /** By path and id of the event. */
  readonly arrivals = new Map<string, Arrived>();
  /** What is wrong with requests that are no deliveries. */
  readonly rejected: string[] = [];
  requests = 0;
  /** Descriptions of transfers, and messages of test events, that were accepted. */
  readonly seen = new Set<unknown>();
  readonly #refusedFirst: number;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  /** @param refusedFirst - of so many events one is refused at its first attempt; 0 for none */
  constructor(refusedFirst = 0) {
    this.#refusedFirst = refusedFirst;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', 4096, resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What came of an event at an endpoint. */
  of(path: string, eventId: string): Arrived | undefined {
    return this.arrivals.get(`${path} ${eventId}`);
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
    // Time may run faster in the processes; the age is not what is proven here.
    const now = Number(request.headers['x-svc-timestamp']) * 1000;
    const result = await safeVerify(body, request.headers, { secret, now: () => now });
    this.requests += 1;
    if (!result.ok) {
      this.rejected.push(result.error.code);
      response.writeHead(400).end();
      return;
    }
    const { id } = result.delivery;
    const key = `${request.url} ${id}`;
    const arrived = this.arrivals.get(key) ?? { attempts: [], accepted: 0 };
    this.arrivals.set(key, arrived);
    arrived.attempts.push(Number(request.headers['x-svc-attempt']));
    const isRefused =
      this.#refusedFirst > 0 && arrived.attempts.length === 1 && lotOf(key) % this.#refusedFirst === 0;
    if (isRefused) {
      response.writeHead(503).end('not now');
      return;
    }
    arrived.accepted += 1;
    response.writeHead(204).end();
    const { data } = JSON.parse(body.toString());
    this.seen.add(data.description ?? data.message);
  }
}

/** A small number that depends on nothing but the text. */
function lotOf(text: string): number {
  let lot = 7;
  for (const character of text) lot = (lot * 31 + character.charCodeAt(0)) % 65_521;
  return lot;
}
