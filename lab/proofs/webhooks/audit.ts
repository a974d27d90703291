import type { DeliveryRecord, EventRecord, Storage } from '@ostiary/core/storage';
import { owner } from './provider.ts';
import type { MisbehavingReceiver } from './receiver.ts';

/** Each property with what violates it. */
export type Findings = ReadonlyMap<string, readonly string[]>;

async function allEvents({ events }: Storage): Promise<EventRecord[]> {
  const all: EventRecord[] = [];
  for (;;) {
    const page = await events.list({ ...owner, after: all.at(-1)?.sequence ?? 0, limit: 1_000 });
    if (page.events.length === 0) return all;
    all.push(...page.events);
  }
}

async function allDeliveries({ deliveries }: Storage): Promise<DeliveryRecord[]> {
  const all: DeliveryRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last === undefined ? null : { time: last.createdAt, id: last.id };
    const filter = { endpointId: null, eventId: null, status: null, limit: 1_000 };
    const page = await deliveries.list({ ...owner, ...filter, after });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Compares what the receiver saw with what is stored, and both with what was published. */
export async function audit(
  storage: Storage,
  receiver: MisbehavingReceiver,
  published: number,
): Promise<Findings> {
  const events = await allEvents(storage);
  const deliveries = await allDeliveries(storage);
  const endpoints = await storage.webhooks.list(owner);
  const pathOf = new Map(endpoints.map(({ events: [type = ''], url }) => [type, new URL(url).pathname]));
  const known = new Set(events.map(({ id }) => id));

  const gaps = events.filter(({ sequence }, index) => sequence !== index + 1);
  const arrivalsOf = ({ id }: EventRecord) => receiver.arrivals.get(id);
  const name = ({ id, type }: EventRecord) => `${id} (${type})`;
  const numbers = new Set(events.map(({ body }) => JSON.parse(body).data.number));

  return new Map<string, readonly string[]>([
    [
      'every change has its event, once, in a sequence without a gap',
      [
        ...(events.length === published && numbers.size === published
          ? []
          : [`${events.length} events, ${numbers.size} changes, ${published} published`]),
        ...gaps.map(({ sequence }) => `a gap before ${sequence}`),
      ],
    ],
    [
      'every event was accepted by its endpoint',
      events.filter((event) => (arrivalsOf(event)?.accepted ?? 0) === 0).map(name),
    ],
    [
      'every event arrived with the same bytes each time, those that are stored',
      events
        .filter((event) => {
          const bodies = [...(arrivalsOf(event)?.bodies ?? [])];
          return bodies.length > 1 || (bodies.length === 1 && bodies[0] !== event.body);
        })
        .map(name),
    ],
    [
      'no event arrived anywhere else than at its endpoint',
      events
        .filter((event) =>
          [...(arrivalsOf(event)?.endpoints ?? [])].some((path) => path !== pathOf.get(event.type)),
        )
        .map(name),
    ],
    ['every signature is valid', [...receiver.rejected]],
    ['nothing arrived that was not published', [...receiver.arrivals.keys()].filter((id) => !known.has(id))],
    [
      'every delivery is delivered, and its last attempt says so',
      deliveries
        .filter(({ status, attempts }) => status !== 'delivered' || attempts.at(-1)?.httpStatus !== 204)
        .map(({ id, status, attempts }) => `${id}: ${status} after ${attempts.length} attempts`),
    ],
    [
      'there is one delivery for each event',
      deliveries.length === events.length &&
      new Set(deliveries.map(({ eventId }) => eventId)).size === events.length
        ? []
        : [`${deliveries.length} deliveries of ${events.length} events`],
    ],
    [
      'attempts are numbered from 1, and none was logged that did not happen',
      deliveries
        .filter(
          ({ eventId, attempts }) =>
            attempts.some(({ number }, index) => number !== index + 1) ||
            attempts.length > (receiver.arrivals.get(eventId)?.requests ?? 0),
        )
        .map(({ id, attempts }) => `${id}: ${attempts.map(({ number }) => number).join(', ')}`),
    ],
  ]);
}
