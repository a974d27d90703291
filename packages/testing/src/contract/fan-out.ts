import assert from 'node:assert/strict';
import { assertSame, casesOf } from './case.ts';
import { sampleEvent } from './partner-samples.ts';
import { now } from './samples.ts';
import { listed, listedIds, published, registered, statuses } from './webhook-samples.ts';

export const fanOutCases = casesOf('fan-out', {
  'a delivery is pending and due at the time of its event': async (storage) => {
    const { id: endpointId } = await registered(storage, 'a');
    const { id: eventId } = await published(storage, 'a', { type: 'kyc.updated', createdAt: now - 7 });
    const delivery = {
      id: 'dl_a_1',
      partner: 'acme',
      mode: 'live',
      eventId,
      eventType: 'kyc.updated',
      endpointId,
      status: 'pending',
      createdAt: now - 7,
      nextAttemptAt: now - 7,
      attempts: [],
    };
    assertSame(await listed(storage), [delivery]);
  },

  'every endpoint that wants the type gets one, numbered in the order of the ids': async (storage) => {
    const labels = ['b', 'Z', 'a', '9', '10', 'a-'];
    for (const [index, label] of labels.entries()) {
      const events = index % 2 === 0 ? ['*'] : ['kyc.updated', 'payment.completed'];
      await registered(storage, label, { events, createdAt: now - index });
    }
    await published(storage, 'x');
    const deliveries = Object.fromEntries(
      (await listed(storage)).map(({ id, endpointId }) => [endpointId, id]),
    );
    const sorted = labels.map((label) => `we_${label}`).toSorted();
    assertSame(deliveries, Object.fromEntries(sorted.map((id, index) => [id, `dl_x_${index + 1}`])));
  },

  'nobody else gets one': async (storage) => {
    const others = {
      disabled: { enabled: false },
      'other partner': { partner: 'other' },
      'other mode': { mode: 'test' },
      'no type': { events: [] },
      'other type': { events: ['payment.failed', 'kyc.updated'] },
      'other case': { events: ['Payment.completed'] },
      'a part of it': { events: ['payment', 'completed', 'payment.complete', 'ayment.completed'] },
      'more than it': { events: ['payment.completed.twice', 'x.payment.completed'] },
      quoted: { events: ['"payment.completed"', 'a","payment.completed","b'] },
      pattern: { events: ['payment.*', 'payment%', '**', ' *', 'payment_completed'] },
    } as const;
    for (const [label, changes] of Object.entries(others)) await registered(storage, label, changes);
    await published(storage, 'x');
    for (const owner of [{}, { mode: 'test' }, { partner: 'other' }] as const) {
      assertSame(await listed(storage, owner), []);
    }
    await registered(storage, 'mine', { events: ['payment.completed'] });
    await published(storage, 'y');
    assertSame(await listedIds(storage), ['dl_y_1']);
  },

  'types are compared as they are': async (storage) => {
    const types = ['a.b', 'A.B', 'a_b', "a'b", 'a"b', 'a\\b', 'é', 'e\u0301', '日本', '%'];
    for (const [index, type] of types.entries()) {
      await registered(storage, `${index}`, { events: ['padding', type, 'more "padding"'] });
    }
    for (const [index, type] of types.entries()) await published(storage, `${index}`, { type });
    const pairs = (await listed(storage)).map(({ endpointId, eventId }) => [endpointId, eventId]);
    assertSame(new Set(pairs.map(String)), new Set(types.map((_, index) => `we_${index},evt_${index}`)));
  },

  'events go to the endpoints that are there when they are published': async (storage) => {
    const endpoint = await registered(storage, 'a', { events: ['kyc.updated'] });
    await published(storage, '1');
    await storage.webhooks.replace({ ...endpoint, events: ['*'], version: 2 }, now);
    await published(storage, '2');
    await storage.webhooks.replace({ ...endpoint, enabled: false, version: 3 }, now);
    await published(storage, '3');
    await storage.webhooks.replace({ ...endpoint, events: ['payment.completed'], version: 4 }, now);
    await published(storage, '4');
    await storage.webhooks.remove(endpoint, endpoint.id, now);
    await published(storage, '5');
    assertSame(new Set(await listedIds(storage)), new Set(['dl_2_1', 'dl_4_1']));
  },

  'the events of one call have deliveries of their own': async (storage) => {
    await registered(storage, 'a');
    await registered(storage, 'test', { mode: 'test' });
    const events = [sampleEvent('1'), sampleEvent('2', { mode: 'test' }), sampleEvent('3')];
    await storage.events.publish(events, { idempotency: null, now });
    assertSame(new Set(await listedIds(storage)), new Set(['dl_1_1', 'dl_3_1']));
    assertSame(await listedIds(storage, { mode: 'test' }), ['dl_2_1']);
  },

  'a change that is refused, and one that disables nothing, cancel nothing': async (storage) => {
    const endpoint = await registered(storage, 'a');
    await published(storage, 'x');
    const { replace, remove } = storage.webhooks;
    assert.equal(await replace({ ...endpoint, enabled: false, version: 3 }, now), false);
    assert.equal(await replace({ ...endpoint, partner: 'other', enabled: false, version: 2 }, now), false);
    assert.equal(await remove({ partner: 'acme', mode: 'test' }, endpoint.id, now), false);
    assert.equal(await replace({ ...endpoint, events: [], version: 2 }, now), true);
    assertSame(await statuses(storage), { dl_x_1: 'pending' });
  },
});
