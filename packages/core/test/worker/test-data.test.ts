import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { Storage } from '../../src/storage.ts';
import { answering, shop } from '../partner/webhook-shop.ts';
import { payment, storages, testPayment } from '../support/partner-api.ts';

const day = 24 * 3600_000;
const minute = 60_000;
const rowBytes = 512;
const mebibyte = 1024 * 1024;

/** Starts a provider with a partner, and returns functions that store the partner's events and run the purge. */
async function sandbox(storage: Storage) {
  const { provider, key, call, work } = await shop({ storage });
  const { clock } = provider;
  const { partner } = key;
  const live = await provider.key({ partner });
  let number = 0;

  async function publish(bodies: readonly string[], mode: 'test' | 'live' = 'test', createdAt = clock.now()) {
    const events = bodies.map((body) => {
      number += 1;
      return { partner, mode, id: `evt_${number}`, type: 'x', body, createdAt, deliveryId: `dl_${number}` };
    });
    await storage.events.publish(events, { idempotency: null, now: clock.now() });
  }
  /** Returns the sequence numbers of the oldest and the newest event, as the API returns them. */
  async function ends(of = key) {
    const { oldestSequence, newestSequence } = (
      await call('GET /v1/partner/events?after=0&limit=1', undefined, of)
    ).json();
    return [oldestSequence, newestSequence];
  }
  async function purge(afterMs = 10 * minute) {
    clock.advance(afterMs);
    await work();
  }
  await work();
  return { clock, live, publish, ends, purge };
}

const times = (count: number, body = '{}') => Array.from({ length: count }, () => body);

it.each(storages)(
  'a partner keeps 10,000 events of test mode, and all of live mode, on %s',
  async (_, open) => {
    const { live, publish, ends, purge } = await sandbox(open());
    await publish(times(10_000));
    await publish(times(10_001), 'live');
    await purge();
    expect(await ends()).toEqual([1, 10_000]);
    await publish(times(3));
    await purge();
    expect(await ends()).toEqual([4, 10_003]);
    expect(await ends(live)).toEqual([1, 10_001]);
  },
);

it.each(storages)('an event of test mode is kept for seven days, on %s', async (_, open) => {
  const { clock, live, publish, ends, purge } = await sandbox(open());
  const at = clock.now();
  await publish(times(1), 'live', at);
  await publish(times(2), 'test', at);
  await publish(times(1), 'test', at + 1);
  await purge(7 * day);
  expect(await ends()).toEqual([1, 3]);
  await purge(10 * minute);
  expect(await ends()).toEqual([null, 3]);
  expect(await ends(live)).toEqual([1, 1]);
});

it.each(storages)('a partner keeps 65 MiB of events of test mode, on %s', async (_, open) => {
  const { live, publish, ends, purge } = await sandbox(open());
  const whole = JSON.stringify({ x: 'x'.repeat(mebibyte - rowBytes - 8) });
  expect(whole).toHaveLength(mebibyte - rowBytes);
  await publish(times(2, whole), 'live');
  await publish(times(65, whole));
  await purge();
  expect(await ends()).toEqual([1, 65]);
  await publish(['{}']);
  await purge();
  expect(await ends()).toEqual([2, 66]);
  expect(await ends(live)).toEqual([1, 2]);
});

it('after a purge that found too much the next one comes a minute later', async () => {
  const { publish, ends, purge } = await sandbox(memoryStorage());
  await publish(times(10_001));
  await purge();
  await publish(times(1));
  await purge(minute - 1);
  expect(await ends()).toEqual([2, 10_002]);
  await purge(1);
  expect(await ends()).toEqual([3, 10_002]);
  await purge(minute);
  await publish(times(1));
  await purge(10 * minute - 1);
  expect(await ends()).toEqual([3, 10_003]);
  await purge(1);
  expect(await ends()).toEqual([4, 10_003]);
});

it.each(storages)(
  'a running worker removes events beyond a bound with their deliveries, on %s',
  async (_, open) => {
    const storage = open();
    const { provider, key, register, trigger, list, statuses, now } = await shop({ storage });
    const endpoint = await answering(200, 'thanks');
    const id = await register(endpoint.url);
    provider.ostiary.worker.start();
    const old = await trigger();
    await vi.waitFor(async () => expect(await statuses(id)).toEqual(['delivered']), patient);
    provider.clock.advance(7 * day + minute);
    expect(now()).not.toBe(old.createdAt);
    const young = await trigger();
    await vi.waitFor(async () => {
      // The purge may still run that began before the clock went on, and the next one comes minutes later.
      provider.clock.advance(minute);
      expect((await list('/v1/partner/events')).map((event) => event.id)).toEqual([young.id]);
    }, patient);
    const owner = { partner: key.partner, mode: 'test' } as const;
    const filter = { endpointId: null, status: null, after: null, limit: 10, eventId: String(old.id) };
    expect(await storage.deliveries.list({ ...owner, ...filter })).toEqual([]);
  },
);

