import assert from 'node:assert/strict';
import type { DeliveryRecord, Storage } from '@ostiary/core/storage';
import { assertSame, casesOf, inParallel } from './case.ts';
import { sampleClaim } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedOne,
  dropped,
  finish,
  listed,
  listedIds,
  published,
  queued,
  redeliver,
  registered,
  statuses,
} from './webhook-samples.ts';

/**
 * Stores the endpoints a, b and c, and an event whose deliveries were all dropped. Returns the event's id.
 */
async function lost(storage: Storage): Promise<string> {
  for (const label of ['a', 'b', 'c']) await registered(storage, label);
  return (await dropped(storage, 'x', now - minute)).id;
}

export const redeliveryCases = casesOf('redeliveries', {
  'an event goes again to every endpoint that matches now': async (storage) => {
    const eventId = await lost(storage);
    const [a] = await storage.webhooks.list({ partner: 'acme', mode: 'live' });
    assert.ok(a);
    await storage.webhooks.replace({ ...a, enabled: false, version: 2 }, now);
    await registered(storage, 'd', { events: ['payment.completed'] });
    await registered(storage, 'e', { events: ['kyc.updated'] });
    assertSame(await redeliver(storage, eventId, 'r'), queued('dl_r_1,dl_r_2,dl_r_3'));
    const again = await listed(storage, { eventId, status: 'pending' });
    assertSame(
      again.map(({ id, endpointId }) => `${endpointId} ${id}`),
      ['we_d dl_r_3', 'we_c dl_r_2', 'we_b dl_r_1'],
    );
    assertSame((await listed(storage, { status: 'dropped' })).length, 3, 'what was dropped stays dropped');
  },

  'a new delivery has the same event, is due now and counts its own attempts': async (storage) => {
    const { url, sealedSecret } = await registered(storage, 'a');
    const { id: eventId, type, body } = await published(storage, 'x', { body: '{"same": "bytes"}' });
    const first = await claimedOne(storage, 'c1');
    await finish(storage, first, { status: 'delivered' });
    await redeliver(storage, eventId, 'r', { now: now + 5 });
    const [delivery] = await listed(storage, { status: 'pending' });
    assertSame(delivery, {
      id: 'dl_r_1',
      partner: 'acme',
      mode: 'live',
      eventId,
      eventType: type,
      endpointId: 'we_a',
      status: 'pending',
      createdAt: now + 5,
      nextAttemptAt: now + 5,
      attempts: [],
    });
    assertSame(await claim(storage, 'early', { now: now + 4 }), []);
    const [claimed] = await claim(storage, 'c2', { now: now + 5 });
    assertSame(claimed, { ...first, id: 'dl_r_1', claimId: 'c2', dueAt: now + 5, body, url, sealedSecret });
  },

  'it can go to one endpoint, whatever its types are': async (storage) => {
    const eventId = await lost(storage);
    await registered(storage, 'd', { events: [] });
    assertSame(await redeliver(storage, eventId, 'r', { endpointId: 'we_d' }), queued('dl_r_1'));
    assertSame(await redeliver(storage, eventId, 's', { endpointId: 'we_b' }), queued('dl_s_1'));
    assertSame(await listedIds(storage, { status: 'pending' }), ['dl_s_1', 'dl_r_1']);
  },

  'a pending delivery stands for the new one, with what it has': async (storage) => {
    const eventId = await lost(storage);
    await redeliver(storage, eventId, 'r', { endpointId: 'we_b' });
    const held = await claimedOne(storage, 'c');
    assertSame(await redeliver(storage, eventId, 's', { endpointId: 'we_b' }), queued('dl_r_1'), 'held');
    await finish(storage, held, { status: 'pending', dueAt: now + minute });
    const shown: DeliveryRecord[] = [];
    const answer = (deliveries: readonly DeliveryRecord[]) => {
      shown.push(...deliveries);
      return { status: 202, body: '' };
    };
    await redeliver(storage, eventId, 't', { answer });
    const stored = await Promise.all(
      ['we_a', 'we_b', 'we_c'].map((endpointId) => listed(storage, { endpointId, status: 'pending' })),
    );
    assertSame(shown.slice(-3), stored.flat());
    assertSame(
      stored.flat().map(({ id, attempts, nextAttemptAt }) => [id, attempts.length, nextAttemptAt]),
      [
        ['dl_t_1', 0, now],
        ['dl_r_1', 1, now + minute],
        ['dl_t_2', 0, now],
      ],
    );
  },

  'of parallel requests one makes a delivery, and all answer with it': async (storage) => {
    const eventId = await lost(storage);
    const answers = await inParallel(20, (index) =>
      redeliver(storage, eventId, `${index}`, { endpointId: index % 2 === 0 ? 'we_a' : null }),
    );
    const pending = await listed(storage, { status: 'pending' });
    assertSame(new Set(pending.map(({ endpointId }) => endpointId)), new Set(['we_a', 'we_b', 'we_c']));
    assert.equal(pending.length, 3);
    const ids = new Set(pending.map(({ id }) => id));
    for (const answer of answers) {
      assert.equal(answer.outcome, 'queued');
      if (answer.outcome !== 'queued') continue;
      for (const id of answer.answer.body.split(',')) assert.ok(ids.has(id), id);
    }
  },

  'the event, then the endpoint, have to be the partner’s': async (storage) => {
    const eventId = await lost(storage);
    await registered(storage, 'test', { mode: 'test' });
    await published(storage, 'test', { mode: 'test' });
    await registered(storage, 'off', { enabled: false });
    const before = await statuses(storage);
    const claimed = sampleClaim('key');
    const outcomeOf = async (event: string, endpointId: string | null) =>
      (await redeliver(storage, event, 'r', { endpointId, idempotency: claimed })).outcome;
    assert.equal(await outcomeOf('evt_nobody', null), 'unknown_event');
    assert.equal(await outcomeOf('evt_nobody', 'we_nobody'), 'unknown_event');
    assert.equal(await outcomeOf('evt_test', null), 'unknown_event');
    assert.equal(await outcomeOf(eventId, 'we_nobody'), 'unknown_endpoint');
    assert.equal(await outcomeOf(eventId, 'we_test'), 'unknown_endpoint');
    assert.equal(await outcomeOf(eventId, ''), 'unknown_endpoint');
    assert.equal(await outcomeOf(eventId, 'we_off'), 'disabled_endpoint');
    for (const owner of [{ partner: 'other' }, { mode: 'test' }] as const) {
      assert.equal((await redeliver(storage, eventId, 'r', owner)).outcome, 'unknown_event');
    }
    assertSame(await statuses(storage), before);
    assert.equal(await storage.idempotency.find({ ...claimed, now }), null, 'the key is free');
  },

  'it can match nobody': async (storage) => {
    const { id } = await published(storage, 'x');
    assertSame(await redeliver(storage, id, 'r'), queued(''));
    assertSame(await listed(storage), []);
  },

  'an answer that cannot be given leaves nothing behind': async (storage) => {
    const eventId = await lost(storage);
    const idempotency = sampleClaim('key');
    const answer = () => {
      throw new RangeError('no answer');
    };
    await assert.rejects(() => redeliver(storage, eventId, 'r', { idempotency, answer }));
    assertSame(await listed(storage, { status: 'pending' }), []);
    assert.equal(await storage.idempotency.find({ ...idempotency, now }), null);
    assertSame(await redeliver(storage, eventId, 'r', { idempotency }), queued('dl_r_1,dl_r_2,dl_r_3'));
  },
});
