// An endpoint that reads what it gets and says yes, as fast as node:http can.
import type { IncomingHttpHeaders } from 'node:http';
import { verify } from '@ostiary/webhook-verifier';
import { serve } from '../../../support/processes/control.ts';
import { secret } from '../fixture.ts';
import { type Published, preciseNow } from './contestant.ts';

/** What came since the last time. */
export interface Taken {
  readonly received: number;
  readonly bytes: number;
  /** When the first one came. */
  readonly firstAt: number;
  /** Which headers the last one had, in alphabetical order with commas between; nothing without one. */
  readonly headers: string;
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let received = 0;
let bytes = 0;
let firstAt = 0;
let last: Received | null = null;
let waiting: { readonly count: number; readonly resolve: () => void } | null = null;
let arrivals: Published[] | null = null;

function take(headers: IncomingHttpHeaders, body: Buffer): void {
  received += 1;
  if (received === 1) firstAt = preciseNow();
  bytes += body.length;
  last = { headers, body };
  arrivals?.push([String(headers['x-svc-eventid']), preciseNow()]);
  if (waiting !== null && received >= waiting.count) waiting.resolve();
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
    /** Resolves when so many came since the last time. */
    async expect(count: number): Promise<void> {
      if (received < count) await new Promise<void>((resolve) => (waiting = { count, resolve }));
      waiting = null;
    },
    /** What came, of which the last one has to be signed as a receiver wants it. */
    async take(): Promise<Taken> {
      if (last !== null) await verify(last.body, last.headers, { secret });
      const headers = Object.keys(last?.headers ?? {})
        .sort()
        .join();
      const taken = { received, bytes, firstAt, headers };
      received = 0;
      bytes = 0;
      last = null;
      return taken;
    },
    /** Begins to write down when each event arrives. */
    watch(): void {
      arrivals = [];
    },
    /** Ends that, and answers what was written down. */
    arrivals(): Published[] {
      const all = arrivals ?? [];
      arrivals = null;
      return all;
    },
  },
);
