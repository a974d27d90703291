import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A delivery as an endpoint received it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The clock's time, if the sink was given one. */
  readonly at: number;
}

/** A real endpoint that answers as a test says. */
export interface Sink {
  readonly url: string;
  readonly received: Received[];
  answer: (response: ServerResponse, delivery: Received) => void;
}

/** Starts an endpoint that answers 204; it is stopped after the test. */
export async function sink(now: () => number = Date.now): Promise<Sink> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const delivery = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts),
        at: now(),
      };
      received.push(delivery);
      self.answer(response, delivery);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const self: Sink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (response) => void response.writeHead(204).end(),
  };
  return self;
}
