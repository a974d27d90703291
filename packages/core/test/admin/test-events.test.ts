import { expect, it } from 'vitest';
import { answering, shop } from '../partner/webhook-shop.ts';

/**
 * Starts a service with a partner and an endpoint in each mode (live and test), and returns the
 * administrative calls for webhooks.
 */
async function scene() {
  const given = await shop();
  const { provider, key, register } = given;
  const [test, live] = [await answering(204), await answering(204)];
  await register(test.url, { events: ['*'] });
  const liveKey = await provider.key({ partner: key.partner, mode: 'live' });
  await register(live.url, { events: ['*'] }, liveKey);
  const { webhooks, audit } = provider.ostiary.admin;
  const triggered = async () => (await audit.list({ action: 'event.trigger' })).entries;
  return { ...given, partner: key.partner, test, live, webhooks, triggered };
}

it('an operator sends the example of a type to the test endpoints of a partner, and to no live one', async () => {
  const { now, partner, test, live, webhooks, work, triggered } = await scene();
  const event = await webhooks.trigger(partner, 'payment.completed');
  expect(event).toMatchObject({ type: 'payment.completed', createdAt: now() });
  expect(Object.keys(event.data)).not.toEqual([]);
  await work();
  expect(test.received.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
    { id: event.id, type: event.type, data: event.data },
  ]);
  expect(live.received).toEqual([]);
  expect(await triggered()).toMatchObject([
    { target: `event:${event.id}`, details: { partner, type: 'payment.completed' } },
  ]);
});

it('an operator chooses the data of a test event', async () => {
  const { partner, test, webhooks, work } = await scene();
  const { data } = await webhooks.trigger(partner, 'webhook.test', { message: 'Bonjou' });
  expect(data).toMatchObject({ message: 'Bonjou' });
  await work();
  expect(JSON.parse(String(test.received[0]?.body)).data).toEqual(data);
});

it('a test event for an unknown partner, of an unknown type or with wrong data is refused and not recorded', async () => {
  const { partner, test, webhooks, work, triggered } = await scene();
  await expect(webhooks.trigger('nobody', 'webhook.test')).rejects.toMatchObject({
    code: 'partner_not_found',
  });
  await expect(webhooks.trigger(partner, 'payment.lost')).rejects.toThrow(
    /^type: there is no payment\.lost; there are .*webhook\.test/,
  );
  const wrong = webhooks.trigger(partner, 'payment.completed', { amount: 7 });
  await expect(wrong).rejects.toThrow(TypeError);
  await expect(wrong).rejects.toThrow(/^data: /);
  await work();
  expect(test.received).toEqual([]);
  expect(await triggered()).toEqual([]);
});

it('a test event that cannot be stored is not recorded', async () => {
  const { database, partner, webhooks, triggered } = await scene();
  database.breakWhen((call) => call === 'events.publish');
  await expect(webhooks.trigger(partner, 'webhook.test')).rejects.toBe(database.error);
  database.breakWhen(null);
  expect(await triggered()).toEqual([]);
});
