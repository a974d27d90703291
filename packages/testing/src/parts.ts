import type { FetchHandler, Ostiary, OstiaryOptions } from '@ostiary/core';
import { assemble } from '@ostiary/core/internal';
import type { TestClock, Timeline } from './clock.ts';
import { tellingDueTimes } from './due-times.ts';
import { memoryStorage } from './memory.ts';
import { createNetwork } from './network.ts';
import { keepSigningKeys, lendSigningKeys, sealingKey } from './signing-keys.ts';
import { type Mail, refuseInsideReceiver } from './webhooks.ts';

/** IP address to which every host name resolves. No connection is ever made to it. */
export const anyAddress = '93.184.215.14';

/**
 * Starts the service on a storage in memory, with signing keys that an earlier kit created, and an HTTP
 * client that passes deliveries to the test.
 */
export async function start(
  options: Omit<OstiaryOptions, 'storage' | 'sealingKeys' | 'clock'>,
  timeline: Timeline,
  mail: Mail,
): Promise<Ostiary> {
  const memory = memoryStorage();
  await memory.open();
  await lendSigningKeys(memory.signingKeys, timeline.now());
  const storage = tellingDueTimes(memory, timeline);
  const ostiary = await assemble(
    { ...options, storage, sealingKeys: [sealingKey], clock: timeline },
    { webhookClient: mail.client, readDocument: mail.readDocument },
  );
  await keepSigningKeys(memory.signingKeys);
  return ostiary;
}

/**
 * Creates the function that runs all work that is due now, and work that becomes due because of it. The
 * function rejects with the reason of `closed` once the test kit is closed.
 * @param parts - returns the parts that do the work, which are created after this function
 */
export const settling =
  (
    closed: AbortSignal,
    parts: () => { readonly network: ReturnType<typeof createNetwork>; readonly worker: Ostiary['worker'] },
  ) =>
  async (): Promise<void> => {
    refuseInsideReceiver();
    const { network, worker } = parts();
    try {
      await network.idle();
      while (!closed.aborted && (await worker.runDue()) > 0);
    } finally {
      // Throws 'the test kit was closed', also instead of an error of work that the closing interrupted.
      closed.throwIfAborted();
    }
  };

/** Passes a request to the receiver of its URL and returns the response; `null` without a receiver. */
export function received(mail: Mail, request: Request): Promise<Response> | null {
  const receiver = mail.receiverOf(request.url);
  return receiver === null ? null : (async () => receiver(request))();
}

/** Creates the clock that a test reads and advances. */
export function clockOf(timeline: Timeline): TestClock {
  return {
    now: () => timeline.now(),
    date: () => new Date(timeline.now()),
    advance: (by) => {
      refuseInsideReceiver();
      return timeline.advance(by);
    },
  };
}

export const originsOf = (...urls: readonly string[]): string[] => [
  ...new Set(urls.map((url) => new URL(url).origin)),
];

/** Creates the network between tests and the service. */
export function networkOf(
  engine: FetchHandler,
  timeline: Timeline,
  rest: Omit<Parameters<typeof createNetwork>[0], 'engine' | 'sleep' | 'arrives'>,
): ReturnType<typeof createNetwork> {
  return createNetwork({
    ...rest,
    engine,
    sleep: (ms, signal) => timeline.sleep(ms, signal),
    // Give every request its own millisecond, because lists are ordered by time.
    arrives: () => timeline.tick(),
  });
}