it.each(storages)('a payment of test mode is kept for seven days, on %s', async (_, open) => {
  const { provider, key, call, work } = await shop({ storage: open() });
  const live = await provider.key({ partner: key.partner });
  await work();
  const pay = async (body: object, by = key) => {
    const answer = await call('POST /v1/partner/payments', body, by);
    expect(answer.status).toBe(201);
    return answer.json().id;
  };
  const statusOf = async (id: unknown, by = key) =>
    (await call(`GET /v1/partner/payments/${id}`, undefined, by)).status;
  const [id, ofLive] = [await pay(testPayment), await pay(payment, live)];
  await work();
  provider.clock.advance(7 * day);
  await work();
  expect(await statusOf(id)).toBe(200);
  provider.clock.advance(10 * minute);
  await work();
  expect([await statusOf(id), await statusOf(ofLive, live)]).toEqual([404, 200]);
});

it.each(storages)('what requests of a test key leave behind is bounded, on %s', async (_, open) => {
  const storage = open();
  const { provider, key, work } = await shop({ storage });
  const metadata = Object.fromEntries(times(20).map((_text, index) => [`key ${index}`, 'x'.repeat(500)]));
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  const kept = Math.floor((10 * mebibyte) / bytes);
  /** Stores payments with the responses to their idempotency keys, and their logged requests. */
  async function pay(mode: 'test' | 'live', count: number): Promise<void> {
    const owner = { partner: key.partner, mode } as const;
    for (let number = 1; number <= count; number += 1) {
      const now = provider.clock.now() + number;
      const [id, name] = [`tr_${mode}_${number}`, `${number}`];
      const body = 'x'.repeat(bytes - name.length);
      await storage.transfers.create({
        transfer: {
          ...{ ...owner, id, status: 'completed', amount: 100n, currency: 'HTG', recipientKid: 'kid' },
          ...{ description: null, reference: null, metadata, failure: null },
          ...{ createdAt: now, updatedAt: now, completedAt: now },
        },
        idempotency: {
          ...{ ...owner, key: name, fingerprint: Buffer.alloc(32), answer: { status: 201, body } },
          endsAt: now + day,
        },
        job: { id, kind: 'none', payload: {}, dueAt: now },
        now,
      });
      await storage.requestLog.append(
        [
          {
            ...{ ...owner, id: `req_${mode}_${number}`, keyId: key.id, createdAt: now, durationMs: 1 },
            ...{ method: 'POST', route: '/v1/partner/payments', status: 201, code: null },
            ...{ sent: body, answered: name },
          },
        ],
        5_000,
      );
    }
  }
  await work();
  await pay('test', kept + 3);
  await pay('live', kept + 3);
  provider.clock.advance(10 * minute);
  await work();
  for (const [mode, first] of [
    ['test', 4],
    ['live', 1],
  ] as const) {
    const owner = { partner: key.partner, mode } as const;
    const remains = async (number: number) => [
      (await storage.transfers.find(owner, `tr_${mode}_${number}`)) !== null,
      (await storage.idempotency.find({ ...owner, key: `${number}`, now: provider.clock.now() })) !== null,
      (await storage.requestLog.find(owner, `req_${mode}_${number}`)) !== null,
    ];
    expect(await remains(first)).toEqual([true, true, true]);
    if (first > 1) expect(await remains(first - 1)).toEqual([false, false, false]);
  }
});

it.each(storages)('a partner keeps 5 MiB of requests in inboxes, for 7 days, on %s', async (_, open) => {
  const storage = open();
  const { provider, key, work } = await shop({ storage });
  const other = await provider.key({ mode: 'test' });
  const body = 'x'.repeat(mebibyte / 2 - 2);
  let number = 0;
  async function arrive(partner: string, endpointId: string): Promise<void> {
    number += 1;
    const receivedAt = provider.clock.now() + number;
    const request = { id: `in_${number}`, partner, mode: 'test', endpointId, receivedAt } as const;
    await storage.inbox.add({ ...request, headers: [], body, signatureError: null, answer: null }, 50);
  }
  const kept = async (partner: string, endpointId: string) =>
    (await storage.inbox.list({ partner, mode: 'test', endpointId, limit: 100 })).length;
  await work();
  for (let count = 0; count < 6; count += 1) {
    await arrive(key.partner, 'we_a');
    await arrive(key.partner, 'we_b');
    await arrive(other.partner, 'we_c');
  }
  provider.clock.advance(10 * minute);
  await work();
  expect([await kept(key.partner, 'we_a'), await kept(key.partner, 'we_b')]).toEqual([5, 5]);
  expect(await kept(other.partner, 'we_c')).toBe(6);
  provider.clock.advance(7 * day);
  await work();
  expect([await kept(key.partner, 'we_a'), await kept(other.partner, 'we_c')]).toEqual([0, 0]);
});
