import { describe, expect, it } from 'vitest';
import { storages } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import { deliveries, register, trigger, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const nowhere = 'http://127.0.0.1:9/hook';
const noEvent = `evt_${'0'.repeat(32)}`;
const noEndpoint = `we_${'0'.repeat(32)}`;

async function shop(options: Parameters<typeof webhookProvider>[0] = {}) {
  const { provider } = await webhookProvider(options);
  const key = await provider.key({ mode: 'test' });
  const ask = (event: unknown, body: unknown = {}, by: TestKey = key) =>
    provider.partnerCall(by, `POST /v1/partner/events/${event}/redeliver`, body);
  const redeliver = async (event: unknown, body: unknown = {}): Promise<Json[]> => {
    const answer = await ask(event, body);
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    return answer.json().data as Json[];
  };
  const failing = async (): Promise<Sink> => {
    const endpoint = await sink();
    endpoint.answer = (response) => void response.writeHead(503).end();
    return endpoint;
  };
  return { provider, key, ask, redeliver, failing };
}

describe.each(storages)('delivering an event again, on %s', (_name, newStorage) => {
  it('sends the same id and bytes once more, numbered from 1', async () => {
    const { provider, key, redeliver } = await shop({ storage: newStorage() });
    const endpoint = await sink();
    const id = await register(provider, key, endpoint.url);
    const event = await trigger(provider, key, 'payment.completed');
    await provider.ostiary.worker.runDue();
    provider.clock.advance(5_000);
    const made = await redeliver(event.id);
    const now = new Date(provider.clock.now()).toISOString();
    expect(made).toEqual([
      {
        id: expect.stringMatching(/^dl_[0-9a-f]{32}_1$/),
        eventId: event.id,
        eventType: 'payment.completed',
        endpointId: id,
        status: 'pending',
        createdAt: now,
        nextAttemptAt: now,
        attempts: [],
      },
    ]);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(2);
    const [first, again] = endpoint.received;
    expect(again?.body).toEqual(first?.body);
    for (const name of ['x-svc-eventid', 'x-svc-event', 'x-svc-attempt', 'x-svc-partner'])
      expect([name, again?.headers[name]]).toEqual([name, first?.headers[name]]);
    expect(again?.headers['x-svc-timestamp']).not.toBe(first?.headers['x-svc-timestamp']);
    expect(await deliveries(provider, key, id)).toMatchObject([
      { id: made[0]?.id, status: 'delivered', attempts: [{ number: 1 }] },
      { status: 'delivered', attempts: [{ number: 1 }] },
    ]);
    // The sequence knows it once.
    const { data } = (await provider.partnerCall(key, 'GET /v1/partner/events')).json();
    expect(data).toHaveLength(1);
  });

  it('has five attempts of its own', async () => {
    const { provider, key, redeliver, failing } = await shop({ storage: newStorage() });
    const endpoint = await failing();
    const id = await register(provider, key, endpoint.url);
    const event = await trigger(provider, key);
    const run = async () => {
      for (const minutes of [0, 1, 5, 30, 120, 600]) {
        provider.clock.advance(minutes * 60_000);
        await provider.ostiary.worker.runDue();
      }
    };
    await run();
    expect(endpoint.received).toHaveLength(5);
    await redeliver(event.id);
    await run();
    expect(endpoint.received.map(({ headers }) => headers['x-svc-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    expect(new Set(endpoint.received.map(({ body }) => body.toString())).size).toBe(1);
    expect((await deliveries(provider, key, id)).map(({ status }) => status)).toEqual(['dropped', 'dropped']);
  });

  it('goes to the endpoints that match now, or to the one that is named', async () => {
    const { provider, key, redeliver } = await shop({ storage: newStorage() });
    const event = await trigger(provider, key, 'kyc.updated');
    expect(await redeliver(event.id)).toEqual([]);
    const all = await register(provider, key, `${nowhere}/all`);
    const matching = await register(provider, key, `${nowhere}/kyc`, { events: ['kyc.updated'] });
    const other = await register(provider, key, `${nowhere}/pay`, { events: ['payment.failed'] });
    const disabled = await register(provider, key, `${nowhere}/off`);
    await provider.partnerCall(key, `PATCH /v1/partner/webhooks/${disabled}`, { enabled: false });
    const removed = await register(provider, key, `${nowhere}/gone`);
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${removed}`);
    const live = await provider.key({ partner: key.partner });
    await register(provider, live, nowhere);
    const endpointsOf = (made: readonly Json[]) => made.map(({ endpointId }) => endpointId);
    expect(endpointsOf(await redeliver(event.id))).toEqual([all, matching].sort());
    // A name is an order: the types that the endpoint asked for are no obstacle.
    expect(endpointsOf(await redeliver(event.id, { endpointId: other }))).toEqual([other]);
  });

  it('where it is pending already, that delivery stands for the new one, however many ask', async () => {
    const { provider, key, redeliver, failing } = await shop({ storage: newStorage() });
    const endpoint = await failing();
    const id = await register(provider, key, endpoint.url);
    const event = await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const [pending] = await deliveries(provider, key, id);
    expect(pending).toMatchObject({ status: 'pending', attempts: [{ number: 1 }] });
    provider.clock.advance(1_000);
    expect(await redeliver(event.id)).toEqual([pending]);
    expect(await redeliver(event.id, { endpointId: id })).toEqual([pending]);
    // To an endpoint that has none pending it goes nevertheless.
    const fresh = await register(provider, key, `${nowhere}/fresh`);
    const both = await redeliver(event.id);
    expect(both.map(({ endpointId }) => endpointId)).toEqual([id, fresh].sort());
    expect(both.find(({ endpointId }) => endpointId === id)).toEqual(pending);

    provider.clock.advance(60_000);
    endpoint.answer = (response) => void response.writeHead(204).end();
    await provider.ostiary.worker.runDue();
    const made = await Promise.all(Array.from({ length: 20 }, () => redeliver(event.id, { endpointId: id })));
    expect(new Set(made.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await deliveries(provider, key, id)).toHaveLength(2);
  });

  it('is not possible for what belongs to somebody else, or to nobody', async () => {
    const { provider, key, ask } = await shop({ storage: newStorage() });
    const id = await register(provider, key, nowhere);
    const event = await trigger(provider, key);
    const stranger = await provider.key({ mode: 'test' });
    const live = await provider.key({ partner: key.partner });
    for (const by of [stranger, live]) {
      await register(provider, by, nowhere);
      const [foreign, unknown] = [await ask(event.id, {}, by), await ask(noEvent, {}, by)];
      expect(blamed(foreign, 404, 'not_found')).toEqual([]);
      expect({ ...foreign.json(), requestId: '' }).toEqual({ ...unknown.json(), requestId: '' });
      const own = (await provider.partnerCall(by, 'GET /v1/partner/webhooks')).json().data as Json[];
      expect(blamed(await ask(event.id, { endpointId: own[0]?.id }), 404, 'not_found')).toEqual([]);
    }
    expect(blamed(await ask(event.id, { endpointId: noEndpoint }), 404, 'not_found')).toEqual([]);
    await provider.partnerCall(key, `PATCH /v1/partner/webhooks/${id}`, { enabled: false });
    const disabled = await ask(event.id, { endpointId: id });
    expect(blamed(disabled)).toEqual([]);
    expect(disabled.json().message).toMatch(/disabled/);
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
    expect(blamed(await ask(event.id, { endpointId: id }), 404, 'not_found')).toEqual([]);
  });
});

describe('a request to deliver again', () => {
  it.each<readonly [string, unknown, readonly string[]]>([
    ['an endpoint that is no id', { endpointId: 'x' }, ['endpointId']],
    ['an endpoint of another type', { endpointId: [noEndpoint] }, ['endpointId']],
    ['no endpoint', { endpointId: null }, ['endpointId']],
    ['a member more', { endpoint: noEndpoint }, ['endpoint']],
    ['no object', [], ['']],
  ])('with %s is refused', async (_name, body, paths) => {
    const { provider, key, ask } = await shop();
    const event = await trigger(provider, key);
    expect(blamed(await ask(event.id, body))).toEqual(paths);
  });

  it('for what cannot be an event leads nowhere', async () => {
    const { ask } = await shop();
    for (const id of ['x', '%00', noEvent.toUpperCase(), `${noEvent}0`, '%2e%2e', 'evt_'.padEnd(10_000, '0')])
      expect((await ask(id)).status, id.slice(0, 40)).toBe(404);
  });
});
