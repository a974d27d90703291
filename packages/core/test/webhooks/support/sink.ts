import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { serve } from '../../support/running.ts';

/** A request as a webhook endpoint received it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Time of arrival, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A real webhook endpoint whose response the test sets. */
export interface Sink {
  readonly url: string;
  readonly received: Received[];
  answer: (response: ServerResponse, delivery: Received) => void;
}

/** Starts a webhook endpoint that responds with 204. The endpoint is stopped after the test. */
export async function sink(now: () => number = Date.now): Promise<Sink> {
  const received: Received[] = [];
  const origin = await serve(async (request, response) => {
    const body = await buffer(request);
    const delivery = { path: request.url ?? '', headers: request.headers, body, at: now() };
    received.push(delivery);
    self.answer(response, delivery);
  });
  const self: Sink = {
    url: `${origin}/hook`,
    received,
    answer: (response) => void response.writeHead(204).end(),
  };
  return self;
}
