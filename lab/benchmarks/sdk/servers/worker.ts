// Runs one client in a separate process.
import { deepStrictEqual } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { obey, settings } from '../../../support/processes/control.ts';
import { bareClient, ostiaryClient } from '../clients.ts';
import { type CallName, callNames, operations } from '../fixture.ts';

/** Settings of a round of the SDK benchmark, from the parent process. */
export interface RoundRequest {
  readonly call: CallName;
  readonly calls: number;
  /** True if all calls share one abort signal that lives as long as the process. */
  readonly signal?: boolean;
}

/** Result of a round of the SDK benchmark. */
export interface RoundResult {
  /** Number of calls per second, with the SDK or without. */
  readonly rate: number;
  /** Bytes of heap in use after a garbage collection, if the process can force one. */
  readonly heap: number;
  /** Number of listeners on the long-lived abort signal and on the process. */
  readonly listeners: number;
}

const inFlight = 16;
const { side, origin } = settings<{ readonly side: 'bare' | 'ostiary'; readonly origin: string }>();
const client = side === 'bare' ? bareClient(origin) : ostiaryClient(origin);
const longLived = new AbortController().signal;

function listeners(): number {
  const own = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return own + getEventListeners(longLived, 'abort').length;
}

async function make({ call, calls, signal }: RoundRequest): Promise<number> {
  const given = signal === true ? [longLived] : [];
  let left = calls;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1;
        await client[call](...given);
      }
    }),
  );
  return (calls * 1000) / (performance.now() - started);
}

/**
 * Returns the bytes of heap in use once all pending work has ended, after a garbage collection if the process
 * can force one.
 */
async function heapInUse(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

// Check first that each side returns the expected data.
for (const name of callNames) deepStrictEqual(await client[name](), operations[name].answer);

obey({
  async round(request: RoundRequest): Promise<RoundResult> {
    return { rate: await make(request), heap: await heapInUse(), listeners: listeners() };
  },
});
