import assert from 'node:assert/strict';
import type { ClaimedDelivery, DeliveryResult, EndpointCondition, Storage } from '@ostiary/core/storage';
import { assertSame, casesOf, inParallel } from './case.ts';
import { acme, samplePartner } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import { claim, leaseMs, listedIds, published, registered, sampleAttempt } from './webhook-samples.ts';

type Claimed = Pick<ClaimedDelivery, 'id' | 'claimId' | 'attempt'>;

const lastAttempt = { httpStatus: 500, error: 'status', response: 'oops' };

/** Makes the result of a delivery attempt that failed at `at` and will be repeated a minute later. */
const failed = ({ id, claimId, attempt }: Claimed, at: number): DeliveryResult => ({
  ...{ id, claimId, isCutOff: false, next: { status: 'pending', dueAt: at + minute } },
  attempt: sampleAttempt(attempt, { ...lastAttempt, at, durationMs: 0 }),
});

/** Makes the result of the last attempt of a delivery, at time `at`. */
const ended = (
  { id, claimId, attempt }: Claimed,
  status: 'delivered' | 'dropped',
  at: number,
): DeliveryResult => ({
  ...{ id, claimId, isCutOff: false, next: { status } },
  attempt: sampleAttempt(attempt, { at, durationMs: 0, ...(status === 'dropped' && lastAttempt) }),
});

const conditions = (storage: Storage, limit = 100): Promise<EndpointCondition[]> =>
  storage.webhooks.conditions(acme, limit);

/**
 * Returns the times since which endpoints have been failing, by endpoint id; `null` for endpoints that do not
 * fail.
 */
const failingSince = async (storage: Storage) =>
  Object.fromEntries(
    (await conditions(storage)).map(({ endpointId, failure }) => [endpointId, failure?.since ?? null]),
  );

const survey = (storage: Storage, changes = {}) =>
  storage.survey({ now, droppedSince: now - minute, sealedWith: '', limit: 100, shown: 20, ...changes });

async function finished(storage: Storage, results: readonly DeliveryResult[]): Promise<void> {
  assertSame(
    await storage.deliveries.finish(results),
    results.map(() => true),
  );
}

