import assert from 'node:assert/strict';
import { assertSame, casesOf } from './case.ts';
import { sampleApiKey, sampleEvent, samplePartner } from './partner-samples.ts';
import { sampleRequest } from './request-log.ts';
import { now } from './samples.ts';
import { sampleEndpoint } from './webhook-samples.ts';

/** Test cases of look-ups by operators, which find objects of any partner. */
export const lookUpCases = casesOf('look-ups', {
  'an endpoint, an event, its delivery and a request are found by their ids alone': async (storage) => {
    const { partners, webhooks, events, deliveries, requestLog } = storage;
    await partners.insert(samplePartner());
    const endpoint = sampleEndpoint('a');
    assert.equal((await webhooks.create({ endpoint, idempotency: null, max: 1, now })).outcome, 'created');
    await events.publish([sampleEvent('a')], { idempotency: null, now });
    const request = sampleRequest('a');
    await requestLog.append([request], 10);
    const [delivery] = await deliveries.list({
      ...{ partner: 'acme', mode: 'live', endpointId: null, eventId: null, status: null },
      ...{ after: null, limit: 1 },
    });
    assert.notEqual(delivery, undefined);
    assertSame(await webhooks.findById(endpoint.id), endpoint);
    assert.equal((await events.findById('evt_a'))?.partner, 'acme');
    assertSame(await deliveries.findById(delivery?.id ?? ''), delivery);
    assertSame(await requestLog.findById('a'), request);
    for (const store of [webhooks, events, deliveries, requestLog])
      assert.equal(await store.findById('unknown'), null);
  },

  'an API key is found by its beginning, whoever owns it': async ({ partners, apiKeys }) => {
    for (const slug of ['acme', 'other']) await partners.insert(samplePartner({ slug }));
    const starts = ['svc_live_ABCDabcd', 'svc_live_ABCDabce', 'svc_live_abcdABCD', 'svc_test_ABCDabcd'];
    for (const [index, start] of starts.entries())
      await apiKeys.insert(sampleApiKey(String(index), { start, partner: index === 0 ? 'acme' : 'other' }));
    const found = async (text: string, limit = 10) =>
      (await apiKeys.startingWith(text, limit)).map(({ start }) => start);
    assertSame(await found('svc_live_ABCD'), starts.slice(0, 2));
    assertSame(await found('svc_live_ABCDabcd'), starts.slice(0, 1));
    assertSame(await found('svc_'), starts);
    assertSame(await found('svc_live_', 1), starts.slice(0, 1));
    assertSame(await found('svc_live_ABCDabcdE'), []);
    assertSame(await found('svc_live_%'), []);
  },
});
