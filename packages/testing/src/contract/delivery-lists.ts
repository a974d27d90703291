import assert from 'node:assert/strict';
import type { ListPosition, Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { acme, samplePartner } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import { claim, claimedOne, finish, listed, listedIds, published, registered } from './webhook-samples.ts';

async function ids(...call: Parameters<typeof listed>): Promise<string[]> {
  return (await listedIds(...call)).map((id) => id.slice(3));
}

/**
 * Stores three events for two endpoints, with deliveries in every status. Newest first they are y_2 y_1 x_2
 * x_1 w_2 w_1.
 */
async function assorted(storage: Storage): Promise<void> {
  const a = await registered(storage, 'a');
  const b = await registered(storage, 'b');
  await published(storage, 'x', { createdAt: now - 2 });
  const [x1, x2] = await claim(storage, 'c1');
  assert.ok(x1 && x2);
  await finish(storage, x1, { status: 'delivered' });
  await finish(storage, x2, { status: 'dropped' });
  await published(storage, 'y', { createdAt: now - 1 });
  const y1 = await claimedOne(storage, 'c2', { limit: 1 });
  await finish(storage, y1, { status: 'dropped' });
  await storage.webhooks.replace({ ...b, enabled: false, version: 2 }, now);
  await storage.webhooks.replace({ ...b, version: 3 }, now);
  await published(storage, 'w', { createdAt: now - 3 });
  await storage.webhooks.remove(a, a.id, now);
}

export const deliveryListCases = casesOf('delivery lists', {
  'the newest come first, then by id in descending code unit order': async (storage) => {
    await registered(storage, 'a');
    const sorted = ['newest', 'b', 'a', 'a-', 'Z', 'B', '9', '10', 'oldest'];
    const times: Record<string, number> = { newest: now + 1, oldest: now - 1 };
    for (const label of sorted.toSorted()) {
      const deliveryId = `dl_${label}`;
      await published(storage, `event of ${label}`, { createdAt: times[label] ?? now, deliveryId });
    }
    const all = sorted.map((label) => `${label}_1`);
    for (const filter of [{}, { endpointId: 'we_a' }, { status: 'pending' } as const]) {
      assertSame(await ids(storage, filter), all);
      assertSame(await ids(storage, { ...filter, limit: 3 }), all.slice(0, 3));
    }
    const claimed = await claim(storage, 'c', { limit: 4 });
    for (const [index, delivery] of claimed.entries()) {
      await finish(storage, delivery, { status: index % 2 === 0 ? 'delivered' : 'dropped' });
    }
    assertSame(await ids(storage), all, 'whatever their status is');
    assertSame(await ids(storage, { endpointId: 'we_a', limit: 5 }), all.slice(0, 5));
  },

  'filters take what they name, alone and together': async (storage) => {
    await assorted(storage);
    assertSame(await ids(storage), ['y_2', 'y_1', 'x_2', 'x_1', 'w_2', 'w_1']);
    assertSame(await ids(storage, { endpointId: 'we_a' }), ['y_1', 'x_1', 'w_1'], 'also of a removed one');
    assertSame(await ids(storage, { endpointId: 'we_b' }), ['y_2', 'x_2', 'w_2']);
    assertSame(await ids(storage, { eventId: 'evt_y' }), ['y_2', 'y_1']);
    assertSame(await ids(storage, { status: 'pending' }), ['w_2']);
    assertSame(await ids(storage, { status: 'delivered' }), ['x_1']);
    assertSame(await ids(storage, { status: 'dropped' }), ['y_1', 'x_2']);
    assertSame(await ids(storage, { status: 'dropped', limit: 1 }), ['y_1']);
    assertSame(await ids(storage, { status: 'cancelled' }), ['y_2', 'w_1']);
    assertSame(await ids(storage, { endpointId: 'we_b', status: 'cancelled' }), ['y_2']);
    assertSame(await ids(storage, { endpointId: 'we_a', eventId: 'evt_x' }), ['x_1']);
    assertSame(await ids(storage, { eventId: 'evt_x', status: 'dropped' }), ['x_2']);
    const all = { endpointId: 'we_a', eventId: 'evt_w', status: 'cancelled' } as const;
    assertSame(await ids(storage, all), ['w_1']);
    assertSame(await ids(storage, { ...all, status: 'pending' }), []);
    for (const nobody of [{ endpointId: 'we_A' }, { endpointId: '' }, { eventId: 'evt_' }]) {
      assertSame(await ids(storage, nobody), []);
    }
  },

  'deliveries are counted with the same filters, up to a limit': async (storage) => {
    await assorted(storage);
    const all = { endpointId: null, eventId: null, status: null };
    for (const [filter, count] of [
      [{}, 6],
      [{ partner: 'other' }, 0],
      [{ mode: 'test' }, 0],
      [{ endpointId: 'we_a' }, 3],
      [{ eventId: 'evt_y' }, 2],
      [{ status: 'pending' }, 1],
      [{ status: 'failing' }, 0],
      [{ status: 'delivered' }, 1],
      [{ status: 'dropped' }, 2],
      [{ status: 'cancelled' }, 2],
      [{ endpointId: 'we_b', status: 'cancelled' }, 1],
      [{ endpointId: 'we_a', status: 'pending' }, 0],
      [{ endpointId: 'we_b', status: 'pending' }, 1],
      [{ endpointId: 'we_a', status: 'delivered' }, 1],
      [{ eventId: 'evt_x', status: 'dropped' }, 1],
      [{ endpointId: 'we_a', eventId: 'evt_w', status: 'cancelled' }, 1],
      [{ eventId: 'evt_' }, 0],
    ] as const) {
      const chosen = { ...acme, ...all, ...filter };
      assertSame(await storage.deliveries.count(chosen, 100), count, JSON.stringify(filter));
      assertSame(await storage.deliveries.count(chosen, 1), Math.min(1, count));
    }
  },

  'a page starts after its position, also where no delivery is': async (storage) => {
    await assorted(storage);
    const after = (time: number, id: string) => ({ after: { time: now + time, id } });
    assertSame(await ids(storage, after(-1, 'dl_y_2')), ['y_1', 'x_2', 'x_1', 'w_2', 'w_1']);
    assertSame(await ids(storage, { ...after(-1, 'dl_y_1'), limit: 2 }), ['x_2', 'x_1']);
    assertSame(await ids(storage, after(-2, 'dl_x_11')), ['x_1', 'w_2', 'w_1']);
    assertSame(await ids(storage, after(-2, '')), ['w_2', 'w_1']);
    assertSame(await ids(storage, after(9, '')), ['y_2', 'y_1', 'x_2', 'x_1', 'w_2', 'w_1']);
    assertSame(await ids(storage, after(-3, 'dl_w_1')), []);
    assertSame(await ids(storage, { ...after(-1, 'dl_y_1'), endpointId: 'we_a' }), ['x_1', 'w_1']);
    assertSame(await ids(storage, { ...after(-1, 'dl_y_1'), status: 'dropped' }), ['x_2']);
    assertSame(await ids(storage, { ...after(-1, 'dl_y_2'), eventId: 'evt_y' }), ['y_1']);
  },

  'the oldest come first on request, from every place and with each filter': async (storage) => {
    await assorted(storage);
    for (const filter of [
      {},
      { endpointId: 'we_a' },
      { eventId: 'evt_y' },
      { status: 'pending' },
      { status: 'delivered' },
      { status: 'dropped' },
      { endpointId: 'we_a', status: 'cancelled' },
    ] as const) {
      const rows = (await listed(storage, filter)).toReversed();
      assertSame(await listed(storage, { ...filter, oldestFirst: true }), rows);
      for (const [index, { createdAt: time, id }] of rows.entries())
        assertSame(
          await listed(storage, { ...filter, oldestFirst: true, after: { time, id }, limit: 2 }),
          rows.slice(index + 1, index + 3),
        );
    }
  },

  'pages have no gap and no repetition while deliveries arrive, at one millisecond too': async (storage) => {
    await registered(storage, 'a');
    const labels = Array.from({ length: 30 }, (_, index) => String(index).padStart(2, '0'));
    for (const label of labels) {
      await published(storage, label, { createdAt: now + Math.floor(Number(label) / 20) });
    }
    for (const endpointId of [null, 'we_a']) {
      const seen: string[] = [];
      let after: ListPosition | null = null;
      for (let pages = 0; pages < 100; pages += 1) {
        const page = await listed(storage, { endpointId, after, limit: 7 });
        const last = page.at(-1);
        if (last === undefined) break;
        seen.push(...page.map(({ eventId }) => eventId.slice(4)));
        after = { time: last.createdAt, id: last.id };
        await published(storage, `new ${endpointId} ${pages}`, { createdAt: now + 1 });
        await published(storage, `newer ${endpointId} ${pages}`, { createdAt: now + 2 });
      }
      assertSame(
        seen.filter((label) => !label.includes('new')),
        labels.toReversed(),
      );
      assert.equal(new Set(seen).size, seen.length, 'nothing twice');
    }
  },

  'one delivery is found by its id, with its attempts, for its owner': async (storage) => {
    await assorted(storage);
    await published(storage, 'tested', { mode: 'test' });
    for (const delivery of await listed(storage)) {
      assertSame(await storage.deliveries.find(acme, delivery.id), delivery);
      assert.equal(await storage.deliveries.find({ ...acme, mode: 'test' }, delivery.id), null);
      assert.equal(await storage.deliveries.find({ ...acme, partner: 'other' }, delivery.id), null);
    }
    assert.equal((await storage.deliveries.find(acme, 'dl_x_1'))?.attempts.length, 1);
    for (const id of ['', 'dl_', 'dl_x', 'DL_X_1']) {
      assert.equal(await storage.deliveries.find(acme, id), null);
    }
  },

  'the latest of several events are told by their status, newest first': async (storage) => {
    await assorted(storage);
    await published(storage, 'foreign', { partner: 'other' });
    const latest = async (eventIds: string[], limit = 9, owner = {}) => [
      ...(await storage.deliveries.latestStates({ ...acme, ...owner, eventIds, limit })),
    ];
    const all = ['evt_w', 'evt_x', 'evt_y', 'evt_foreign', 'evt_unknown', ''];
    const byId = (one: readonly [string, unknown], other: readonly [string, unknown]) =>
      one[0] < other[0] ? -1 : 1;
    assertSame((await latest(all)).sort(byId), [
      ['evt_w', ['pending', 'cancelled']],
      ['evt_x', ['dropped', 'delivered']],
      ['evt_y', ['cancelled', 'dropped']],
    ]);
    assertSame(await latest(['evt_x'], 1), [['evt_x', ['dropped']]]);
    assertSame(await latest(['evt_foreign'], 9, { partner: 'other' }), [['evt_foreign', []]]);
    assertSame(await latest(['evt_x'], 9, { mode: 'test' }), []);
    assertSame(await latest([]), []);
  },

  'deliveries to an endpoint are counted by steps of time and status': async (storage) => {
    await storage.partners.insert(samplePartner());
    await registered(storage, 'a');
    await registered(storage, 'b', { events: ['other'] });
    await registered(storage, 'foreign', { mode: 'test' });
    const at = [now - 1, now, now + minute - 1, now + minute, now + 5 * minute];
    for (const [index, createdAt] of at.entries()) await published(storage, `${index}`, { createdAt });
    await published(storage, 'foreign', { mode: 'test' });
    for (const claimed of await claim(storage, 'c', { now: now + minute, limit: 4 })) {
      const status = claimed.eventId === 'evt_2' ? 'dropped' : 'delivered';
      if (claimed.endpointId === 'we_a') await finish(storage, claimed, { status });
    }
    const counts = (changes = {}) =>
      storage.deliveries.countBySteps({
        ...{ ...acme, endpointId: 'we_a', since: now, stepMs: minute, limit: 9 },
        ...changes,
      });
    const last = { step: 5, state: 'pending', count: 1 };
    assertSame(await counts(), [
      { step: 0, state: 'delivered', count: 1 },
      { step: 0, state: 'dropped', count: 1 },
      { step: 1, state: 'delivered', count: 1 },
      last,
    ]);
    assertSame(await counts({ since: now - 1, stepMs: 10 * minute }), [
      { step: 0, state: 'delivered', count: 3 },
      { step: 0, state: 'dropped', count: 1 },
      { ...last, step: 0 },
    ]);
    assertSame(await counts({ limit: 1 }), [last]);
    for (const nothing of [
      { endpointId: 'we_b' },
      { partner: 'other' },
      { mode: 'test' },
      { since: now + 6 * minute },
    ])
      assertSame(await counts(nothing), []);
  },

  'a list is of one partner and one mode': async (storage) => {
    const owners = [{}, { mode: 'test' }, { partner: 'other' }] as const;
    for (const [index, owner] of owners.entries()) {
      await registered(storage, `${index}`, owner);
      await published(storage, `${index}`, owner);
    }
    for (const [index, owner] of owners.entries()) {
      const [own, foreign] = [index, (index + 1) % 3];
      const filters = (which: number) => [
        { endpointId: `we_${which}` },
        { eventId: `evt_${which}` },
        { endpointId: `we_${which}`, eventId: `evt_${which}`, status: 'pending' } as const,
      ];
      for (const filter of [{}, { status: 'pending' } as const, ...filters(own)]) {
        assertSame(await ids(storage, { ...owner, ...filter }), [`${own}_1`]);
      }
      for (const filter of filters(foreign)) assertSame(await ids(storage, { ...owner, ...filter }), []);
    }
  },
});
