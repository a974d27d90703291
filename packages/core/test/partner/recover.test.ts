import { describe, expect, it } from 'vitest';
import { storages } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import { deliveries, register, trigger, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const nowhere = 'http://127.0.0.1:9/hook';
const noEndpoint = `we_${'0'.repeat(32)}`;

/** One attempt, and a failure is final: what is dropped is dropped at once. */
const once = { webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [] } };

async function shop(options: Parameters<typeof webhookProvider>[0] = {}) {
  const { provider } = await webhookProvider({ ...once, ...options });
  const key = await provider.key({ mode: 'test' });
  const at = () => new Date(provider.clock.now()).toISOString();
  const ask = (id: string, since: unknown = '2020-01-01T00:00:00Z', by: TestKey = key) =>
    provider.partnerCall(by, `POST /v1/partner/webhooks/${id}/recover`, { since });
  const recover = async (id: string, since?: unknown) => (await ask(id, since)).json();
  const endpoint = await sink();
  endpoint.answer = (response) => void response.writeHead(500).end();
  return { provider, key, at, ask, recover, endpoint };
}

describe.each(storages)('recovering what was dropped, on %s', (_name, newStorage) => {
  it('delivers it again, the same bytes, and nothing else', async () => {
    const { provider, key, recover, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    const other = await register(provider, key, `${endpoint.url}/other`);
    const dropped = [await trigger(provider, key), await trigger(provider, key)];
    await provider.ostiary.worker.runDue();
    endpoint.answer = (response) => void response.writeHead(200).end();
    await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const before = endpoint.received.length;
    provider.clock.advance(1);
    await trigger(provider, key);

    expect(await recover(id)).toEqual({ queued: 2 });
    // They are on their way: asking again finds nothing more to do.
    expect(await recover(id)).toEqual({ queued: 0 });
    const queued = (await deliveries(provider, key, id)).filter(({ status }) => status === 'pending');
    expect(queued).toHaveLength(3);
    await provider.ostiary.worker.runDue();
    const again = endpoint.received.slice(before).filter(({ path }) => path === '/hook');
    const bodies = again.map(({ body }) => body.toString());
    for (const event of dropped) expect(bodies).toContain(JSON.stringify(event));
    expect(again.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '1', '1']);
    expect(await recover(id)).toEqual({ queued: 0 });
    // The other endpoint keeps what it lost.
    const lost = (await deliveries(provider, key, other)).filter(({ status }) => status === 'dropped');
    expect(lost).toHaveLength(2);
  });

  it('reaches back to the millisecond in which something was dropped', async () => {
    const { provider, key, at, recover, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    const times: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      await trigger(provider, key);
      // Created before, dropped now.
      provider.clock.advance(1_000);
      times.push(at());
      await provider.ostiary.worker.runDue();
    }
    provider.clock.advance(1_000);
    expect(await recover(id, at())).toEqual({ queued: 0 });
    expect(await recover(id, times[2])).toEqual({ queued: 1 });
    expect(await recover(id, times[1]?.replace('Z', '+00:00'))).toEqual({ queued: 1 });
    // An attempt ends a little after it began.
    expect(await recover(id, new Date(Date.parse(times[0] ?? '') + 999).toISOString())).toEqual({
      queued: 0,
    });
    expect(await recover(id, times[0]?.replace('Z', '000Z'))).toEqual({ queued: 1 });
    expect(await recover(id, '9999-12-31T23:59:59Z')).toEqual({ queued: 0 });
    expect(await recover(id, '0001-01-01T00:00:00Z')).toEqual({ queued: 0 });
  });

  it('counts each event once, and not at all when it was delivered since', async () => {
    const { provider, key, recover, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    const event = await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    for (let round = 0; round < 3; round += 1) {
      provider.clock.advance(1_000);
      expect(await recover(id)).toEqual({ queued: 1 });
      await provider.ostiary.worker.runDue();
    }
    expect(await deliveries(provider, key, id)).toMatchObject(
      Array.from({ length: 4 }, () => ({ eventId: event.id, status: 'dropped' })),
    );
    endpoint.answer = (response) => void response.writeHead(200).end();
    provider.clock.advance(1_000);
    await provider.partnerCall(key, `POST /v1/partner/events/${event.id}/redeliver`, {});
    await provider.ostiary.worker.runDue();
    expect((await deliveries(provider, key, id))[0]).toMatchObject({ status: 'delivered' });
    expect(await recover(id)).toEqual({ queued: 0 });
  });

  it('counts what was delivered again and cancelled before it left: it came to nothing', async () => {
    const { provider, key, recover, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    provider.clock.advance(1_000);
    expect(await recover(id)).toEqual({ queued: 1 });
    for (const enabled of [false, true])
      await provider.partnerCall(key, `PATCH /v1/partner/webhooks/${id}`, { enabled });
    expect(await recover(id)).toEqual({ queued: 1 });
    const statuses = (await deliveries(provider, key, id)).map(({ status }) => status);
    expect(statuses.sort()).toEqual(['cancelled', 'dropped', 'pending']);
  });

  it('queues each delivery once when twenty ask at the same time', async () => {
    const { provider, key, recover, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    for (let index = 0; index < 5; index += 1) await trigger(provider, key);
    // A worker sends a few at once to an endpoint that it does not know yet.
    for (let round = 0; round < 5; round += 1) await provider.ostiary.worker.runDue();
    const answers = await Promise.all(Array.from({ length: 20 }, () => recover(id)));
    expect(answers.map(({ queued }) => Number(queued)).reduce((sum, queued) => sum + queued)).toBe(5);
    expect(await deliveries(provider, key, id)).toHaveLength(10);
  });

  it('takes a thousand at a time, the longest dropped first', async () => {
    const storage = newStorage();
    const { provider, key, recover } = await shop({ storage });
    const id = await register(provider, key, nowhere);
    const { partner } = key;
    const now = provider.clock.now();
    const name = (index: number) => String(index).padStart(32, '0');
    const events = Array.from({ length: 1_003 }, (_, index) => ({
      partner,
      mode: 'test' as const,
      id: `evt_${name(index)}`,
      type: 'webhook.test',
      body: '{}',
      createdAt: now,
      deliveryId: `dl_${name(index)}`,
    }));
    await storage.events.publish(events, { idempotency: null, now });
    const claimed = await storage.deliveries.claim({
      claimId: 'c',
      now,
      leaseMs: 30_000,
      limit: 2_000,
      room: 2_000,
      rooms: new Map(),
    });
    expect(claimed).toHaveLength(1_003);
    const attempt = { number: 1, at: now, durationMs: 1, httpStatus: 500, error: 'status', response: '' };
    await storage.deliveries.finish(
      claimed.map((delivery) => ({
        id: delivery.id,
        claimId: delivery.claimId,
        attempt,
        next: { status: 'dropped' },
      })),
    );
    expect(await recover(id)).toEqual({ queued: 1_000 });
    expect(await recover(id)).toEqual({ queued: 3 });
    expect(await recover(id)).toEqual({ queued: 0 });
  });

  it('is not possible for an endpoint that is disabled, or somebody else’s', async () => {
    const { provider, key, ask, endpoint } = await shop({ storage: newStorage() });
    const id = await register(provider, key, endpoint.url);
    await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const stranger = await provider.key({ mode: 'test' });
    const live = await provider.key({ partner: key.partner });
    for (const by of [stranger, live])
      expect(blamed(await ask(id, undefined, by), 404, 'not_found')).toEqual([]);
    expect(blamed(await ask(noEndpoint), 404, 'not_found')).toEqual([]);
    await provider.partnerCall(key, `PATCH /v1/partner/webhooks/${id}`, { enabled: false });
    const disabled = await ask(id);
    expect(blamed(disabled)).toEqual([]);
    expect(disabled.json().message).toMatch(/disabled/);
    expect((await deliveries(provider, key, id)).map(({ status }) => status)).toEqual(['dropped']);
  });
});

describe('a request to recover', () => {
  it.each<readonly [string, unknown, readonly string[]]>([
    ['nothing', {}, ['since']],
    ['a day', { since: '2026-01-01' }, ['since']],
    ['a day that is none', { since: '2026-02-30T00:00:00Z' }, ['since']],
    ['a time without a zone', { since: '2026-01-01T00:00:00' }, ['since']],
    ['milliseconds', { since: 1_767_225_600_000 }, ['since']],
    ['null', { since: null }, ['since']],
    ['a member more', { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' }, ['until']],
  ])('since %s is refused', async (_name, body, paths) => {
    const { provider, key } = await shop();
    const id = await register(provider, key, nowhere);
    const answer = await provider.partnerCall(key, `POST /v1/partner/webhooks/${id}/recover`, body);
    expect(blamed(answer)).toEqual(paths);
  });

  it('answers a number and nothing else', async () => {
    const { provider, key, ask } = await shop();
    const answer = await ask(await register(provider, key, nowhere));
    expect([answer.status, answer.json() as Json]).toEqual([200, { queued: 0 }]);
  });
});
