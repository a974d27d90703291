import { expect, test } from 'vitest';
import { now } from '../../testing/src/contract/samples.ts';
import { claim, published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

test('the turn of a partner counts from the latest claim for any of its endpoints', async () => {
  const { storage } = await server.opened();
  await registered(storage, 'a', { events: ['first'] });
  await registered(storage, 'b', { events: ['second'] });
  await registered(storage, 'other', { partner: 'other' });
  const claimedAt = async (at: number, limit: number) =>
    (await claim(storage, `${at}`, { now: at, limit })).map(({ endpointId }) => endpointId);

  await published(storage, '1', { type: 'first' });
  expect(await claimedAt(now + 1, 9)).toEqual(['we_a']);
  await published(storage, '2', { partner: 'other' });
  expect(await claimedAt(now + 2, 9)).toEqual(['we_other']);
  await published(storage, '3', { type: 'second' });
  expect(await claimedAt(now + 3, 9)).toEqual(['we_b']);

  // The endpoint `a` has waited longest, and its partner has not.
  await published(storage, '4', { type: 'first' });
  await published(storage, '5', { partner: 'other' });
  expect(await claimedAt(now + 4, 1)).toEqual(['we_other']);
  expect(await claimedAt(now + 5, 1)).toEqual(['we_a']);
});
