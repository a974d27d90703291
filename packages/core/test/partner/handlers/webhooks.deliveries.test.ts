import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/provider.ts';
import { sink } from '../../webhooks/support/sink.ts';
import { blamed } from '../refusal.ts';
import { answering, hooks, shop as open } from '../webhook-shop.ts';

/** Options that allow a single attempt, so that one failure drops a delivery. */
const once = { webhooks: { retryDelaysSeconds: [] } };

async function shop(options: Parameters<typeof open>[0] = {}) {
  const given = await open(options);
  return {
    ...given,
    redeliver: (event: unknown, body: object = {}) =>
      given.call(`POST /v1/partner/events/${event}/redeliver`, body),
    recover: (id: string, since = '2020-01-01T00:00:00Z') =>
      given.call(`POST ${hooks}/${id}/recover`, { since }),
    async later(ms: number): Promise<void> {
      given.provider.clock.advance(ms);
      await given.work();
    },
  };
}

it('deliveries are shown with their attempts, from the first one on, and by their status', async () => {
  const { register, trigger, deliveries, list, later, now } = await shop();
  const endpoint = await answering(500, 'no, thank you 🙂');
  const id = await register(endpoint.url);
  expect(await deliveries(id)).toEqual([]);
  const event = await trigger();
  const fresh = {
    id: expect.stringMatching(/^dl_[0-9a-f]{32}_1$/),
    eventId: event.id,
    eventType: 'webhook.test',
    endpointId: id,
    status: 'pending',
    createdAt: now(),
    nextAttemptAt: now(),
    attempts: [] as object[],
  };
  expect(await deliveries(id)).toEqual([fresh]);
  const durationMs = expect.any(Number);
  await later(500);
  const failure = { httpStatus: 500, error: 'status', response: 'no, thank you 🙂' };
  fresh.attempts.push({ number: 1, at: now(), durationMs, ...failure });
  endpoint.answer = (response) => void response.writeHead(299, { 'content-type': 'text/html' }).end();
  await later(60_000);
  fresh.attempts.push({ number: 2, at: now(), durationMs, httpStatus: 299, error: null, response: '' });
  const delivered = [{ ...fresh, status: 'delivered', nextAttemptAt: null }];
  expect(await deliveries(id)).toEqual(delivered);
  expect(await list(`${hooks}/${id}/deliveries?status=delivered`)).toEqual(delivered);
  for (const status of ['pending', 'dropped', 'cancelled'])
    expect(await list(`${hooks}/${id}/deliveries?status=${status}`)).toEqual([]);
});

it('delivering an event again sends the same id and bytes once more, numbered from 1', async () => {
  const { register, trigger, deliveries, redeliver, list, later, work, now } = await shop();
  const endpoint = await sink();
  const id = await register(endpoint.url, { events: ['payment.completed'] });
  const event = await trigger('payment.completed');
  await work();
  const [before] = await deliveries(id);
  await later(5_000);
  const queued = await redeliver(event.id);
  const made = queued.json().data as Json[];
  const fresh = { status: 'pending', createdAt: now(), nextAttemptAt: now(), attempts: [] };
  expect(queued.status).toBe(200);
  expect(made).toEqual([{ ...before, id: expect.stringMatching(/^dl_[0-9a-f]{32}_1$/), ...fresh }]);
  // A pending delivery is returned instead of a new one.
  for (const body of [{}, { endpointId: id }])
    expect((await redeliver(event.id, body)).text).toBe(queued.text);
  await work();
  const [first, again, ...more] = endpoint.received;
  expect([again?.body, more]).toEqual([first?.body, []]);
  for (const name of ['x-svc-eventid', 'x-svc-event', 'x-svc-attempt', 'x-svc-partner'])
    expect([name, again?.headers[name]]).toEqual([name, first?.headers[name]]);
  expect(again?.headers['x-svc-timestamp']).not.toBe(first?.headers['x-svc-timestamp']);
  const delivered = { status: 'delivered', attempts: [{ number: 1 }] };
  expect(await deliveries(id)).toMatchObject([{ id: made[0]?.id, ...delivered }, delivered]);
  // The sequence contains the event once.
  expect(await list('/v1/partner/events')).toHaveLength(1);
});

describe('recovering what was dropped', () => {
  it('delivers it again, and nothing else', async () => {
    const { register, trigger, recover, later } = await shop(once);
    const endpoint = await answering(500);
    const id = await register(endpoint.url);
    const dropped = await trigger();
    await later(1);
    endpoint.answer = (response) => void response.writeHead(200).end();
    await trigger();
    await later(1);
    // The delivery is now pending, so a second request queues no more.
    for (const queued of [1, 0]) {
      const answer = await recover(id);
      expect([answer.status, answer.json()]).toEqual([200, { queued }]);
    }
    await later(1);
    const sent = endpoint.received.map(({ body }) => body.toString());
    expect(sent.slice(2)).toEqual([JSON.stringify(dropped)]);
  });

  it('takes a thousand at a time, from a moment on that any clock may tell', async () => {
    const { register, recover, database } = await shop();
    const id = await register();
    for (const since of [
      '2026-03-01T12:00:00.123Z',
      '2026-03-01T12:00:00.123000Z',
      '2026-03-01T14:00:00.123+02:00',
      '9999-12-31T23:59:59Z',
      '0001-01-01T00:00:00Z',
    ]) {
      database.forget();
      await recover(id, since);
      const asked = database.given[database.calls.indexOf('deliveries.recover')];
      expect(asked).toMatchObject([{ since: Date.parse(since), limit: 1_000 }]);
    }
  });
});

it('a disabled endpoint gets nothing again', async () => {
  const { call, register, trigger, statuses, redeliver, recover, work } = await shop(once);
  const id = await register((await answering(500)).url);
  const event = await trigger();
  await work();
  await call(`PATCH ${hooks}/${id}`, { enabled: false });
  for (const disabled of [await redeliver(event.id, { endpointId: id }), await recover(id)]) {
    expect(blamed(disabled)).toEqual([]);
    expect(disabled.json().message).toMatch(/disabled/);
  }
  expect(await statuses(id)).toEqual(['dropped']);
});
