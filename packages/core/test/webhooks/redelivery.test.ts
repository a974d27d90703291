import { expect, it } from 'vitest';
import { answering, shop } from '../partner/webhook-shop.ts';

it('an event is delivered again to one endpoint, or to all that match its type now', async () => {
  const { call, register, trigger, work } = await shop();
  const [first, second] = [await answering(204), await answering(204)];
  const id = await register(first.url);
  const event = await trigger();
  await work();
  // Registered after the event, so that only a redelivery reaches it.
  await register(second.url);
  const again = (body: object) => call(`POST /v1/partner/events/${event.id}/redeliver`, body);
  expect((await again({ endpointId: id })).json().data).toMatchObject([
    { eventId: event.id, endpointId: id },
  ]);
  await work();
  expect([first.received.length, second.received.length]).toEqual([2, 0]);
  expect((await again({})).json().data).toHaveLength(2);
  await work();
  expect([first.received.length, second.received.length]).toEqual([3, 1]);
  expect(new Set([...first.received, ...second.received].map(({ body }) => String(body))).size).toBe(1);
});

it('a redelivery with an Idempotency-Key is queued once', async () => {
  const { provider, key, register, trigger, work } = await shop();
  const endpoint = await answering(204);
  await register(endpoint.url);
  const event = await trigger();
  await work();
  const again = () =>
    provider.partnerCall(
      key,
      `POST /v1/partner/events/${event.id}/redeliver`,
      {},
      { 'idempotency-key': 'r' },
    );
  const answers = [await again(), await again()];
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, answers[0]?.text],
    [200, answers[0]?.text],
  ]);
  await work();
  expect(endpoint.received).toHaveLength(2);
});

it('unknown events and endpoints are not found', async () => {
  const { call, trigger } = await shop();
  const event = await trigger();
  const again = async (eventId: unknown, body: object) =>
    (await call(`POST /v1/partner/events/${eventId}/redeliver`, body)).status;
  expect(await again(`evt_${'0'.repeat(32)}`, {})).toBe(404);
  expect(await again(event.id, { endpointId: `we_${'0'.repeat(32)}` })).toBe(404);
});
