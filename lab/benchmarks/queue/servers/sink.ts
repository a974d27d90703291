// Endpoint that reads its requests and responds with success, as fast as node:http can.
import type { IncomingHttpHeaders } from 'node:http';
import { verify } from '@ostiary/webhook-verifier';
import { serve } from '../../../support/processes/control.ts';
import { secret } from '../fixture.ts';
import { type Published, preciseNow } from './contestant.ts';

/** Summary of the webhooks that the sink received since the last `take`. */
export interface Taken {
  readonly received: number;
  readonly bytes: number;
  /** Time at which the first webhook arrived. */
  readonly firstAt: number;
  /**
   * Header names of the last request, in alphabetical order, separated by commas; empty without a request.
   */
  readonly headers: string;
}

let arrivals: Published[] = [];
let bytes = 0;
let last: { readonly headers: IncomingHttpHeaders; readonly body: Buffer } | null = null;
let waiting: { readonly count: number; readonly resolve: () => void } | null = null;

function take(headers: IncomingHttpHeaders, body: Buffer): void {
  arrivals.push([String(headers['x-svc-eventid']), preciseNow()]);
  bytes += body.length;
  last = { headers, body };
  if (waiting !== null && arrivals.length >= waiting.count) waiting.resolve();
}

await serve(
  (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      take(request.headers, parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts));
      response.writeHead(204).end();
    });
  },
  {
    /** Resolves after the given number of webhooks has arrived since the last `take`. */
    async expect(count: number): Promise<void> {
      if (arrivals.length < count) await new Promise<void>((resolve) => (waiting = { count, resolve }));
      waiting = null;
    },
    /**
     * Returns a summary of the received webhooks, forgets them, and checks the signature of the last one as a
     * partner does.
     */
    async take(): Promise<Taken> {
      if (last !== null) await verify(last.body, last.headers, { secret });
      const headers = Object.keys(last?.headers ?? {})
        .sort()
        .join();
      const taken = { received: arrivals.length, bytes, firstAt: arrivals[0]?.[1] ?? Number.NaN, headers };
      [arrivals, bytes, last] = [[], 0, null];
      return taken;
    },
    /** Returns the arrival time of each event since the last `take`. */
    arrivals: () => arrivals,
  },
);
