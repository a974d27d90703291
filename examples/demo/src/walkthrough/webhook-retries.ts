import { verify } from '@ostiary/webhook-verifier';
import { rowsOf } from './calls.ts';
import { eventually, found } from './found.ts';
import type { Delivery } from './receiver.ts';
import type { Fields } from './report.ts';
import { arrivals, headerOf, pay, show, type WebhookWalk } from './webhook-walk.ts';

/**
 * Waits until a delivery to an endpoint has a status. Polls, because an attempt is recorded only after the
 * receiver has responded.
 */
function deliveryIn(
  { live }: WebhookWalk,
  endpoint: string,
  eventId: string,
  status: string,
): Promise<Fields> {
  return eventually(`a delivery of ${eventId} is ${status}`, async () => {
    const rows = rowsOf(await live.get(`webhooks/${endpoint}/deliveries?limit=5`));
    return rows.find((row) => row.eventId === eventId && row.status === status);
  });
}

const statusesOf = ({ attempts }: Fields): string =>
  (attempts as readonly Fields[]).map(({ httpStatus }) => String(httpStatus)).join(' ');

const isSame = (one: Delivery, other: Delivery): boolean => Buffer.from(one.body).equals(other.body);

/** Walks through a failed attempt and its retry. Returns the id of the event. */
export async function retrying(walk: WebhookWalk, endpoint: string): Promise<string> {
  const { report, receiver, secrets, file } = walk;
  report.step('The receiver fails once, and gets the event again');
  receiver.state.failures = 1;
  const [second, before] = await arrivals(walk, 'payment.completed', await pay(walk, '5.00'), 2);
  const first = found(before, 'first attempt');
  for (const delivery of [first, second]) show(walk, delivery);
  const both = (name: Parameters<typeof headerOf>[2]) =>
    [first, second].map((delivery) => headerOf(walk, delivery, name)).join();
  const isFresh = (name: 'Timestamp' | 'Signature') => new Set(both(name).split(',')).size === 2;
  const eventId = headerOf(walk, second, 'EventId');
  for (const { body, headers } of [first, second])
    await verify(body, headers, { secret: secrets['/live'], prefix: file.prefix });
  const delivery = await deliveryIn(walk, endpoint, eventId, 'delivered');
  report.check({
    'the first attempt fails, the second arrives': first.status === 500 && second.status === 200,
    'they are numbered': both('Attempt') === '1,2',
    'the event id is the same': both('EventId') === `${eventId},${eventId}`,
    'so is every byte of the body': isSame(first, second),
    'timestamp and signature are fresh': isFresh('Timestamp') && isFresh('Signature'),
    'both verify; the event was handled once': receiver.handled.get(eventId) === 1,
    'the list of deliveries shows both attempts': statusesOf(delivery) === '500 200',
  });
  return eventId;
}

/** Walks through five failures, which drop a delivery, and its recovery. */
export async function dropping(walk: WebhookWalk, endpoint: string): Promise<void> {
  const { report, receiver, live } = walk;
  report.step('The receiver fails for longer: five attempts, then the event is dropped');
  const since = new Date().toISOString();
  receiver.state.failures = 5;
  const transfer = await pay(walk, '6.00');
  const [fifth] = await arrivals(walk, 'payment.completed', transfer, 5);
  const eventId = headerOf(walk, fifth, 'EventId');
  const dropped = await deliveryIn(walk, endpoint, eventId, 'dropped');
  report.check({
    'after five attempts it is dropped': statusesOf(dropped) === '500 500 500 500 500',
    'and not tried again': dropped.nextAttemptAt === null,
  });

  report.step('It works again, and recovers what it missed');
  const recovered = await live.post(`webhooks/${endpoint}/recover`, { since });
  const [sixth] = await arrivals(walk, 'payment.completed', transfer, 6);
  report.check({
    'one delivery is queued': recovered.status === 200 && recovered.body.queued === 1,
    'it arrives, with five attempts of its own':
      sixth.status === 200 && headerOf(walk, sixth, 'Attempt') === '1',
    'and is handled once': receiver.handled.get(eventId) === 1,
  });
}

/** Walks through redelivering an event that was already delivered. */
export async function redelivering(walk: WebhookWalk, endpoint: string, eventId: string): Promise<void> {
  const { report, receiver, live } = walk;
  report.step('The partner asks for an event once more');
  const isIt = (delivery: Delivery): boolean =>
    headerOf(walk, delivery, 'EventId') === eventId && delivery.status !== 400;
  const before = receiver.deliveries.filter(isIt);
  const answer = await live.post(`events/${eventId}/redeliver`, { endpointId: endpoint });
  const deliveries = await receiver.until(before.length + 1, isIt);
  const again = found(deliveries.at(-1), 'further delivery');
  show(walk, again);
  report.check({
    'a new delivery is made': answer.status === 200 && rowsOf(answer)[0]?.eventId === eventId,
    'with the same bytes': isSame(again, found(before[0], 'delivery')),
    'the receiver knows it: acknowledged, not handled again':
      again.status === 200 && receiver.handled.get(eventId) === 1,
  });
}
