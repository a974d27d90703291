import assert from 'node:assert/strict';
import type { OwnerName, Shares } from '@ostiary/core/storage';
import { assertFields, assertSame, type Calls, casesOf } from './case.ts';
import { acme } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedIds,
  finish,
  leaseMs,
  listed,
  published,
  recover,
  redeliver,
  registered,
} from './webhook-samples.ts';

export const deliveryClaimCases = casesOf('delivery claims', {
  'a delivery is handed out with everything that an attempt needs': async (storage) => {
    const endpoint = await registered(storage, 'a', { mode: 'test' });
    const body = '{ "é": "🗝️" }\n';
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await published(storage, 'x', {
      ...{ mode: 'test', type: 'kyc.updated', body, createdAt: now - 5, traceparent },
    });
    const claimed = {
      id: 'dl_x_1',
      partner: 'acme',
      mode: 'test',
      claimId: 'c',
      endpointId: endpoint.id,
      eventId: 'evt_x',
      eventType: 'kyc.updated',
      body,
      attempt: 1,
      failures: 0,
      dueAt: now - 5,
      url: endpoint.url,
      sealedSecret: endpoint.sealedSecret,
      traceparent,
    };
    assertSame(await claim(storage, 'c'), [claimed]);
    const [shown] = await listed(storage, { mode: 'test' });
    assertSame([shown?.status, shown?.nextAttemptAt], ['pending', now - 5], 'it is due all the same');
  },

  'the address and the secret are those of the moment': async (storage) => {
    const endpoint = await registered(storage, 'a');
    await published(storage, 'x');
    await claim(storage, 'c1');
    const changed = { ...endpoint, url: 'https://new.example/', sealedSecret: 'another', version: 2 };
    await storage.webhooks.replace(changed, now);
    const [claimed] = await claim(storage, 'c2', { now: now + leaseMs });
    assertSame([claimed?.url, claimed?.sealedSecret], [changed.url, changed.sealedSecret]);
  },

  'of one endpoint the longest due come first, then the first published': async (storage) => {
    await registered(storage, 'a');
    const times = { first: -9, second: -1, third: 0, future: 6, fourth: 0, fifth: 5 };
    for (const [label, offset] of Object.entries(times)) {
      await published(storage, label, { createdAt: now + offset });
    }
    const at = { now: now + 5 };
    assertSame(await claimedIds(storage, 'c1', { ...at, limit: 1 }), ['dl_first_1']);
    assertSame(await claimedIds(storage, 'c2', { ...at, endpointLimit: 2 }), ['dl_second_1', 'dl_third_1']);
    assertSame(await claimedIds(storage, 'c3', at), ['dl_fourth_1', 'dl_fifth_1']);
    assertSame(await claimedIds(storage, 'c4', at), []);
  },

  'retries that are due at the same moment are handed out one after the other': async (storage) => {
    await registered(storage, 'a');
    for (const label of ['x', 'y', 'z']) await published(storage, label);
    const dueAt = now + minute;
    for (const failed of await claim(storage, 'c'))
      await finish(storage, failed, { status: 'pending', dueAt });
    const at = { now: dueAt, limit: 1 };
    assertSame(await claimedIds(storage, 'c1', at), ['dl_x_1']);
    assertSame(await claimedIds(storage, 'c2', at), ['dl_y_1']);
    assertSame(await claimedIds(storage, 'c3', at), ['dl_z_1']);
    assertSame(await claimedIds(storage, 'c4', at), []);
  },

  'a delivery that is due later than another is found in its time, while the other is claimed': async (
    storage,
  ) => {
    await registered(storage, 'a');
    await published(storage, 'present');
    await published(storage, 'future', { createdAt: now + 6 });
    assertSame(await claimedIds(storage, 'c1'), ['dl_present_1']);
    assertSame(await claimedIds(storage, 'c2', { now: now + 5 }), []);
    assertSame(await claimedIds(storage, 'c3', { now: now + 6 }), ['dl_future_1']);
  },

  'limits hold together, per endpoint and by name': async (storage) => {
    for (const label of ['a', 'b', 'c', 'd']) await registered(storage, label);
    for (let index = 0; index < 6; index += 1) {
      await published(storage, `${index}`, { createdAt: now - 10 + index });
    }
    const given = async (claimId: string, request: Parameters<typeof claim>[2]) =>
      (await claim(storage, claimId, request)).map(({ endpointId, eventId }) => `${endpointId} ${eventId}`);
    const endpointLimits = new Map([
      ['we_b', 0],
      ['we_c', 3],
      ['we_nobody', 9],
    ]);
    assertSame(await given('c1', { limit: 0 }), []);
    assertSame(await given('c2', { endpointLimit: 0 }), []);
    const overdrawn = new Map([['we_b', -1]]);
    assertSame(await given('overdrawn', { endpointLimit: 0, endpointLimits: overdrawn }), []);
    assertSame(await given('c3', { limit: 5, endpointLimit: 1, endpointLimits }), [
      'we_a evt_0',
      'we_c evt_0',
      'we_c evt_1',
      'we_c evt_2',
      'we_d evt_0',
    ]);
    assertSame(await given('c4', { now: now + 1, limit: 3, endpointLimit: 2, endpointLimits }), [
      'we_a evt_1',
      'we_a evt_2',
      'we_c evt_3',
    ]);
    assertSame(await given('c5', { limit: 4, endpointLimit: -1, endpointLimits: new Map([['we_b', 9]]) }), [
      'we_b evt_0',
      'we_b evt_1',
      'we_b evt_2',
      'we_b evt_3',
    ]);
  },

  'endpoints take turns: the one that was served longest ago is next, then by id': async (storage) => {
    const labels = ['9', 'B', 'a', 'a-', 'b'];
    for (const label of labels) await registered(storage, label);
    for (let round = 0; round < 9; round += 1) await published(storage, `backlog ${round}`);
    let at = now;
    const visited = async (limit: number, changes: Partial<Parameters<typeof claim>[2]> = {}) => {
      at += 1;
      const request = { now: at, limit, endpointLimit: 1, ...changes };
      return (await claim(storage, `${at}`, request)).map(({ endpointId }) => endpointId.slice(3));
    };
    assertSame(await visited(2), ['9', 'B']);
    assertSame(await visited(9), ['a', 'a-', 'b', '9', 'B']);
    assertSame(await visited(9), labels);
    assertSame(await visited(3), ['9', 'B', 'a']);
    assertSame(await visited(3, { endpointLimits: new Map([['we_a-', 0]]) }), ['b', '9', 'B']);
    assertSame(await visited(9), ['a-', 'a', '9', 'B', 'b']);
  },

  'partners take turns, however many endpoints one of them has': async (storage) => {
    for (const label of ['a', 'b', 'c']) await registered(storage, label);
    for (const partner of ['few', 'other']) await registered(storage, partner, { partner });
    for (const partner of ['acme', 'few', 'other']) {
      for (let round = 0; round < 9; round += 1) await published(storage, `${partner} ${round}`, { partner });
    }
    const seen: string[] = [];
    for (let at = now; seen.length < 9; at += 1) {
      const claimed = await claim(storage, `${at}`, { now: at, limit: 1, endpointLimit: 1 });
      seen.push(...claimed.map(({ endpointId }) => endpointId));
    }
    assertSame(new Set(seen).size, 5, seen.join());
    const positions = (id: string) => seen.flatMap((one, index) => (one === id ? [index] : []));
    for (const id of ['we_few', 'we_other']) assert.ok((positions(id)[0] ?? 9) < 5, seen.join());
  },

  'partners and modes share what is free, and each leaves a part for one that comes later': async (
    storage,
  ) => {
    const owners = [
      { partner: 'acme', mode: 'live' },
      { partner: 'bolt', mode: 'live' },
      { partner: 'acme', mode: 'test' },
    ] as const;
    for (const owner of owners) {
      for (const endpoint of [1, 2])
        await registered(storage, `${owner.mode} ${owner.partner} ${endpoint}`, owner);
      for (let index = 0; index < 20; index += 1)
        await published(storage, `${owner.mode} ${owner.partner} ${index}`, owner);
    }
    const counted = async (claimId: string, shares: Shares, limit = 1_000) => {
      const claimed = await claim(storage, claimId, { limit, shares });
      const names = claimed.map(({ partner, mode }): OwnerName => `${mode}:${partner}`);
      assert.deepEqual(
        names,
        names.toSorted((a, b) => Number(a > 'm') - Number(b > 'm')),
        'test mode is last',
      );
      return ['live:acme', 'live:bolt', 'test:acme'].map(
        (name) => names.filter((one) => one === name).length,
      );
    };
    const nothing = new Map<OwnerName, number>();
    assertSame(await counted('c1', { free: { live: 16, test: 8 }, most: nothing }), [4, 4, 2]);
    const most = new Map<OwnerName, number>([
      ['live:acme', 0],
      ['live:bolt', 3],
      ['test:nobody', 1],
    ]);
    assertSame(await counted('c2', { free: { live: 15, test: 3 }, most }), [0, 3, 1]);
    assertSame(await counted('c3', { free: { live: 2, test: 0 }, most: nothing }), [1, 1, 0]);
    assertSame(await counted('c4', { free: { live: 40, test: 40 }, most: nothing }, 12), [10, 2, 0]);
    assertSame(await counted('c5', { free: { live: 1_000, test: 1_000 }, most: nothing }), [25, 30, 37]);
  },

  'of many partners in test mode the first ones get what is free': async (storage) => {
    for (let index = 0; index < 9; index += 1) {
      const owner = { partner: `partner-${index}`, mode: 'test' } as const;
      await registered(storage, `${index}`, owner);
      await published(storage, `${index}`, owner);
    }
    const shares = { free: { live: 100, test: 4 }, most: new Map() };
    assertFields(await claim(storage, 'c1', { shares }), 'endpointId', ['we_0', 'we_1', 'we_2', 'we_3']);
    const next = await claim(storage, 'c2', { now: now + 1, shares });
    assertFields(next, 'endpointId', ['we_4', 'we_5', 'we_6', 'we_7']);
  },

  'a large backlog neglects nobody': async (storage) => {
    const labels = Array.from({ length: 20 }, (_, index) => `small ${String(index).padStart(2, '0')}`);
    await registered(storage, 'big', { events: ['big'] });
    for (let index = 0; index < 60; index += 1) {
      await published(storage, `big ${index}`, { type: 'big', createdAt: now - minute });
    }
    for (const label of labels) {
      await registered(storage, label, { events: [label] });
      await published(storage, label, { type: label });
    }
    const seen = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const claimed = await claim(storage, `round ${round}`, { limit: 4, endpointLimit: 1 });
      assert.ok(claimed.length <= 4);
      assert.ok(claimed.filter(({ endpointId }) => endpointId === 'we_big').length <= 1);
      for (const { eventType } of claimed) seen.add(eventType);
    }
    for (const label of labels) assert.ok(seen.has(label), label);
  },

  'endpoints without room do not use up the limit': async (storage) => {
    const labels = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'));
    for (const label of labels) await registered(storage, label);
    await published(storage, 'x');
    const endpointLimits = new Map(labels.slice(0, 9).map((label) => [`we_${label}`, 0]));
    const claimed = await claim(storage, 'c1', { limit: 2, endpointLimits });
    assertFields(claimed, 'endpointId', ['we_09', 'we_10']);
    const named = new Map([
      ['we_08', 1],
      ['we_03', 1],
      ['we_nobody', 1],
    ]);
    const others = await claim(storage, 'c2', { limit: 2, endpointLimit: 0, endpointLimits: named });
    assertFields(others, 'endpointId', ['we_03', 'we_08']);
  },

  'a claim limited to an endpoint finds what is due again there, and leaves the rest': async (storage) => {
    for (const label of ['a', 'b']) await registered(storage, label);
    await published(storage, 'x');
    const dueAt = now + minute;
    for (const failed of await claim(storage, 'c1'))
      await finish(storage, failed, { status: 'pending', dueAt });
    // PostgreSQL no longer looks for new deliveries once a claim has found none.
    assertSame(await claimedIds(storage, 'c2'), []);
    const limits = { endpointLimit: 0, endpointLimits: new Map([['we_b', 1]]) };
    assertFields(await claim(storage, 'c3', { now: dueAt, ...limits }), 'endpointId', ['we_b']);
    assertFields(await claim(storage, 'c4', { now: dueAt }), 'endpointId', ['we_a']);
  },

  'a delivery whose lease ended is given out together with those that are due': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'held', { createdAt: now - minute });
    assertSame(await claimedIds(storage, 'c1', { limit: 1 }), ['dl_held_1']);
    await published(storage, 'before', { createdAt: now + leaseMs - 1 });
    await published(storage, 'after', { createdAt: now + leaseMs + 1 });
    const claimed = await claim(storage, 'c2', { now: now + minute });
    const due = claimed.map(({ id, dueAt }): [string, number] => [id, dueAt - now]);
    assertSame(Object.fromEntries(due), {
      dl_held_1: -minute,
      dl_before_1: leaseMs - 1,
      dl_after_1: leaseMs + 1,
    });
    const fresh = due.map(([id]) => id).filter((id) => id !== 'dl_held_1');
    assertSame(fresh, ['dl_before_1', 'dl_after_1']);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const deliveryCalls: Calls<'deliveries'> = {
  claim: (storage) => claim(storage, 'c'),
  finish: ({ deliveries }) =>
    deliveries.finish([
      { id: 'dl_a', claimId: 'c', attempt: null, isCutOff: false, next: { status: 'dropped' } },
    ]),
  findById: ({ deliveries }) => deliveries.findById('dl_a'),
  find: ({ deliveries }) => deliveries.find(acme, 'dl_a'),
  count: ({ deliveries }) => deliveries.count({ ...acme, endpointId: null, eventId: null, status: null }, 9),
  list: (storage) => listed(storage),
  latestStates: ({ deliveries }) =>
    deliveries.latestStates({ ...acme, eventIds: ['evt_a', 'evt_b'], limit: 9 }),
  countBySteps: ({ deliveries }) =>
    deliveries.countBySteps({ ...acme, endpointId: 'we_a', since: now, stepMs: 1_000, limit: 9 }),
  redeliver: (storage) => redeliver(storage, 'evt_a', 'again'),
  recover: (storage) => recover(storage, 'we_a', 'recovered'),
};
