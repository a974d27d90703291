import { expect, it } from 'vitest';
import { createShares, ownerName } from '../../src/limits/shares.ts';

const live = (partner: string) => ownerName({ partner, mode: 'live' });
const test = (partner: string) => ownerName({ partner, mode: 'test' });

/** Takes places for an owner of work until none is left, and returns how many it got. */
function fill(shares: ReturnType<typeof createShares>, owner: ReturnType<typeof ownerName>): number {
  let count = 0;
  while (shares.hasRoom(owner)) {
    shares.begin(owner);
    count += 1;
  }
  return count;
}

it('an owner takes half of the places, and each one after it half of what is left', () => {
  const shares = createShares(64);
  expect([live('a'), live('b'), live('c'), live('d')].map((owner) => fill(shares, owner))).toEqual([
    32, 16, 8, 4,
  ]);
  expect(shares.forClaim().free.live).toBe(4);
});

it('owners that take places in turn end up with equal shares, and leave one free', () => {
  const shares = createShares(64);
  const owners = [live('a'), live('b'), live('c')];
  for (let round = 0; round < 64; round += 1)
    for (const owner of owners) if (shares.hasRoom(owner)) shares.begin(owner);
  expect(shares.forClaim()).toEqual({
    free: { live: 16, test: 16 },
    most: new Map(owners.map((owner) => [owner, 0])),
  });
  for (const owner of owners) shares.end(owner);
  expect(owners.map((owner) => shares.forClaim().most.get(owner))).toEqual([2, 2, 2]);
});

it('test mode takes half of the places at most, all partners together', () => {
  const shares = createShares(64);
  let taken = 0;
  for (let partner = 0; partner < 100; partner += 1) taken += fill(shares, test(`${partner}`));
  expect(taken).toBeLessThanOrEqual(32);
  expect(fill(createShares(64), test('one'))).toBe(16);
  expect(fill(shares, live('a'))).toBeGreaterThanOrEqual(16);
});

it('one place goes to the first who comes, and is free again when it ends', () => {
  const shares = createShares(1);
  for (const owner of [live('a'), test('a'), ownerName(null)]) {
    expect(fill(shares, owner)).toBe(1);
    expect(shares.hasRoom(live('b'))).toBe(false);
    shares.end(owner);
    expect(shares.forClaim()).toEqual({ free: { live: 1, test: 1 }, most: new Map() });
  }
});
