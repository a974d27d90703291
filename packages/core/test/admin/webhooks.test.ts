import { describe, expect, it } from 'vitest';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import { register, secret, trigger, webhookProvider } from '../webhooks/support/webhook-provider.ts';

/** A partner with an endpoint, as an operator sees it. */
async function scene() {
  const { provider } = await webhookProvider({ webhooks: { retryDelaysSeconds: [60] } });
  const key = await provider.key({ mode: 'test' });
  const owner = { partner: key.partner, mode: key.mode };
  const endpoint: Sink = await sink();
  const id = await register(provider, key, endpoint.url);
  const { webhooks, audit } = provider.ostiary.admin;
  const send = async () => {
    const { id: eventId } = await trigger(provider, key);
    return String(eventId);
  };
  const work = () => provider.ostiary.worker.runDue();
  return { provider, owner, endpoint, id, webhooks, audit, send, work };
}

describe('webhooks of partners, for operators', () => {
  it('are listed without their secrets', async () => {
    const { owner, id, endpoint, webhooks } = await scene();
    const list = await webhooks.list(owner);
    expect(list).toMatchObject([{ id, url: endpoint.url, events: ['*'], enabled: true, ...owner }]);
    expect(JSON.stringify(list)).not.toContain(secret);
    expect(await webhooks.list({ ...owner, mode: 'live' })).toEqual([]);
  });

  it('are disabled with what waits for them, and enabled again', async () => {
    const { owner, id, endpoint, webhooks, send, work } = await scene();
    await send();
    expect(await webhooks.disable(owner, id)).toMatchObject({ enabled: false });
    await work();
    expect(endpoint.received).toHaveLength(0);
    expect((await webhooks.deliveries(owner)).deliveries.map(({ status }) => status)).toEqual(['cancelled']);
    await webhooks.enable(owner, id);
    await send();
    await work();
    expect(endpoint.received).toHaveLength(1);
  });

  it('get an event again, and what they missed', async () => {
    const { provider, owner, id, endpoint, webhooks, audit, send, work } = await scene();
    const eventId = await send();
    endpoint.answer = (response) => void response.writeHead(500).end();
    await work();
    provider.clock.advance(60_000);
    await work();
    const { deliveries } = await webhooks.deliveries(owner, { status: 'dropped' });
    expect(deliveries).toMatchObject([{ eventId, endpointId: id }]);
    expect(deliveries[0]?.attempts.map(({ httpStatus }) => httpStatus)).toEqual([500, 500]);

    endpoint.answer = (response) => void response.writeHead(204).end();
    expect(await webhooks.recover(owner, id, { since: new Date(0) })).toBe(1);
    await work();
    expect(await webhooks.redeliver(owner, eventId)).toMatchObject([{ eventId, status: 'pending' }]);
    await work();
    expect(endpoint.received).toHaveLength(4);
    const ids = endpoint.received.map(({ headers }) => headers['x-svc-eventid']);
    expect(new Set(ids)).toEqual(new Set([eventId]));
    const { entries } = await audit.list({ target: `event:${eventId}` });
    expect(entries.map(({ action }) => action)).toEqual(['event.redeliver']);
  });

  it('page through deliveries', async () => {
    const { owner, webhooks, send } = await scene();
    for (let count = 0; count < 5; count += 1) await send();
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await webhooks.deliveries(owner, { limit: 2, ...(after !== '' && { after }) });
      seen.push(...page.deliveries.map(({ id }) => id));
      after = page.next;
    }
    expect(new Set(seen).size).toBe(5);
    expect(seen).toHaveLength(5);
  });

  it('are removed', async () => {
    const { owner, id, webhooks } = await scene();
    await webhooks.remove(owner, id);
    expect(await webhooks.list(owner)).toEqual([]);
    await expect(webhooks.remove(owner, id)).rejects.toMatchObject({ code: 'endpoint_not_found' });
    await expect(webhooks.recover(owner, id, { since: new Date(0) })).rejects.toMatchObject({
      code: 'endpoint_not_found',
    });
    await expect(webhooks.recover(owner, id, { since: new Date('soon') })).rejects.toThrow(TypeError);
  });
});
