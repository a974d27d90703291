import { setTimeout } from 'node:timers/promises';
import type { Ostiary } from '@ostiary/core';
import { seeded } from '../../support/arguments.ts';
import { registerEndpoint, serving } from '../../support/http.ts';
import { endpointTypes, secret } from '../../support/processes/cluster-options.ts';
import { openHost } from '../../support/processes/host-file.ts';
import { until } from '../../support/proof.ts';
import { type Misbehaviour, Receiver } from '../../support/receiver.ts';
import { audit, owner } from './audit.ts';

/** Behaviours of the webhook receivers. */
export const behaviours = ['accepting', 'refusing', 'hanging', 'resetting'] as const;

/** Time within which a worker must catch up, in milliseconds. After that a delivery counts as lost. */
const patience = { everyMs: 20, withinMs: 180_000 };

/**
 * Creates a partner, and registers an endpoint for each event type at `url` followed by the endpoint's
 * number.
 */
export async function provision({ handler, admin }: Ostiary, slug: string, url: string): Promise<void> {
  await admin.partners.create({ slug, name: slug });
  const { key } = await admin.apiKeys.issue({ partner: slug, mode: 'live', scopes: ['webhooks'] });
  await serving(handler, async (origin) => {
    for (const [index, type] of endpointTypes.entries())
      await registerEndpoint(origin, key, { url: `${url}/${index}`, events: [type], secret });
  });
}

/**
 * Publishes events in portions while a worker in another process delivers them, and kills the worker in the
 * middle of each portion but the last. At the end the last worker finishes, and the received and the stored
 * deliveries are audited.
 */
export async function prove(
  behaviour: Misbehaviour,
  { deliveries, kills, seed }: Readonly<Record<'deliveries' | 'kills' | 'seed', number>>,
) {
  await using ends = new AsyncDisposableStack();
  const { ostiary, storage, start } = await openHost(ends);
  const receiver = new Receiver(behaviour);
  await provision(ostiary, owner.partner, await receiver.listen());
  ends.defer(() => receiver.close());
  const worker = start();
  await worker.started;

  let published = 0;
  /** Publishes events for each endpoint in turn, at most as many events as are left. */
  const publish = async (count: number): Promise<number> => {
    const from = published;
    published = Math.min(deliveries, from + count);
    const numbers = Array.from({ length: published - from }, (_, index) => from + index);
    const typeOf = (number: number): string => endpointTypes[number % endpointTypes.length] ?? '';
    await Promise.all(
      numbers.map((number) => ostiary.events.publish({ ...owner, type: typeOf(number), data: { number } })),
    );
    return numbers.length;
  };
  const random = seeded(seed);
  for (let kill = 0; kill < kills; kill += 1) {
    const before = receiver.requests;
    const count = await publish(Math.ceil(deliveries / (kills + 1)));
    await until(() => receiver.requests >= before + Math.floor(0.9 * random() * count), patience);
    await setTimeout(20 * random());
    await worker.kill();
  }
  await publish(deliveries);
  const pending = {
    ...owner,
    endpointId: null,
    eventId: null,
    after: null,
    limit: 1,
    status: 'pending',
  } as const;
  await until(async () => (await storage.deliveries.list(pending)).length === 0, patience);
  return {
    claims: await audit(storage, receiver, deliveries),
    requests: receiver.requests,
    /** Number of events that the receiver accepted more than once. */
    duplicates: [...receiver.arrivals.values()].filter(({ accepted }) => accepted > 1).length,
  };
}
