import type { DeliveryRecord, EventRecord, Storage } from '@ostiary/core/storage';
import { partner } from '../../support/processes/cluster-options.ts';
import type { Claim } from '../../support/proof.ts';
import type { Receiver } from '../../support/receiver.ts';

/** Partner that owns the events. */
export const owner = { partner, mode: 'live' } as const;

/** Reads all items of a paged list. @param next - function that returns the page after an item */
async function all<Item>(next: (last: Item | undefined) => Promise<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await next(items.at(-1));
    if (page.length === 0) return items;
    items.push(...page);
  }
}

/** Compares the received webhooks with the stored deliveries, and both with the published events. */
export async function audit(storage: Storage, receiver: Receiver, published: number): Promise<Claim[]> {
  const limit = 1_000;
  const events = await all<EventRecord>(
    async (last) => (await storage.events.list({ ...owner, after: last?.sequence ?? 0, limit })).events,
  );
  const filter = { ...owner, endpointId: null, eventId: null, status: null, limit };
  const deliveries = await all<DeliveryRecord>((last) =>
    storage.deliveries.list({
      ...filter,
      after: last === undefined ? null : { time: last.createdAt, id: last.id },
    }),
  );
  const endpoints = await storage.webhooks.list(owner);
  const pathOf = new Map(endpoints.map(({ events: [type = ''], url }) => [type, new URL(url).pathname]));
  const known = new Set(events.map(({ id }) => id));
  const arrivals = Map.groupBy(receiver.arrivals.values(), ({ id }) => id);
  const arrivalsOf = (id: string) => arrivals.get(id) ?? [];
  const eventsWhere = (is: (event: EventRecord) => boolean) =>
    events.filter(is).map(({ id, type }) => `${id} (${type})`);
  const numbers = new Set(events.map(({ body }) => JSON.parse(body).data.number));
  const gaps = events.filter(({ sequence }, index) => sequence !== index + 1);

  const problems: Readonly<Record<string, readonly string[]>> = {
    'every change has its event, once, in a sequence without a gap': [
      ...(events.length === published && numbers.size === published
        ? []
        : [`${events.length} events, ${numbers.size} changes, ${published} published`]),
      ...gaps.map(({ sequence }) => `a gap before ${sequence}`),
    ],
    'every event was accepted by its endpoint': eventsWhere(({ id, type }) =>
      arrivalsOf(id).every(({ path, accepted }) => path !== pathOf.get(type) || accepted === 0),
    ),
    'every event arrived with the same bytes each time, those that are stored': eventsWhere(({ id, body }) =>
      arrivalsOf(id).some(({ bodies }) => [...bodies].some((arrived) => arrived !== body)),
    ),
    'no event arrived anywhere else than at its endpoint': eventsWhere(({ id, type }) =>
      arrivalsOf(id).some(({ path }) => path !== pathOf.get(type)),
    ),
    'every signature is valid': receiver.rejected,
    'nothing arrived that was not published': [...arrivals.keys()].filter((id) => !known.has(id)),
    'every delivery is delivered, and its last attempt says so': deliveries
      .filter(({ status, attempts }) => status !== 'delivered' || attempts.at(-1)?.httpStatus !== 204)
      .map(({ id, status, attempts }) => `${id}: ${status} after ${attempts.length} attempts`),
    'there is one delivery for each event':
      deliveries.length === events.length &&
      new Set(deliveries.map(({ eventId }) => eventId)).size === events.length
        ? []
        : [`${deliveries.length} deliveries of ${events.length} events`],
    'no two requests of an event have the same number': eventsWhere(({ id }) =>
      arrivalsOf(id).some(({ attempts }) => new Set(attempts).size < attempts.length),
    ),
    // If a number is missing in the log, the process was killed during that attempt.
    'attempts are logged in the order of their numbers, and each of them arrived': deliveries
      .filter(({ eventId, attempts }) => {
        const arrived = new Set(arrivalsOf(eventId).flatMap((one) => one.attempts));
        return attempts.some(
          ({ number }, index) => number <= (attempts[index - 1]?.number ?? 0) || !arrived.has(number),
        );
      })
      .map(({ id, attempts }) => `${id}: ${attempts.map(({ number }) => number).join(', ')}`),
  };
  return Object.entries(problems).map(([name, found]) => ({ name, problems: found }));
}
