import { describe, expect, it } from 'vitest';
import { storages } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import { blamed } from './refusal.ts';
import { answering, hooks, shop as open, url } from './webhook-shop.ts';

const noEvent = `evt_${'0'.repeat(32)}`;
const noEndpoint = `we_${'0'.repeat(32)}`;
const all = { events: ['webhook.test', 'kyc.updated', 'payment.completed'] };

/** One attempt, and a failure is final: what is dropped is dropped at once. */
const once = { webhooks: { retryDelaysSeconds: [] } };

async function shop(options: Parameters<typeof open>[0] = {}) {
  const given = await open(options);
  const { provider, call } = given;
  const askRedeliver = (event: unknown, body: object = {}, by?: TestKey) =>
    call(`POST /v1/partner/events/${event}/redeliver`, body, by);
  const askRecover = (id: string, since: unknown = '2020-01-01T00:00:00Z', by?: TestKey) =>
    call(`POST ${hooks}/${id}/recover`, { since }, by);
  return {
    ...{ ...given, askRedeliver, askRecover },
    async redeliver(event: unknown, body?: object): Promise<Json[]> {
      const answer = await askRedeliver(event, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.json().data as Json[];
    },
    async recover(id: string, since?: unknown): Promise<unknown> {
      const answer = await askRecover(id, since);
      expect([answer.status, answer.json()]).toEqual([200, { queued: expect.any(Number) }]);
      return answer.json().queued;
    },
    async later(ms: number): Promise<void> {
      provider.clock.advance(ms);
      await given.work();
    },
    async enable(id: string, ...states: boolean[]): Promise<void> {
      for (const enabled of states) await call(`PATCH ${hooks}/${id}`, { enabled });
    },
  };
}

describe('deliveries of an endpoint', () => {
  it('are shown with their attempts, from the first one on', async () => {
    const { register, trigger, deliveries, later, now } = await shop();
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
    expect(await deliveries(id)).toEqual([{ ...fresh, status: 'delivered', nextAttemptAt: null }]);
  });

  it('can be told by their status', async () => {
    const { register, trigger, list, enable, work } = await shop(once);
    const endpoint = await sink();
    const id = await register(endpoint.url);
    const delivered = await trigger();
    await work();
    endpoint.answer = (response) => void response.writeHead(400).end();
    const dropped = await trigger();
    await work();
    const cancelled = await trigger();
    await enable(id, false, true);
    const pending = await trigger();
    for (const [status, event] of Object.entries({ delivered, dropped, cancelled, pending }))
      expect(await list(`${hooks}/${id}/deliveries?status=${status}`)).toMatchObject([
        { status, eventId: event.id },
      ]);
  });
});

describe('delivering an event again', () => {
  it('sends the same id and bytes once more, numbered from 1', async () => {
    const { register, trigger, deliveries, redeliver, list, later, work, now } = await shop();
    const endpoint = await sink();
    const id = await register(endpoint.url, all);
    const event = await trigger('payment.completed');
    await work();
    const [before] = await deliveries(id);
    await later(5_000);
    const made = await redeliver(event.id);
    const fresh = { status: 'pending', createdAt: now(), nextAttemptAt: now(), attempts: [] };
    expect(made).toEqual([{ ...before, id: expect.stringMatching(/^dl_[0-9a-f]{32}_1$/), ...fresh }]);
    await work();
    const [first, again, ...more] = endpoint.received;
    expect([again?.body, more]).toEqual([first?.body, []]);
    for (const name of ['x-svc-eventid', 'x-svc-event', 'x-svc-attempt', 'x-svc-partner'])
      expect([name, again?.headers[name]]).toEqual([name, first?.headers[name]]);
    expect(again?.headers['x-svc-timestamp']).not.toBe(first?.headers['x-svc-timestamp']);
    const delivered = { status: 'delivered', attempts: [{ number: 1 }] };
    expect(await deliveries(id)).toMatchObject([{ id: made[0]?.id, ...delivered }, delivered]);
    // The sequence knows it once.
    expect(await list('/v1/partner/events')).toHaveLength(1);
  });

  it('has five attempts of its own', async () => {
    const { register, trigger, redeliver, statuses, later } = await shop();
    const endpoint = await answering(503);
    const id = await register(endpoint.url);
    const event = await trigger();
    const minutes = [0, 1, 5, 30, 120, 600];
    for (const wait of minutes) await later(wait * 60_000);
    await redeliver(event.id);
    for (const wait of minutes) await later(wait * 60_000);
    const five = ['1', '2', '3', '4', '5'];
    expect(endpoint.received.map(({ headers }) => headers['x-svc-attempt'])).toEqual([...five, ...five]);
    expect(new Set(endpoint.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(await statuses(id)).toEqual(['dropped', 'dropped']);
  });

  it('goes to the endpoints that match now, or to the one that is named', async () => {
    const { provider, key, call, register, trigger, redeliver, enable } = await shop();
    const event = await trigger('kyc.updated');
    expect(await redeliver(event.id)).toEqual([]);
    const matching = [
      await register(`${url}/all`, all),
      await register(`${url}/kyc`, { events: ['kyc.updated'] }),
    ];
    const other = await register(`${url}/pay`, { events: ['payment.failed'] });
    await enable(await register(`${url}/off`, all), false);
    await call(`DELETE ${hooks}/${await register(`${url}/gone`, all)}`);
    await register(url, all, await provider.key({ partner: key.partner }));
    const endpointsOf = (made: readonly Json[]) => made.map(({ endpointId }) => endpointId);
    expect(endpointsOf(await redeliver(event.id))).toEqual(matching.sort());
    // A name is an order: the types that the endpoint asked for are no obstacle.
    expect(endpointsOf(await redeliver(event.id, { endpointId: other }))).toEqual([other]);
  });

  it('where it is pending already, that delivery stands for the new one, however many ask', async () => {
    const { register, trigger, deliveries, redeliver, later, work } = await shop();
    const endpoint = await answering(503);
    const id = await register(endpoint.url);
    const event = await trigger();
    await work();
    const [pending] = await deliveries(id);
    expect(pending).toMatchObject({ status: 'pending', attempts: [{ number: 1 }] });
    for (const body of [{}, { endpointId: id }]) expect(await redeliver(event.id, body)).toEqual([pending]);
    // To an endpoint that has none pending it goes nevertheless.
    const fresh = await register(`${url}/fresh`);
    const both = await redeliver(event.id);
    expect(both.map(({ endpointId }) => endpointId)).toEqual([id, fresh].sort());
    expect(both).toContainEqual(pending);
    endpoint.answer = (response) => void response.writeHead(204).end();
    await later(60_000);
    const made = await Promise.all(Array.from({ length: 20 }, () => redeliver(event.id, { endpointId: id })));
    expect(new Set(made.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await deliveries(id)).toHaveLength(2);
  });
});

describe('recovering what was dropped', () => {
  it('delivers it again, the same bytes, and nothing else', async () => {
    const { register, trigger, statuses, recover, later, work } = await shop({ ...once });
    const endpoint = await answering(500);
    const id = await register(endpoint.url);
    const other = await register(`${endpoint.url}/other`);
    const dropped = [await trigger(), await trigger()];
    await work();
    endpoint.answer = (response) => void response.writeHead(200).end();
    await trigger();
    await work();
    const before = endpoint.received.length;
    // They are on their way: asking again finds nothing more to do.
    expect([await recover(id), await recover(id)]).toEqual([2, 0]);
    await later(1);
    const again = endpoint.received.slice(before);
    expect(again.map(({ path }) => path)).toEqual(['/hook', '/hook']);
    const bodies = again.map(({ body }) => body.toString());
    expect(bodies.sort()).toEqual(dropped.map((event) => JSON.stringify(event)).sort());
    expect(again.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '1']);
    expect(await recover(id)).toBe(0);
    // The other endpoint keeps what it lost.
    expect((await statuses(other)).filter((status) => status === 'dropped')).toHaveLength(2);
  });

  it('reaches back to the millisecond in which something was dropped, whatever clock tells it', async () => {
    const { register, trigger, recover, later, now } = await shop(once);
    const id = await register((await answering(500)).url);
    const times: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      await trigger();
      // Created before, dropped now.
      await later(1_000);
      times.push(now());
    }
    const [first = '', second = '', third = ''] = times;
    const found: unknown[] = [];
    for (const since of [
      new Date(Date.parse(third) + 999).toISOString(),
      third,
      second.replace('Z', '+00:00'),
      new Date(Date.parse(first) + 999).toISOString(),
      first.replace('Z', '000Z'),
      '9999-12-31T23:59:59Z',
      '0001-01-01T00:00:00Z',
    ])
      found.push(await recover(id, since));
    expect(found).toEqual([0, 1, 1, 0, 1, 0, 0]);
  });

  it('counts each event once, not when it was delivered since, and again when that was cancelled', async () => {
    const { register, trigger, statuses, redeliver, recover, enable, later } = await shop({
      ...once,
    });
    const endpoint = await answering(500);
    const id = await register(endpoint.url);
    const event = await trigger();
    await later(1_000);
    for (let round = 0; round < 2; round += 1) {
      expect(await recover(id)).toBe(1);
      await later(1_000);
    }
    expect(await recover(id)).toBe(1);
    await enable(id, false, true);
    expect(await recover(id)).toBe(1);
    expect((await statuses(id)).sort()).toEqual(['cancelled', 'dropped', 'dropped', 'dropped', 'pending']);
    await later(1_000);
    endpoint.answer = (response) => void response.writeHead(200).end();
    await redeliver(event.id);
    await later(1_000);
    expect([await recover(id), (await statuses(id))[0]]).toEqual([0, 'delivered']);
  });

  it('queues each delivery once when twenty ask at the same time', async () => {
    const { register, trigger, deliveries, recover, work } = await shop(once);
    const id = await register((await answering(500)).url);
    for (let index = 0; index < 5; index += 1) await trigger();
    // A worker sends a few at once to an endpoint that it does not know yet.
    for (let round = 0; round < 5; round += 1) await work();
    const answers = await Promise.all(Array.from({ length: 20 }, () => recover(id)));
    expect(answers.map(Number).reduce((sum, queued) => sum + queued)).toBe(5);
    expect(await deliveries(id)).toHaveLength(10);
  });
});

it('a thousand are recovered at a time, the longest dropped first', async () => {
  const [, newStorage = () => expect.unreachable()] = storages.at(-1) ?? [];
  const storage = newStorage();
  const { provider, key, register, recover } = await shop({ storage });
  const id = await register();
  const now = provider.clock.now();
  const events = Array.from({ length: 1_003 }, (_, index) => {
    const name = String(index).padStart(32, '0');
    const ids = { id: `evt_${name}`, deliveryId: `dl_${name}` };
    return { ...ids, partner: key.partner, mode: key.mode, type: 'webhook.test', body: '{}', createdAt: now };
  });
  await storage.events.publish(events, { idempotency: null, now });
  const claim = { claimId: 'c', now, leaseMs: 30_000, limit: 2_000, room: 2_000, rooms: new Map() };
  const claimed = await storage.deliveries.claim(claim);
  expect(claimed).toHaveLength(1_003);
  const attempt = { number: 1, at: now, durationMs: 1, httpStatus: 500, error: 'status', response: '' };
  await storage.deliveries.finish(
    claimed.map(({ id, claimId }) => ({ id, claimId, attempt, next: { status: 'dropped' } })),
  );
  expect([await recover(id), await recover(id), await recover(id)]).toEqual([1_000, 3, 0]);
});

it('neither is possible for what is disabled, somebody else’s or nobody’s', async () => {
  const { provider, key, call, register, trigger, statuses, askRedeliver, askRecover, enable, work } =
    await shop(once);
  const id = await register((await answering(500)).url);
  const event = await trigger();
  await work();
  const missing = (answer: Awaited<ReturnType<typeof call>>) => {
    expect(blamed(answer, 404, 'not_found')).toEqual([]);
    return { ...answer.json(), requestId: '' };
  };
  for (const by of [await provider.key({ mode: 'test' }), await provider.key({ partner: key.partner })]) {
    const own = await register(url, {}, by);
    expect(missing(await askRedeliver(event.id, {}, by))).toEqual(
      missing(await askRedeliver(noEvent, {}, by)),
    );
    missing(await askRedeliver(event.id, { endpointId: own }));
    expect(missing(await askRecover(id, undefined, by))).toEqual(
      missing(await askRecover(noEndpoint, undefined, by)),
    );
  }
  missing(await askRedeliver(event.id, { endpointId: noEndpoint }));
  for (const none of ['x', '%00', noEvent.toUpperCase(), `${noEvent}0`, '%2e%2e', 'evt_'.padEnd(10_000, '0')])
    missing(await askRedeliver(none));
  await enable(id, false);
  for (const disabled of [await askRedeliver(event.id, { endpointId: id }), await askRecover(id)]) {
    expect(blamed(disabled)).toEqual([]);
    expect(disabled.json().message).toMatch(/disabled/);
  }
  expect(await statuses(id)).toEqual(['dropped']);
  await call(`DELETE ${hooks}/${id}`);
  missing(await askRedeliver(event.id, { endpointId: id }));
});
