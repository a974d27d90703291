import { setTimeout } from 'node:timers/promises';
import { percentile } from '../../support/measure/statistics.ts';
import { endpointTypes, secret } from '../../support/processes/cluster-options.ts';
import { openHost } from '../../support/processes/host-file.ts';
import type { Claim } from '../../support/proof.ts';
import { Receiver } from '../../support/receiver.ts';
import { provision } from './prove.ts';

const partners = ['acme-0', 'acme-1', 'acme-2', 'acme-3', 'acme-4'];
const healthy = { partner: 'acme-0', type: endpointTypes[0] ?? '', path: '/acme-0/0' };

/** 95 % of the events for the healthy endpoint have to arrive within this time. */
const limitMs = 2_000;

/**
 * 99 endpoints never answer, so that each of their attempts takes until the deadline, and have a backlog; the
 * hundredth gets an event now and then.
 * @param load - for how long, how often, and how many events wait for each endpoint that hangs
 */
export async function proveFairness(load: {
  readonly seconds: number;
  readonly everyMs: number;
  readonly backlog: number;
}): Promise<Claim> {
  await using ends = new AsyncDisposableStack();
  const { ostiary } = await openHost(ends);
  const publishedAt: number[] = [];
  const delays: number[] = [];
  const receiver = new Receiver({
    secret,
    answer({ path, event: { data } }, response) {
      if (path !== healthy.path) return;
      const number = Number(data.number);
      delays[number] ??= performance.now() - (publishedAt[number] ?? 0);
      response.writeHead(204).end();
    },
  });
  const url = await receiver.listen();
  // Ended first: the worker would wait for what hangs.
  ends.defer(() => receiver.close());
  for (const slug of partners) await provision(ostiary, slug, `${url}/${slug}`);
  const hanging = partners
    .flatMap((partner) => endpointTypes.map((type) => ({ partner, type, data: {} })))
    .filter(({ partner, type }) => partner !== healthy.partner || type !== healthy.type);
  for (const event of hanging)
    await Promise.all(Array.from({ length: load.backlog }, () => ostiary.events.publish(event)));

  ostiary.worker.start();
  const events = Math.floor((load.seconds * 1000) / load.everyMs);
  for (let number = 0; number < events; number += 1) {
    publishedAt.push(performance.now());
    await ostiary.events.publish({ partner: healthy.partner, type: healthy.type, data: { number } });
    await setTimeout(load.everyMs);
  }
  await setTimeout(limitMs + 500);
  const arrived = delays.filter((delay) => delay !== undefined);
  const p95 = percentile(arrived, 0.95);
  const shares = [0.5, 0.95, 1].map((share) => `${percentile(arrived, share).toFixed(0)} ms`);
  const found =
    `${hanging.length} endpoints hang with ${hanging.length * load.backlog} deliveries; ` +
    `${arrived.length} of ${events} events arrived, after ${shares.join(', ')} (p50, p95, worst)`;
  const isFair = hanging.length === 99 && arrived.length === events && p95 < limitMs;
  return {
    name: `one endpoint is served within ${limitMs} ms while others hang`,
    problems: isFair ? [] : [found],
    found,
  };
}
