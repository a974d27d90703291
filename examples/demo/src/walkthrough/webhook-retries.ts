import { setTimeout as delay } from 'node:timers/promises';
import { verify } from '@ostiary/webhook-verifier';
import { found } from './flow.ts';
import type { Delivery } from './receiver.ts';
import { StepFailed } from './report.ts';
import { about, type Fields, headerOf, pay, rowsOf, showDelivery, type WebhookWalk } from './webhook-walk.ts';

/** A delivery of an endpoint, once it is in a state: the attempt is written down after the receiver has answered. */
async function deliveryIn(
  { live }: WebhookWalk,
  endpoint: string,
  eventId: string,
  status: string,
): Promise<Fields> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const list = await live.get(`/v1/partner/webhooks/${endpoint}/deliveries?limit=5`);
    const delivery = rowsOf(list).find((row) => row.eventId === eventId);
    if (delivery?.status === status) return delivery;
    if (performance.now() >= deadline) throw new StepFailed(`no delivery of ${eventId} is ${status}`);
    await delay(100);
  }
}

function attemptsOf({ attempts }: Fields): readonly Fields[] {
  return Array.isArray(attempts) ? (attempts as readonly Fields[]) : [];
}

const statusesOf = (delivery: Fields): string =>
  attemptsOf(delivery)
    .map(({ httpStatus }) => String(httpStatus))
    .join(' ');

/** A failure, a second attempt, and what does not change between them. Answers the id of the event. */
export async function retrying(walk: WebhookWalk, endpoint: string): Promise<string> {
  const { report, receiver, secrets, file } = walk;
  report.step('The receiver fails once, and is told again');
  receiver.failures = 1;
  const transfer = await pay(walk, '5.00');
  const [first, second] = await receiver.until(2, about(walk, 'payment.completed', transfer));
  if (first === undefined || second === undefined) throw new StepFailed('there is no second attempt');
  for (const delivery of [first, second]) showDelivery(walk, delivery);
  report.check(first.status === 500 && second.status === 200, 'the first attempt fails, the second arrives');
  report.check(
    [first, second].map((delivery) => headerOf(walk, delivery, 'Attempt')).join() === '1,2',
    'they are numbered',
  );
  const eventId = headerOf(walk, second, 'EventId');
  report.check(headerOf(walk, first, 'EventId') === eventId, 'the event id is the same');
  report.check(Buffer.from(first.body).equals(second.body), 'so is every byte of the body');
  report.check(
    headerOf(walk, first, 'Timestamp') !== headerOf(walk, second, 'Timestamp') &&
      headerOf(walk, first, 'Signature') !== headerOf(walk, second, 'Signature'),
    'timestamp and signature are fresh',
  );
  for (const { body, headers } of [first, second])
    await verify(body, headers, { secret: secrets['/live'], prefix: file.prefix });
  report.check(receiver.handled.get(eventId) === 1, 'both verify; the event was handled once');
  const delivery = await deliveryIn(walk, endpoint, eventId, 'delivered');
  report.check(statusesOf(delivery) === '500 200', 'the list of deliveries shows both attempts');
  return eventId;
}

/** Five failures, and a recovery. */
export async function dropping(walk: WebhookWalk, endpoint: string): Promise<void> {
  const { report, receiver, live } = walk;
  report.step('The receiver fails for longer: five attempts, then the event is dropped');
  const since = new Date().toISOString();
  receiver.failures = 5;
  const transfer = await pay(walk, '6.00');
  const attempts = await receiver.until(5, about(walk, 'payment.completed', transfer));
  const eventId = headerOf(walk, found(attempts[0], 'attempt'), 'EventId');
  const dropped = await deliveryIn(walk, endpoint, eventId, 'dropped');
  report.check(statusesOf(dropped) === '500 500 500 500 500', 'after five attempts it is dropped');
  report.check(dropped.nextAttemptAt === null, 'and not tried again');

  report.step('It works again, and recovers what it missed');
  const recovered = await live.post(`/v1/partner/webhooks/${endpoint}/recover`, { since });
  report.check(recovered.status === 200 && recovered.body.queued === 1, 'one delivery is queued');
  const sixth = (await receiver.until(6, about(walk, 'payment.completed', transfer)))[5];
  report.check(
    sixth?.status === 200 && headerOf(walk, sixth, 'Attempt') === '1',
    'it arrives, with five attempts of its own',
  );
  report.check(receiver.handled.get(eventId) === 1, 'and is handled once');
}

/** An event that has arrived, once more. */
export async function redelivering(walk: WebhookWalk, endpoint: string, eventId: string): Promise<void> {
  const { report, receiver, live } = walk;
  report.step('The partner asks for an event once more');
  const isIt = (delivery: Delivery): boolean =>
    headerOf(walk, delivery, 'EventId') === eventId && delivery.status !== 400;
  const before = receiver.deliveries.filter(isIt);
  const answer = await live.post(`/v1/partner/events/${eventId}/redeliver`, { endpointId: endpoint });
  const [made] = rowsOf(answer);
  report.check(answer.status === 200 && made?.eventId === eventId, 'a new delivery is made');
  const again = (await receiver.until(before.length + 1, isIt)).at(-1);
  if (again === undefined) throw new StepFailed('the event did not come again');
  showDelivery(walk, again);
  report.check(Buffer.from(again.body).equals(found(before[0], 'delivery').body), 'with the same bytes');
  report.check(
    again.status === 200 && receiver.handled.get(eventId) === 1,
    'the receiver knows it: acknowledged, not handled again',
  );
}
