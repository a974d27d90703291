import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { webhook } from '@ostiary/webhook-verifier/express';
import { StepFailed } from './report.ts';

/** A request that came to the receiver, and what it was answered. */
export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly status: number;
}

/** A receiver of webhooks as a partner would write one: plain Node and the verifier. */
export interface Receiver {
  readonly origin: string;
  /** Every request, in its order. */
  readonly deliveries: readonly Delivery[];
  /** How often the handler was through with an event. */
  readonly handled: ReadonlyMap<string, number>;
  /** Deliveries that the handler will fail on. */
  failures: number;
  /** Milliseconds that it takes over every delivery. */
  slowness: number;
  /** Requests that it has not answered yet. */
  readonly underWay: number;
  /** The first `count` requests of a kind, as soon as they are there. @throws {@link StepFailed} after fifteen seconds */
  until(count: number, isWanted: (delivery: Delivery) => boolean): Promise<readonly Delivery[]>;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Listens on a free port. `secrets` are by path. */
export async function openReceiver(
  prefix: string,
  secrets: Readonly<Record<string, string>>,
): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const handled = new Map<string, number>();
  let underWay = 0;
  const looking = new Set<() => void>();
  const routes = new Map(
    Object.entries(secrets).map(([path, secret]) => [
      path,
      webhook({ secret, prefix, dedupe: memoryDedupe(), onError: () => undefined }, ({ id }) => {
        if (receiver.failures > 0) {
          receiver.failures -= 1;
          throw new Error('the receiver was told to fail');
        }
        handled.set(id, (handled.get(id) ?? 0) + 1);
      }),
    ]),
  );

  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await bodyOf(request);
    underWay += 1;
    if (receiver.slowness > 0) await delay(receiver.slowness);
    // The bytes are written down here, so they are handed over as a parser that keeps them would do it.
    await routes.get(path)?.(Object.assign(request, { rawBody: body }), response, () => undefined);
    if (!response.writableEnded) response.writeHead(404).end();
    underWay -= 1;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    deliveries.push({ path, headers, body, status: response.statusCode });
    for (const look of looking) look();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();

  const receiver: Receiver = {
    origin: `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`,
    deliveries,
    handled,
    failures: 0,
    slowness: 0,
    get underWay() {
      return underWay;
    },
    until: (count, isWanted) =>
      new Promise((resolve, reject) => {
        const giveUp = setTimeout(() => {
          looking.delete(look);
          reject(new StepFailed('a webhook did not arrive within fifteen seconds'));
        }, 15_000);
        const look = (): void => {
          const found = deliveries.filter(isWanted);
          if (found.length < count) return;
          looking.delete(look);
          clearTimeout(giveUp);
          resolve(found.slice(0, count));
        };
        looking.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
