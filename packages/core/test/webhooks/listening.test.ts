import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import type { Core } from '../../src/options/context.ts';
import { listenersOf } from '../../src/webhooks/listeners.ts';
import { createListening, type ListenCall } from '../../src/webhooks/listening.ts';
import { TestClock } from '../support/provider.ts';

const owner = { partner: 'acme', mode: 'test' } as const;

/**
 * Makes an endpoint for listeners and another one with an inbox. Returns the calls of a listener and of the
 * inbox.
 */
async function scene() {
  const storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const now = clock.now();
  for (const [id, url] of [
    ['we_a', 'inbox:listen'],
    ['we_b', 'inbox:200'],
  ] as const) {
    const endpoint = {
      ...{ ...owner, id, url, events: ['*'], enabled: true, sealedSecret: 'sealed' },
      ...{ createdAt: now, updatedAt: now, version: 1 },
    };
    await storage.webhooks.create({ endpoint, idempotency: null, max: 10, now });
  }
  const listeners = listenersOf({ storage, clock });
  const listening = createListening({ storage, clock } as unknown as Core, listeners);
  return {
    ...{ clock, listeners },
    take: (changes: Partial<ListenCall> = {}) =>
      listening.take({
        ...{ ...owner, endpointId: 'we_a', waitMs: 0 },
        ...{ isOver: () => false, readmit: async () => undefined, ...changes },
      }),
    arrive: (id: string) =>
      storage.inbox.add(
        {
          ...{ ...owner, id, endpointId: 'we_a', receivedAt: clock.now(), headers: [], body: '{}' },
          ...{ signatureError: null, answer: null },
        },
        50,
      ),
  };
}

it('only endpoints of listeners hand requests out, and only to their owner', async () => {
  const { take } = await scene();
  const description = expect.stringContaining('inbox:listen');
  await expect(take({ endpointId: 'we_b' })).rejects.toMatchObject({ code: 'invalid_request', description });
  for (const wrong of [{ endpointId: 'we_c' }, { partner: 'other' }, { mode: 'live' }] as const)
    await expect(take(wrong)).rejects.toMatchObject({ code: 'not_found' });
});

it('a call takes at most 20 requests, the oldest first, and none for which no attempt waits any more', async () => {
  const { clock, take, arrive } = await scene();
  await arrive('in_late');
  clock.advance(1);
  const fresh = Array.from({ length: 21 }, (_, index) => `in_${String(index).padStart(2, '0')}`);
  for (const id of fresh) {
    await arrive(id);
    clock.advance(1);
  }
  clock.advance(10_000 - fresh.length);
  const idsOf = async () => (await take()).map(({ id }) => id);
  expect(await idsOf()).toEqual(fresh.slice(0, 20));
  expect(await idsOf()).toEqual(fresh.slice(20));
  expect(await idsOf()).toEqual([]);
});

it('a call of a listener is recorded before it waits', async () => {
  const { listeners, take } = await scene();
  expect(await listeners.isPresent('we_a')).toBe(false);
  await take();
  expect(await listeners.isPresent('we_a')).toBe(true);
});

it('a later call for the same endpoint ends the earlier one, which gets nothing', async () => {
  const { take, arrive } = await scene();
  const earlier = take({ waitMs: 600_000 });
  const later = take({ waitMs: 600_000 });
  expect(await earlier).toEqual([]);
  await arrive('in_a');
  expect(await later).toMatchObject([{ id: 'in_a' }]);
});

it('a call ends when its caller has left', async () => {
  const { take } = await scene();
  let polls = 0;
  const isOver = () => {
    polls += 1;
    return polls > 1;
  };
  expect(await take({ waitMs: 600_000, isOver })).toEqual([]);
});

it('a caller that may no longer call gets no request that arrives after that', async () => {
  const { take, arrive } = await scene();
  const refused = new Error('the key was revoked');
  const readmit = async () => {
    await arrive('in_a');
    throw refused;
  };
  await expect(take({ waitMs: 600_000, readmit })).rejects.toBe(refused);
  expect(await take()).toMatchObject([{ id: 'in_a' }]);
});
