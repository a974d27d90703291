import { setTimeout } from 'node:timers/promises';
import { percentile } from '../../support/measure/statistics.ts';
import { endpointTypes } from '../../support/processes/cluster-options.ts';
import { openHost } from '../../support/processes/host-file.ts';
import { type Claim, claim } from '../../support/proof.ts';
import { healthyPath, Receiver } from '../../support/receiver.ts';
import { provision } from './prove.ts';

const partners = ['acme-0', 'acme-1', 'acme-2', 'acme-3', 'acme-4', 'acme-5'];
const healthy = { partner: 'acme-0', type: endpointTypes[0] ?? '' };

/** Time within which 95 % of the events for the healthy endpoint must arrive, in milliseconds. */
const limitMs = 2_000;

/**
 * Proves that hanging endpoints do not delay others. 100 endpoints of five partners have a backlog and never
 * respond, so that every attempt lasts until its deadline. One endpoint of another partner, at the same IP
 * address, gets an event now and then.
 * @param load - duration, interval of the events, and number of events that wait for each hanging endpoint
 */
export async function proveFairness(load: {
  readonly seconds: number;
  readonly everyMs: number;
  readonly backlog: number;
}): Promise<Claim> {
  await using ends = new AsyncDisposableStack();
  const { ostiary } = await openHost(ends);
  const receiver = new Receiver('hanging but one');
  const url = await receiver.listen();
  // Closed first, because the worker would wait for the hanging attempts.
  ends.defer(() => receiver.close());
  for (const slug of partners) await provision(ostiary, slug, `${url}/${slug}`);
  const hanging = partners
    .flatMap((partner) => endpointTypes.map((type) => ({ partner, type, data: {} })))
    .filter(({ partner }) => partner !== healthy.partner);
  for (const event of hanging)
    await Promise.all(Array.from({ length: load.backlog }, () => ostiary.events.publish(event)));

  ostiary.worker.start();
  const published: { readonly id: string; readonly at: number }[] = [];
  while (published.length < (load.seconds * 1000) / load.everyMs) {
    const at = performance.now();
    const { id } = await ostiary.events.publish({ ...healthy, data: {} });
    published.push({ id, at });
    await setTimeout(load.everyMs);
  }
  await setTimeout(limitMs + 500);
  const delays = published.map(({ id, at }) => (receiver.of(healthyPath, id)?.at ?? Number.NaN) - at);
  const arrived = delays.filter((delay) => !Number.isNaN(delay));
  const shares = [0.5, 0.95, 1].map((share) => `${percentile(arrived, share).toFixed(0)} ms`);
  return claim(
    `one endpoint is served within ${limitMs} ms while 100 hang`,
    hanging.length === 100 && arrived.length === delays.length && percentile(arrived, 0.95) < limitMs,
    `${arrived.length} of ${delays.length} events arrived, after ${shares.join(', ')} (p50, p95, worst)`,
  );
}
