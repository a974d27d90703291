import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import type { WebhookEndpointRecord } from '../../src/storage.ts';
import { listenersOf } from '../../src/webhooks/listeners.ts';
import { TestClock } from '../support/provider.ts';

const owner = { partner: 'acme', mode: 'test' } as const;
const hour = 3600_000;

/** Starts a registry of listeners on a storage of its own. */
async function scene() {
  const storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const register = async (id: string, changes: Partial<WebhookEndpointRecord> = {}) => {
    const now = clock.now();
    const endpoint = {
      ...{ ...owner, id, url: 'inbox:listen', events: ['*'], enabled: true, sealedSecret: 'sealed' },
      ...{ createdAt: now, updatedAt: now, version: 1, ...changes },
    };
    await storage.webhooks.create({ endpoint, idempotency: null, max: 10, now });
  };
  return { storage, clock, register, listeners: listenersOf({ storage, clock }) };
}

it('a listener is present until 30 seconds after its last call', async () => {
  const { clock, listeners } = await scene();
  expect(await listeners.isPresent('we_a')).toBe(false);
  await listeners.called('we_a', null);
  clock.advance(29_999);
  expect([await listeners.isPresent('we_a'), await listeners.isPresent('we_b')]).toEqual([true, false]);
  clock.advance(1);
  expect(await listeners.isPresent('we_a')).toBe(false);
});

it('calls of a listener are recorded every 5 seconds at most, and forgotten after an hour', async () => {
  const { clock, listeners } = await scene();
  const first = await listeners.called('we_a', null);
  clock.advance(4_999);
  expect(await listeners.called('we_a', first)).toBe(first);
  expect(await listeners.lastCallAt('we_a')).toBe(first);
  clock.advance(1);
  expect(await listeners.called('we_a', first)).toBe(first + 5_000);
  clock.advance(hour - 1);
  expect(await listeners.lastCallAt('we_a')).toBe(first + 5_000);
  clock.advance(1);
  expect(await listeners.lastCallAt('we_a')).toBeNull();
});

it('a process whose clock is behind records calls too', async () => {
  const { clock, listeners } = await scene();
  const first = await listeners.called('we_a', null);
  clock.advance(-60_000);
  expect(await listeners.called('we_a', first)).toBe(first - 60_000);
  expect(await listeners.isPresent('we_a')).toBe(true);
});

it('only endpoints whose listener has not called for an hour are removed', async () => {
  const { storage, clock, register, listeners } = await scene();
  await register('we_abandoned');
  await register('we_called');
  await register('we_inbox', { url: 'inbox:200' });
  await register('we_changed', { updatedAt: clock.now() + 1 });
  await register('we_other', { partner: 'other' });
  await listeners.called('we_abandoned', null);
  clock.advance(1);
  await listeners.called('we_called', null);
  clock.advance(hour - 1);
  await listeners.removeAbandoned(owner);
  const left = (await storage.webhooks.list(owner)).map(({ id }) => id);
  expect(left.toSorted()).toEqual(['we_called', 'we_changed', 'we_inbox']);
  expect(await storage.webhooks.list({ ...owner, partner: 'other' })).toHaveLength(1);
});