export const failureCases = casesOf('failures', {
  'a delivery fails from its first failed attempt until it is final': async (storage) => {
    await registered(storage, 'a');
    await registered(storage, 'b');
    for (const [index, label] of ['w', 'x', 'y'].entries())
      await published(storage, label, { createdAt: now - 3 + index });
    const claimed = new Map((await claim(storage, 'c')).map((each) => [each.id, each]));
    const one = (id: string) => claimed.get(id) ?? assert.fail(id);
    const results = ['dl_w_1', 'dl_y_1', 'dl_y_2'].map((id) => failed(one(id), now));
    await finished(storage, [...results, ended(one('dl_x_1'), 'dropped', now)]);
    const failing = { status: 'failing' } as const;
    assertSame(await listedIds(storage, failing), ['dl_y_2', 'dl_y_1', 'dl_w_1']);
    assertSame(await listedIds(storage, { ...failing, limit: 2 }), ['dl_y_2', 'dl_y_1']);
    const after = { time: now - 1, id: 'dl_y_2' };
    assertSame(await listedIds(storage, { ...failing, after }), ['dl_y_1', 'dl_w_1']);
    assertSame(await listedIds(storage, { ...failing, endpointId: 'we_a' }), ['dl_y_1', 'dl_w_1']);
    assertSame(await listedIds(storage, { ...failing, eventId: 'evt_y' }), ['dl_y_2', 'dl_y_1']);
    assertSame(await listedIds(storage, { ...failing, mode: 'test' }), []);
    const waiting = ['dl_y_2', 'dl_y_1', 'dl_x_2', 'dl_w_2', 'dl_w_1'];
    assertSame(await listedIds(storage, { status: 'pending' }), waiting);

    const eventIds = ['evt_w', 'evt_x'];
    assertSame([...(await storage.deliveries.latestStates({ ...acme, eventIds, limit: 9 }))].sort(), [
      ['evt_w', ['pending', 'failing']],
      ['evt_x', ['pending', 'dropped']],
    ]);
    const steps = { ...acme, endpointId: 'we_a', since: now - 3, stepMs: minute, limit: 9 };
    assertSame(await storage.deliveries.countBySteps(steps), [
      { step: 0, state: 'dropped', count: 1 },
      { step: 0, state: 'failing', count: 2 },
    ]);
    const every = { before: null, after: null, type: null, until: null, endpointId: null, limit: 9 };
    const events = await storage.events.latest({ ...acme, ...every, ...failing });
    assertSame(
      events.map(({ id }) => id),
      ['evt_y', 'evt_w'],
    );

    const again = await claim(storage, 'd', {
      now: now + minute,
      limit: 3,
      endpointLimits: new Map([['we_b', 0]]),
    });
    assertSame(await listedIds(storage, failing), ['dl_y_2', 'dl_y_1', 'dl_w_1'], 'while it is tried too');
    await finished(
      storage,
      again.map((each) => ended(each, 'delivered', now + minute)),
    );
    assertSame(await listedIds(storage, failing), ['dl_y_2']);
    await storage.webhooks.remove(acme, 'we_b', now);
    assertSame(await listedIds(storage, failing), []);
  },

  'of the last attempts that are stored together, the one that ended last decides': async (storage) => {
    await registered(storage, 'a');
    for (const label of ['x', 'y', 'z']) await published(storage, label);
    const [first, second, third] = await claim(storage, 'c');
    assert.ok(first && second && third);
    await finished(storage, [
      ended(first, 'delivered', now + 1),
      ended(second, 'dropped', now + 2),
      ended(third, 'delivered', now + 3),
    ]);
    assertSame(await failingSince(storage), { we_a: null });
  },

  'an attempt that was cut off, or has no result, is no failure': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const [first] = await claim(storage, 'c');
    assert.ok(first);
    await finished(storage, [
      { ...failed(first, now), isCutOff: true, next: { status: 'pending', dueAt: now } },
    ]);
    await claim(storage, 'killed');
    const [third] = await claim(storage, 'e', { now: now + leaseMs });
    assertSame(await listedIds(storage, { status: 'failing' }), []);
    assertSame(await failingSince(storage), { we_a: null });
    assert.ok(third);
    await finished(storage, [failed(third, now + leaseMs)]);
    assertSame(await listedIds(storage, { status: 'failing' }), ['dl_x_1']);
    assertSame(await failingSince(storage), { we_a: now + leaseMs });
  },

  'conditions show failures, the next attempt and the last claim of each endpoint': async (storage) => {
    for (const label of ['a', 'b', 'c']) await registered(storage, label, { events: [label] });
    await registered(storage, 'foreign', { mode: 'test' });
    const idle = { failure: null, failing: 0, nextAttemptAt: null, servedAt: null };
    const of = (label: string, changes: Partial<EndpointCondition> = {}) => ({
      ...{ endpointId: `we_${label}`, ...idle },
      ...changes,
    });
    assertSame(await conditions(storage), [of('a'), of('b'), of('c')]);
    for (const type of ['a', 'b']) {
      for (const number of [1, 2]) await published(storage, `${type}${number}`, { type, createdAt: now - 7 });
    }
    const due = { nextAttemptAt: now - 7 };
    assertSame(await conditions(storage), [of('a', due), of('b', due), of('c')]);

    const claimed = await claim(storage, 'c', { endpointLimits: new Map([['we_b', 0]]) });
    const leased = { nextAttemptAt: now + leaseMs, servedAt: now };
    assertSame(await conditions(storage), [of('a', leased), of('b', due), of('c')]);
    await finished(
      storage,
      claimed.map((each, index) => failed(each, now + index)),
    );
    const failure = { since: now, lastAttempt: { at: now + 1, httpStatus: 500, error: 'status' } };
    const failing = of('a', { failure, failing: 2, nextAttemptAt: now + minute, servedAt: now });
    assertSame(await conditions(storage), [failing, of('b', due), of('c')]);
    assertSame((await conditions(storage, 1))[0]?.failing, 1);
  },

  'a claim that takes no delivery of an endpoint leaves the time of its last claim': async (storage) => {
    await registered(storage, 'a');
    const servedAt = async () => (await conditions(storage))[0]?.servedAt;
    await published(storage, 'later', { createdAt: now + 2 * leaseMs });
    assertSame(await claim(storage, 'c1'), []);
    assert.equal(await servedAt(), null, 'the only delivery is due later');
    await published(storage, 'x');
    const claimed = await claim(storage, 'c2', { now: now + 1 });
    await finished(
      storage,
      claimed.map((each) => ended(each, 'delivered', now + 1)),
    );
    assertSame(await claim(storage, 'c3', { now: now + 1 + leaseMs }), []);
    assert.equal(await servedAt(), now + 1, 'the lease that has ended was that of a delivered one');
  },

  'an endpoint fails until an attempt succeeds and no delivery waits for another one': async (storage) => {
    await registered(storage, 'a');
    const attempts = async (at: number, ends: readonly ('delivered' | 'dropped' | 'failing')[]) => {
      const claimed = await claim(storage, `c${at}`, { now: at });
      assert.equal(claimed.length, ends.length);
      const results = claimed.map((each, index) => {
        const end = ends[index] ?? 'failing';
        return end === 'failing' ? failed(each, at) : ended(each, end, at);
      });
      await finished(storage, results);
      return (await failingSince(storage)).we_a;
    };
    await published(storage, 'x');
    assert.equal(await attempts(now, ['failing']), now);
    assert.equal(await attempts(now + minute, ['failing']), now, 'since the first failure');
    await published(storage, 'y', { createdAt: now + minute });
    assert.equal(await attempts(now + minute, ['delivered']), now, 'x is still to be tried');
    assert.equal(await attempts(now + 2 * minute, ['delivered']), null);
    await published(storage, 'z', { createdAt: now + 3 * minute });
    assert.equal(await attempts(now + 3 * minute, ['dropped']), now + 3 * minute);
    for (const label of ['v', 'w']) await published(storage, label, { createdAt: now + 4 * minute });
    assert.equal(await attempts(now + 4 * minute, ['failing', 'delivered']), now + 3 * minute);
    assert.equal(await attempts(now + 5 * minute, ['delivered']), null);
  },

  'disabling or removing an endpoint, or disabling its partner, ends its failure': async (storage) => {
    const partner = samplePartner();
    await storage.partners.insert(partner);
    const a = await registered(storage, 'a');
    const b = await registered(storage, 'b');
    await published(storage, 'x');
    await finished(
      storage,
      (await claim(storage, 'c')).map((each) => failed(each, now)),
    );
    assertSame(await failingSince(storage), { we_a: now, we_b: now });
    await storage.webhooks.replace({ ...a, enabled: false, version: 2 }, now);
    assertSame(await failingSince(storage), { we_a: null, we_b: now });
    await storage.webhooks.remove(acme, b.id, now);
    assertSame(await failingSince(storage), { we_a: null });
    assert.equal((await survey(storage)).failing, 0);
    await storage.webhooks.replace({ ...a, enabled: true, version: 3 }, now);
    await published(storage, 'y');
    await finished(
      storage,
      (await claim(storage, 'd')).map((each) => failed(each, now)),
    );
    assertSame(await failingSince(storage), { we_a: now });
    await storage.partners.replace({ ...partner, disabledAt: now, version: 2 });
    assertSame(await failingSince(storage), { we_a: null });
  },

  'the survey counts the endpoints that fail now, those that have failed longest first': async (storage) => {
    const foreign = { partner: 'other', mode: 'test' } as const;
    const a = await registered(storage, 'a');
    const b = await registered(storage, 'b', foreign);
    await published(storage, 'x');
    await published(storage, 'y', { ...foreign });
    await published(storage, 'z', { ...foreign });
    for (const each of await claim(storage, 'c')) {
      const at = each.endpointId === 'we_a' ? now + 5 : now;
      await finished(storage, [each.eventId === 'evt_y' ? ended(each, 'dropped', at) : failed(each, at)]);
    }
    const answer = { httpStatus: 500, error: 'status' };
    const failingB = {
      ...foreign,
      ...{ endpointId: b.id, url: b.url, count: 1, since: now, lastAttempt: { at: now, ...answer } },
    };
    const failingA = {
      ...acme,
      ...{ endpointId: a.id, url: a.url, count: 1, since: now + 5, lastAttempt: { at: now + 5, ...answer } },
    };
    const { failing, failingEndpoints } = await survey(storage);
    assertSame([failing, failingEndpoints], [2, [failingB, failingA]]);
    const limited = await survey(storage, { limit: 1, shown: 1 });
    assertSame([limited.failing, limited.failingEndpoints], [1, [failingB]]);
    const later = { droppedSince: now + 1 };
    assert.equal((await survey(storage, later)).failing, 2, 'a delivery to it still waits');
    const [again] = await claim(storage, 'd', {
      now: now + minute,
      limit: 2,
      endpointLimits: new Map([['we_a', 0]]),
    });
    assert.ok(again);
    await finished(storage, [ended(again, 'dropped', now + minute)]);
    assert.equal((await survey(storage, { droppedSince: now + minute + 1 })).failing, 1);
  },

  'parallel results of many endpoints are all stored': async (storage) => {
    const labels = Array.from({ length: 8 }, (_, index) => `${index}`);
    for (const label of labels) await registered(storage, label);
    for (const label of labels) await published(storage, label);
    const claimed = await claim(storage, 'c');
    assert.equal(claimed.length, 64);
    await inParallel(16, async (index) => {
      const own = claimed.filter((_, place) => place % 16 === index).map((each) => failed(each, now));
      await finished(storage, index % 2 === 0 ? own : own.toReversed());
    });
    assert.equal((await survey(storage)).failing, 8);
    const again = await claim(storage, 'd', { now: now + minute });
    await inParallel(16, async (index) => {
      const own = again.filter((_, place) => place % 16 === index);
      await finished(
        storage,
        own.map((each) => ended(each, 'delivered', now + minute)),
      );
    });
    await published(storage, 'last', { createdAt: now + minute });
    const last = await claim(storage, 'e', { now: now + minute });
    await finished(
      storage,
      last.map((each) => ended(each, 'delivered', now + minute + 1)),
    );
    assert.equal((await survey(storage)).failing, 0);
  },

  'events without a delivery are counted by type, among the newest ones': async (storage) => {
    await registered(storage, 'a', { events: ['taken'] });
    const types = ['b', 'taken', 'a', 'b', 'taken', 'b'];
    for (const [index, type] of types.entries())
      await published(storage, `${index}`, { type, createdAt: now + index });
    await published(storage, 'foreign', { mode: 'test' });
    const counted = (changes = {}) =>
      storage.events.countUndelivered({ ...acme, since: now, limit: 100, ...changes });
    assertSame(await counted(), [
      { type: 'a', count: 1 },
      { type: 'b', count: 3 },
    ]);
    assertSame(await counted({ since: now + 3 }), [{ type: 'b', count: 2 }]);
    assertSame(await counted({ limit: 4 }), [
      { type: 'a', count: 1 },
      { type: 'b', count: 2 },
    ]);
    for (const nothing of [{ partner: 'other' }, { limit: 0 }, { since: now + 6 }])
      assertSame(await counted(nothing), []);
  },
});
