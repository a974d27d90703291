import { expect, it } from 'vitest';
import { answering, secret, shop } from '../partner/webhook-shop.ts';

/** Creates a partner with an endpoint, and returns the administrative calls for webhooks. */
async function scene() {
  const given = await shop({ webhooks: { retryDelaysSeconds: [60] } });
  const { provider, key } = given;
  const endpoint = await answering(204);
  const id = await given.register(endpoint.url, { events: ['*'] });
  const { webhooks, audit } = provider.ostiary.admin;
  return { ...given, owner: { partner: key.partner, mode: key.mode }, endpoint, id, webhooks, audit };
}

it('operators see endpoints without their secrets, disable them with what waits for them, and remove them', async () => {
  const { owner, id, endpoint, webhooks, trigger, work } = await scene();
  const list = await webhooks.list(owner);
  expect(list).toMatchObject([{ id, url: endpoint.url, events: ['*'], enabled: true, ...owner }]);
  expect(JSON.stringify(list)).not.toContain(secret);
  expect(await webhooks.list({ ...owner, mode: 'live' })).toEqual([]);

  await trigger();
  expect(await webhooks.disable(owner, id)).toMatchObject({ enabled: false });
  await work();
  expect(endpoint.received).toHaveLength(0);
  expect((await webhooks.deliveries(owner)).deliveries).toMatchObject([{ status: 'cancelled' }]);
  await webhooks.enable(owner, id);
  await trigger();
  await work();
  expect(endpoint.received).toHaveLength(1);

  await webhooks.remove(owner, id);
  expect(await webhooks.list(owner)).toEqual([]);
  const gone = { code: 'endpoint_not_found' };
  await expect(webhooks.remove(owner, id)).rejects.toMatchObject(gone);
  await expect(webhooks.recover(owner, id, { since: new Date(0) })).rejects.toMatchObject(gone);
  await expect(webhooks.recover(owner, id, { since: new Date('soon') })).rejects.toThrow(TypeError);
});

it('operators have an event delivered again, and what was missed', async () => {
  const { provider, owner, id, endpoint, webhooks, audit, trigger, work } = await scene();
  const eventId = String((await trigger()).id);
  endpoint.answer = (response) => void response.writeHead(500).end();
  await work();
  provider.clock.advance(60_000);
  await work();
  const attempts = [{ httpStatus: 500 }, { httpStatus: 500 }];
  const { deliveries } = await webhooks.deliveries(owner, { status: 'dropped' });
  expect(deliveries).toMatchObject([{ eventId, endpointId: id, attempts }]);
  expect(await webhooks.recover(owner, id, { since: new Date(0) })).toBe(1);
  await work();
  endpoint.answer = (response) => void response.writeHead(204).end();
  provider.clock.advance(60_000);
  await work();
  expect(await webhooks.redeliver(owner, eventId)).toMatchObject([{ eventId, status: 'pending' }]);
  await work();
  expect(endpoint.received.map(({ headers }) => headers['x-svc-eventid'])).toEqual(Array(5).fill(eventId));
  const { entries } = await audit.list({ target: `event:${eventId}` });
  expect(entries.map(({ action }) => action)).toEqual(['event.redeliver']);
});

it('operators page through deliveries', async () => {
  const { owner, webhooks, trigger } = await scene();
  for (let count = 0; count < 5; count += 1) await trigger();
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await webhooks.deliveries(owner, { limit: 2, ...(after !== '' && { after }) });
    seen.push(...page.deliveries.map(({ id }) => id));
    after = page.next;
  }
  expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
});

it('operators read events by their numbers, the newest or those after one', async () => {
  const { owner, webhooks, trigger } = await scene();
  expect(webhooks.eventTypes).toContain('webhook.test');
  expect(await webhooks.events(owner)).toEqual([]);
  const ids: unknown[] = [];
  for (let count = 0; count < 3; count += 1) ids.push((await trigger()).id);
  const numbers = async (request?: Parameters<typeof webhooks.events>[1]) =>
    (await webhooks.events(owner, request)).map(({ id, sequence }) => [ids.indexOf(id) + 1, sequence]);
  expect(await numbers()).toEqual([1, 2, 3].map((number) => [number, number]));
  expect(await numbers({ limit: 2 })).toEqual([2, 3].map((number) => [number, number]));
  expect(await numbers({ after: 1, limit: 1 })).toEqual([[2, 2]]);
  expect((await webhooks.events(owner))[0]).toEqual({
    ...{ id: ids[0], type: 'webhook.test', sequence: 1 },
    ...{ createdAt: expect.stringMatching(/Z$/), data: { message: expect.any(String) } },
  });
  expect(await webhooks.events({ ...owner, mode: 'live' })).toEqual([]);
  await expect(webhooks.events(owner, { limit: 501 })).rejects.toThrow(TypeError);
});

it('operators page through endpoints with the longest URLs', async () => {
  const { provider, owner, endpoint, webhooks, register } = await scene();
  const { origin } = new URL(endpoint.url);
  for (let count = 0; count < 3; count += 1)
    await register(`${origin}/${count}${'x'.repeat(2_048 - origin.length - 2)}`);
  const request = { mode: owner.mode, partner: owner.partner, limit: 1 };
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await webhooks.sorted({ ...request, ...(after !== '' && { after }) });
    seen.push(...page.rows.map(({ url }) => url));
    after = page.next;
  }
  expect(new Set(seen).size).toBe(4);
  expect(provider.errors).toEqual([]);
});
