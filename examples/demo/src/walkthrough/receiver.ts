import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { webhook } from '@ostiary/webhook-verifier/express';
import { eventually } from './found.ts';

/** A request to the webhook receiver, with the status of the response. */
export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly status: number;
}

/** A webhook receiver as a partner would write it, with plain Node and the verifier. */
export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** Opens a webhook receiver on a free port. `secrets` has a secret for each path. */
export async function openReceiver(prefix: string, secrets: Readonly<Record<string, string>>) {
  const deliveries: Delivery[] = [];
  const handled = new Map<string, number>();
  const state = {
    /** Number of the next webhooks that the handler fails on purpose. */
    failures: 0,
  };
  const routes = new Map(
    Object.entries(secrets).map(([path, secret]) => [
      path,
      webhook({ secret, prefix, dedupe: memoryDedupe(), onError: () => undefined }, ({ id }) => {
        if (state.failures > 0) {
          state.failures -= 1;
          throw new Error('the receiver fails on purpose');
        }
        handled.set(id, (handled.get(id) ?? 0) + 1);
      }),
    ]),
  );

  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = new Uint8Array(await buffer(request));
    // The body has been read here, so pass its bytes on as a parser with `rawBody` would.
    await routes.get(path)?.(Object.assign(request, { rawBody: body }), response, () => undefined);
    if (!response.writableEnded) response.writeHead(404).end();
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    deliveries.push({ path, headers: Object.fromEntries(headers), body, status: response.statusCode });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    state,
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    /** All requests to the receiver in the order of arrival. */
    deliveries: deliveries as readonly Delivery[],
    /** Number of times that the handler completed each event, by event id. */
    handled: handled as ReadonlyMap<string, number>,
    /**
     * Waits for the first `count` requests that `isWanted` accepts. @throws StepFailed after fifteen seconds
     */
    until: (count: number, isWanted: (delivery: Delivery) => boolean): Promise<readonly Delivery[]> =>
      eventually('a webhook arrives', () => {
        const wanted = deliveries.filter(isWanted).slice(0, count);
        return wanted.length === count ? wanted : undefined;
      }),
    async close(): Promise<void> {
      server.close().closeAllConnections();
    },
  };
}
