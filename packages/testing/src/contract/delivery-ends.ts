import assert from 'node:assert/strict';
import type { Storage, WebhookEndpointRecord } from '@ostiary/core/storage';
import { alternating, assertFields, assertSame, casesOf, countedTo } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedOne,
  dropped,
  finish,
  listed,
  published,
  recover,
  redeliver,
  registered,
} from './webhook-samples.ts';

/** A change that cancels the pending deliveries of an endpoint, such as disabling it. */
interface End {
  end(storage: Storage, endpoint: WebhookEndpointRecord): Promise<unknown>;
  undo?(storage: Storage, endpoint: WebhookEndpointRecord): Promise<unknown>;
  /** Ids of the endpoints whose deliveries are cancelled when the change is made to the endpoint `we_a`. */
  readonly ending: readonly string[];
}

const ends: Readonly<Record<string, End>> = {
  'an endpoint is disabled': {
    end: ({ webhooks }, endpoint) => webhooks.replace({ ...endpoint, enabled: false, version: 2 }, now + 1),
    undo: ({ webhooks }, endpoint) => webhooks.replace({ ...endpoint, version: 3 }, now + 2),
    ending: ['we_a'],
  },
  'an endpoint is removed': {
    end: ({ webhooks }, endpoint) => webhooks.remove(endpoint, endpoint.id, now + 1),
    ending: ['we_a'],
  },
  'a partner is disabled': {
    end: ({ partners }, { partner: slug }) =>
      partners.replace(samplePartner({ slug, version: 2, disabledAt: now + 1, updatedAt: now + 1 })),
    undo: ({ partners }, { partner: slug }) => partners.replace(samplePartner({ slug, version: 3 })),
    ending: ['we_a', 'we_b', 'we_test'],
  },
};

const owners = {
  a: {},
  b: {},
  test: { mode: 'test' },
  other: { partner: 'other' },
} as const;

async function cancelsWhatIsPending(storage: Storage, { end, undo, ending }: End): Promise<void> {
  for (const slug of ['acme', 'other']) await storage.partners.insert(samplePartner({ slug }));
  const endpoint = await registered(storage, 'a');
  for (const label of ['b', 'test', 'other'] as const) await registered(storage, label, owners[label]);
  await published(storage, 'done');
  for (const delivery of await claim(storage, 'c')) await finish(storage, delivery, { status: 'delivered' });
  await published(storage, 'held');
  const held = await claimedOne(storage, 'c');
  for (const owner of [{}, { mode: 'test' }, { partner: 'other' }] as const) {
    await published(storage, `later ${Object.values(owner)}`, { ...owner, createdAt: now + minute });
  }

  await end(storage, endpoint);

  const left: string[] = [];
  for (const [label, owner] of Object.entries(owners)) {
    const id = `we_${label}`;
    for (const { eventId, status, nextAttemptAt } of await listed(storage, { ...owner, endpointId: id })) {
      const cancelled = ending.includes(id) ? 'cancelled' : 'pending';
      assert.equal(status, eventId === 'evt_done' ? 'delivered' : cancelled, `${eventId} ${id}`);
      assert.equal(nextAttemptAt === null, status !== 'pending');
      if (status === 'pending' && eventId !== 'evt_held') left.push(id);
    }
  }
  for (const next of [{ status: 'delivered' }, { status: 'pending', dueAt: now }] as const) {
    assert.equal(await finish(storage, held, next), false, 'the result of whoever held it comes too late');
  }
  const [shown] = await listed(storage, { endpointId: endpoint.id, eventId: held.eventId });
  assertSame([shown?.status, shown?.attempts], ['cancelled', []]);
  await undo?.(storage, endpoint);
  const claimed = await claim(storage, 'd', { now: now + minute, leaseMs: minute });
  const later = claimed.filter(({ eventId }) => eventId !== 'evt_held');
  assertSame(new Set(later.map(({ endpointId }) => endpointId)), new Set(left), 'and nothing comes back');
}

/**
 * Checks that deliveries which are made while their endpoint is disabled or removed, or their partner is
 * disabled, are cancelled, whichever call comes first.
 */
async function cancelsWhatIsMade(storage: Storage, { end }: End): Promise<void> {
  for (let round = 0; round < 15; round += 1) {
    const owner = { partner: `p${round}`, mode: 'live' } as const;
    await storage.partners.insert(samplePartner({ slug: owner.partner }));
    const endpoint = await registered(storage, `${round}`, owner);
    const labels = [0, 1, 2].map((index) => `${round}.${index}`);
    for (const label of labels) await dropped(storage, label, now, owner);
    const event = await published(storage, `held ${round}`, owner);
    const held = await claimedOne(storage, `c${round}`);
    let counted: boolean | undefined;
    const publishing = (when: string) =>
      countedTo(9).map((number) => () => published(storage, `${when} ${round}.${number}`, owner));
    await alternating<unknown>(round, [
      ...publishing('early'),
      () => redeliver(storage, `evt_${labels[0]}`, `again ${round}`, owner),
      () => recover(storage, endpoint.id, `recovered ${round}`, { ...owner, limit: 1 }),
      async () => assert.ok(await end(storage, endpoint)),
      async () => {
        counted = await finish(storage, held, { status: 'delivered' });
      },
      () => recover(storage, endpoint.id, `again recovered ${round}`, owner),
      () =>
        redeliver(storage, `evt_${labels[1]}`, `once more ${round}`, { ...owner, endpointId: endpoint.id }),
      ...publishing('late'),
    ]);
    assertSame(await listed(storage, { ...owner, status: 'pending' }), []);
    assertSame(await claim(storage, `none ${round}`), []);
    const shown = await listed(storage, { ...owner, eventId: event.id });
    assertFields(shown, 'status', [counted ? 'delivered' : 'cancelled']);
    assert.equal(shown[0]?.attempts.length, counted ? 1 : 0, 'a result counts or is refused, and never both');
  }
}

export const deliveryEndCases = casesOf(
  'the end of deliveries',
  Object.fromEntries(
    Object.entries(ends).flatMap(([name, end]) => [
      [
        `when ${name}, what is pending is cancelled, also what a worker holds, and nothing else`,
        (storage) => cancelsWhatIsPending(storage, end),
      ],
      [
        `when ${name} while deliveries are made and end, nothing stays pending`,
        (storage) => cancelsWhatIsMade(storage, end),
      ],
    ]),
  ),
);
