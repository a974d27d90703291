import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { everyEvent, searchEvents, searchedEvents } from '../../src/webhooks/search.ts';
import { partnerProvider } from '../support/partner-api.ts';

const owner = { partner: 'shop', mode: 'test' } as const;

/** Stores events of a partner, one per millisecond from 1 on. */
async function withEvents(count: number) {
  const storage = memoryStorage();
  const { provider } = await partnerProvider({ storage });
  await provider.ostiary.admin.partners.create({ slug: owner.partner, name: 'Shop' });
  const events = Array.from({ length: count }, (_, index) => ({
    ...owner,
    id: `evt_${index + 1}`,
    type: index === 0 ? 'first' : 'other',
    body: '{}',
    createdAt: index + 1,
    deliveryId: `dl_${index + 1}`,
  }));
  await storage.events.publish(events, { idempotency: null, now: count });
  return storage.events;
}

it('a search without a filter pages through all events, newest first', async () => {
  const events = await withEvents(5);
  const first = await searchEvents(events, { ...owner, ...everyEvent }, 3);
  expect(first.events.map(({ sequence }) => sequence)).toEqual([5, 4, 3]);
  expect([first.hasMore, first.nextBefore]).toEqual([true, 3]);
  const rest = await searchEvents(events, { ...owner, ...everyEvent, before: first.nextBefore }, 3);
  expect(rest.events.map(({ sequence }) => sequence)).toEqual([2, 1]);
  expect([rest.hasMore, rest.nextBefore]).toEqual([false, null]);
});

it('a search by time covers a bounded part, and says where the next one continues', async () => {
  const events = await withEvents(searchedEvents + 2);
  const filter = { ...owner, ...everyEvent, until: 1 };
  const first = await searchEvents(events, filter, 3);
  expect(first).toEqual({ events: [], hasMore: false, nextBefore: 3 });
  const second = await searchEvents(events, { ...filter, before: first.nextBefore }, 3);
  expect(second.events.map(({ sequence }) => sequence)).toEqual([1]);
  expect([second.hasMore, second.nextBefore]).toEqual([false, null]);
});

it('a search by type covers all events at once', async () => {
  const events = await withEvents(searchedEvents + 2);
  const found = await searchEvents(events, { ...owner, ...everyEvent, type: 'first' }, 3);
  expect(found.events.map(({ sequence }) => sequence)).toEqual([1]);
  expect([found.hasMore, found.nextBefore]).toEqual([false, null]);
});
