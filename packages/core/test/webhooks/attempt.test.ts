import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { secret, shop, webhookProvider } from '../partner/webhook-shop.ts';
import { TestClock } from '../support/provider.ts';
import { quiet } from '../worker/workshop.ts';
import { answered, byHand, depot } from './support/depot.ts';
import { sink } from './support/sink.ts';

const minute = 60_000;

it('five attempts are made, 1, 5, 30 and 120 minutes after the end of the one before, across restarts', async () => {
  // A restart finds the delivery again.
  const storage = { ...memoryStorage(), close: async () => {} };
  const clock = new TestClock();
  const shared = { storage, clock, sealingKeys: [randomBytes(32)] };
  const { provider: first, register, trigger, deliveries } = await shop(shared);
  const endpoint = await sink(() => clock.now());
  // The endpoint takes two seconds to refuse, because waits begin at the end of an attempt.
  endpoint.answer = (response) => {
    clock.advance(2_000);
    response.writeHead(503, { 'content-type': 'text/plain' }).end('not today');
  };
  const endpointId = await register(endpoint.url);
  const event = await trigger();

  let provider = first;
  const waits = [0, 1 * minute, 5 * minute, 30 * minute, 120 * minute];
  for (const [index, wait] of waits.entries()) {
    // A new process makes each attempt.
    await provider.ostiary.worker.stop();
    ({ provider } = await webhookProvider(shared));
    if (wait > 0) {
      clock.advance(wait - 1);
      await provider.ostiary.worker.runDue();
      expect(endpoint.received).toHaveLength(index);
      clock.advance(1);
    }
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(index + 1);
    const attempt = endpoint.received[index];
    if (attempt === undefined) throw new Error('not received');
    const verified = await verify(attempt.body, attempt.headers, { secret, now: () => attempt.at });
    expect(verified).toMatchObject({ id: event.id, attempt: index + 1, type: 'webhook.test' });
    expect(attempt.body.equals(endpoint.received[0]?.body ?? Buffer.alloc(0))).toBe(true);
    // The signature has the time of this attempt, not of the first one.
    expect(Number(attempt.headers['x-svc-timestamp'])).toBe(Math.floor(attempt.at / 1000));
  }
  // Test mode keeps deliveries for seven days.
  clock.advance(6 * 24 * 60 * minute);
  await provider.ostiary.worker.runDue();
  expect(endpoint.received).toHaveLength(5);
  expect(new Set(endpoint.received.map(({ headers }) => headers['x-svc-signature'])).size).toBe(5);

  const failure = { httpStatus: 503, error: 'status', response: 'not today' };
  const attempts = [1, 2, 3, 4, 5].map((number) => ({ number, ...failure }));
  const dropped = { status: 'dropped', nextAttemptAt: null, eventId: event.id, attempts };
  expect(await deliveries(endpointId)).toMatchObject([dropped]);
});

describe('an attempt', () => {
  it('costs a delivery no attempt where it breaks itself', async () => {
    const { dispatcher, endpoint, publish, deliveries, clock, lines } = await depot();
    await endpoint('a', () => Promise.reject(new Error('a defect')));
    await publish('a');
    expect(await dispatcher().runDue()).toBe(1);
    expect(lines).toEqual(['error: an attempt broke off; it is made again']);
    const nextAttemptAt = clock.now() + 60_000;
    expect(await deliveries('a')).toMatchObject([{ status: 'pending', attempts: [], nextAttemptAt }]);
  });

  it('costs neither a delivery an attempt nor its endpoint attempts at once where the address has no place', async () => {
    const { started, endpoint, publish, deliveries, requests, clock, waits } = await depot();
    const [receiver, place] = [byHand(), { isFree: true }];
    receiver.isQuick = true;
    await endpoint('a', async () => (place.isFree ? receiver.behave() : null));
    await publish('a', 20);
    const worker = await started();
    place.isFree = false;
    await publish('a', 10);
    worker.wake();
    await quiet();
    const nextAttemptAt = clock.now() + 1_000;
    const pending = (await deliveries('a')).filter(({ status }) => status === 'pending');
    expect(pending).toHaveLength(10);
    for (const delivery of pending) expect(delivery).toMatchObject({ attempts: [], nextAttemptAt });

    Object.assign(place, { isFree: true });
    receiver.isQuick = false;
    clock.advance(1_000);
    requests.length = 0;
    worker.wake();
    await quiet();
    expect(receiver.waiting).toHaveLength(10);
    expect(requests.every(({ headers }) => headers['X-SVC-Attempt'] === '1')).toBe(true);
    receiver.answer();
    await worker.stop();
    expect(waits()).toEqual([]);
  });

  it.each([
    ['live', 16_384],
    ['test', 1_023],
  ] as const)('keeps of an answer in %s mode %i bytes, and no part of a character', async (mode, kept) => {
    const { dispatcher, endpoint, publish, storage } = await depot();
    const response = `${'x'.repeat(1_023)}€${'é'.repeat(7_679)}`;
    await endpoint('a', async () => ({ ...answered(200), response }), { mode });
    await publish('a', 1, { mode });
    await dispatcher().runDue();
    const [delivery] = await storage.deliveries.list({
      ...{ partner: 'acme', mode, endpointId: 'a' },
      ...{ eventId: null, status: null, after: null, limit: 1 },
    });
    expect(delivery?.attempts[0]?.response).toBe(Buffer.from(response).toString('utf8', 0, kept));
  });
});
