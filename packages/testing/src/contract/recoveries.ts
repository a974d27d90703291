import assert from 'node:assert/strict';
import { assertSame, casesOf, inParallel } from './case.ts';
import { sampleClaim } from './partner-samples.ts';
import { now } from './samples.ts';
import {
  claim,
  claimedOne,
  dropped,
  finish,
  listed,
  published,
  queued,
  recover,
  redeliver,
  registered,
} from './webhook-samples.ts';

/**
 * Returns a text for each pending delivery, its own id and the id of its event, sorted by the delivery's id.
 */
async function waiting(...call: Parameters<typeof listed>): Promise<string[]> {
  const [storage, request] = call;
  const pending = await listed(storage, { ...request, status: 'pending' });
  return pending.map(({ id, eventId }) => `${id} ${eventId}`).toSorted();
}

export const recoveryCases = casesOf('recoveries', {
  'what was dropped at or after a moment is queued, the longest dropped first': async (storage) => {
    await registered(storage, 'a');
    for (const [label, at] of Object.entries({ third: 7, before: 4, second: 6, first: 5 })) {
      await dropped(storage, label, now + at);
    }
    assertSame(await recover(storage, 'we_a', 'r', { since: now + 5 }), queued('3 queued'));
    assertSame(await waiting(storage), ['dl_r_1 evt_first', 'dl_r_2 evt_second', 'dl_r_3 evt_third']);
    const [claimed] = await claim(storage, 'c', { limit: 1 });
    assertSame([claimed?.attempt, claimed?.dueAt], [1, now]);
  },

  'a delivery was dropped when its last attempt ended': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c');
    const attempt = { number: 1, at: now + 5, durationMs: 10, httpStatus: null, error: 'x', response: null };
    await storage.deliveries.finish([{ ...claimed, attempt, isCutOff: false, next: { status: 'dropped' } }]);
    assertSame(await recover(storage, 'we_a', 'r', { since: now + 16 }), queued('0 queued'));
    assertSame(await recover(storage, 'we_a', 's', { since: now + 15 }), queued('1 queued'));
  },

  'nothing is recovered twice': async (storage) => {
    await registered(storage, 'a');
    await dropped(storage, 'x');
    assertSame(await recover(storage, 'we_a', '1'), queued('1 queued'));
    assertSame(await recover(storage, 'we_a', '2'), queued('0 queued'));
    const again = await claimedOne(storage, 'c');
    assertSame(await recover(storage, 'we_a', '3'), queued('0 queued'), 'held is queued');
    await finish(storage, again, { status: 'delivered' });
    assertSame(await recover(storage, 'we_a', '4'), queued('0 queued'), 'delivered is delivered');
    assert.equal((await listed(storage)).length, 2);
  },

  'of an event that was dropped again only the last delivery counts': async (storage) => {
    await registered(storage, 'a');
    const { id } = await dropped(storage, 'x', now + 1);
    await redeliver(storage, id, 'again', { now: now + 2 });
    const again = await claimedOne(storage, 'c', { now: now + 2 });
    await finish(storage, again, { status: 'dropped' }, now + 3);
    assertSame(await recover(storage, 'we_a', 'r', { since: now + 4 }), queued('0 queued'));
    assertSame(await recover(storage, 'we_a', 's', { since: now + 1 }), queued('1 queued'));
  },

  'a later delivery that was cancelled came to nothing': async (storage) => {
    const endpoint = await registered(storage, 'a');
    const { id } = await dropped(storage, 'x');
    await redeliver(storage, id, 'again');
    await storage.webhooks.replace({ ...endpoint, enabled: false, version: 2 }, now);
    await storage.webhooks.replace({ ...endpoint, version: 3 }, now);
    assertSame(await recover(storage, 'we_a', 'r'), queued('1 queued'));
    assertSame(await waiting(storage), ['dl_r_1 evt_x']);
  },

  'what other endpoints lost or got does not count': async (storage) => {
    await registered(storage, 'a');
    await registered(storage, 'b');
    const { id } = await dropped(storage, 'x');
    await redeliver(storage, id, 'b', { endpointId: 'we_b' });
    for (const delivery of await claim(storage, 'c'))
      await finish(storage, delivery, { status: 'delivered' });
    assertSame(await recover(storage, 'we_b', 'rb'), queued('0 queued'));
    assertSame(await recover(storage, 'we_a', 'ra'), queued('1 queued'));
    assertSame(await waiting(storage, { endpointId: 'we_a' }), ['dl_ra_1 evt_x']);
  },

  'delivered and cancelled deliveries are left alone': async (storage) => {
    const endpoint = await registered(storage, 'a');
    await published(storage, 'delivered');
    for (const delivery of await claim(storage, 'c'))
      await finish(storage, delivery, { status: 'delivered' });
    await published(storage, 'cancelled');
    await storage.webhooks.replace({ ...endpoint, enabled: false, version: 2 }, now);
    await storage.webhooks.replace({ ...endpoint, version: 3 }, now);
    assertSame(await recover(storage, 'we_a', 'r'), queued('0 queued'));
  },

  'one call has a limit, and the next one goes on': async (storage) => {
    await registered(storage, 'a');
    for (let index = 0; index < 5; index += 1) await dropped(storage, `${index}`, now + index);
    assertSame(await recover(storage, 'we_a', 'r', { limit: 2 }), queued('2 queued'));
    assertSame(await recover(storage, 'we_a', 's', { limit: 2 }), queued('2 queued'));
    assertSame(await recover(storage, 'we_a', 't', { limit: 2 }), queued('1 queued'));
    assertSame(await waiting(storage), [
      'dl_r_1 evt_0',
      'dl_r_2 evt_1',
      'dl_s_1 evt_2',
      'dl_s_2 evt_3',
      'dl_t_1 evt_4',
    ]);
  },

  'of parallel calls each dropped delivery is queued by one': async (storage) => {
    await registered(storage, 'a');
    for (let index = 0; index < 10; index += 1) await dropped(storage, `${index}`, now + index);
    await inParallel(12, (index) => recover(storage, 'we_a', `r${index}`, { limit: 3 }));
    const pending = await listed(storage, { status: 'pending' });
    assert.equal(pending.length, 10);
    assert.equal(new Set(pending.map(({ eventId }) => eventId)).size, 10);
  },

  'the endpoint has to be the partner’s, and enabled': async (storage) => {
    const endpoint = await registered(storage, 'a');
    await dropped(storage, 'x');
    const idempotency = sampleClaim('key');
    const outcomeOf = async (id: string, changes: Parameters<typeof recover>[3] = {}) =>
      (await recover(storage, id, 'r', { idempotency, ...changes })).outcome;
    assert.equal(await outcomeOf('we_nobody'), 'unknown_endpoint');
    assert.equal(await outcomeOf('we_a', { partner: 'other' }), 'unknown_endpoint');
    assert.equal(await outcomeOf('we_a', { mode: 'test' }), 'unknown_endpoint');
    await storage.webhooks.replace({ ...endpoint, enabled: false, version: 2 }, now);
    assert.equal(await outcomeOf('we_a'), 'disabled_endpoint');
    await storage.webhooks.remove(endpoint, endpoint.id, now);
    assert.equal(await outcomeOf('we_a'), 'unknown_endpoint');
    assertSame(await waiting(storage), []);
    assert.equal(await storage.idempotency.find({ ...idempotency, now }), null, 'the key is free');
  },
});
