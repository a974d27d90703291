import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import {
  acme,
  create,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
} from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  dropped,
  listedIds,
  published,
  recover,
  redeliver,
  registered,
  sampleEndpoint,
} from '../../testing/src/contract/webhook-samples.ts';
import { serverForTests } from './server.ts';

// Each test stops one call in the middle of its transaction, by a lock, and lets another call arrive there.

const server = serverForTests({ onlyRows: true });

/** Opens a storage with an endpoint, and an event whose delivery to it was dropped. */
async function prepared() {
  const stage = await server.opened();
  const { storage } = stage;
  await storage.partners.insert(samplePartner());
  await registered(storage, '1');
  await dropped(storage, 'old');
  const pending = () => listedIds(storage, { status: 'pending' });
  return { ...stage, pending };
}

/**
 * SQL statement whose transaction holds a delivery's id: a call that stores a delivery with that id waits for
 * it.
 */
const holdDelivery = `
  INSERT INTO ostiary.deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
  VALUES ('dl_late_1', 1, 'we_other', 'acme', 'live', 'delivered', 1)
`;

/** Calls that create the delivery `dl_late_1`, with their results if the endpoint no longer exists. */
const makers: {
  readonly [name: string]: {
    call(storage: Storage): Promise<{ readonly outcome: string }>;
    readonly made: string;
  };
} = {
  publish: {
    call: ({ events }) => events.publish([sampleEvent('late')], { idempotency: null, now }),
    made: 'published',
  },
  redeliver: {
    call: (storage) => redeliver(storage, 'evt_old', 'late', { endpointId: 'we_1' }),
    made: 'queued',
  },
  recover: {
    call: (storage) => recover(storage, 'we_1', 'late'),
    made: 'queued',
  },
};

/** Ways to disable or remove an endpoint, or all endpoints of a partner, while a delivery is created. */
const endings: {
  readonly [name: string]: {
    call(storage: Storage): Promise<unknown>;
    /** Result of a redelivery that comes after its endpoint was disabled or removed. */
    readonly outcome: string;
  };
} = {
  'an endpoint is removed': {
    call: ({ webhooks }) => webhooks.remove(acme, 'we_1', now),
    outcome: 'unknown_endpoint',
  },
  'its partner is disabled': {
    call: ({ partners }) => partners.replace(samplePartner({ version: 2, disabledAt: now })),
    outcome: 'disabled_endpoint',
  },
};

const pairs = Object.entries(makers).flatMap(([name, maker]) =>
  Object.entries(endings).map(([why, ending]) => ({ name, maker, why, ending })),
);

for (const { name, maker, why, ending: end } of pairs) {
  const { call, made } = maker;
  const tooLate = name === 'publish' ? 'published' : end.outcome;
  test(`when ${why} during ${name}, that cancels the delivery that is just being made`, async () => {
    const { storage, meeting, pending } = await prepared();
    const [making, ending] = await meeting(
      holdDelivery,
      () => call(storage),
      () => end.call(storage),
    );
    expect(making.outcome).toBe(made);
    expect(ending).toBeTruthy();
    expect(await pending()).toEqual([]);
    expect(await listedIds(storage, { status: 'cancelled' })).toEqual(['dl_late_1']);
  });

  test(`while ${why}, ${name} makes no delivery for it`, async () => {
    const { storage, meeting, pending } = await prepared();
    await published(storage, 'waiting');
    const [ending, making] = await meeting(
      'SELECT FROM ostiary.pending_deliveries FOR UPDATE',
      () => end.call(storage),
      () => call(storage),
    );
    expect(ending).toBeTruthy();
    expect(making.outcome).toBe(tooLate);
    expect(await pending()).toEqual([]);
  });
}

test('an endpoint that is created while another one is, is counted with it', async () => {
  const { storage, meeting } = await prepared();
  const create = (label: string) =>
    storage.webhooks.create({ endpoint: sampleEndpoint(label), idempotency: null, max: 2, now: 1 });
  const creations = await meeting(
    'SELECT FROM ostiary.event_sequences FOR UPDATE',
    () => create('2'),
    () => create('3'),
  );
  expect(creations.map(({ outcome }) => outcome).toSorted()).toEqual(['created', 'too_many']);
});

test('an event that is just delivered again stays, and the purge does not wait for it', async () => {
  const { storage, holding, waiting, pending } = await prepared();
  const holder = await holding(holdDelivery);
  const again = redeliver(storage, 'evt_old', 'late');
  await waiting(1);
  const purged = await storage.purge({ now, before: 0, eventsBefore: now + 1, limit: 9 });
  expect(purged).toMatchObject({ events: 0, deliveries: 1 });
  await holder.query('ROLLBACK');
  expect(await again).toMatchObject({ outcome: 'queued' });
  expect(await pending()).toEqual(['dl_late_1']);
});

/** Stores a transfer for a request whose idempotency key other requests use, too. */
function transfer(storage: Storage, label: string, reference: string | null = null) {
  return create(
    storage,
    sampleTransfer(label, { reference }),
    sampleClaim('key', { answer: { status: 201, body: label } }),
  );
}

test('a request whose key another one is just using gives its answer when that one commits', async () => {
  const { schema, storage, meeting } = await prepared();
  const { storage: another } = await server.opened({ schema });
  const [first, second] = await meeting(
    "INSERT INTO ostiary.jobs (id, kind, payload, due_at) VALUES ('execute tr_a', 'x', '{}', 1)",
    () => transfer(storage, 'a'),
    () => transfer(another, 'b'),
  );
  expect(first).toEqual({ outcome: 'created' });
  expect(second).toEqual({ outcome: 'replayed', answer: { status: 201, body: 'a' } });
});

test('a request whose key another one is just using takes effect when that one comes to nothing', async () => {
  const { schema, storage, meeting } = await prepared();
  const { storage: another } = await server.opened({ schema });
  const [first, second] = await meeting(
    `INSERT INTO ostiary.transfers
       (id, partner, mode, status, amount, currency, recipient_kid, reference, created_at, updated_at)
     VALUES ('tr_other', 'acme', 'live', 'pending', 1, 'HTG', 'kid-1', 'order 7', 1, 1)`,
    () => transfer(storage, 'a', 'order 7'),
    () => transfer(another, 'b', 'order 8'),
    'COMMIT',
  );
  expect(second).toEqual({ outcome: 'created' });
  // The first call releases the key while it waits for the reference, so the second one may take it.
  const refused = { outcome: 'reference_conflict', transferId: 'tr_other' };
  expect([refused, { outcome: 'replayed', answer: { status: 201, body: 'b' } }]).toContainEqual(first);
  expect(await storage.transfers.findById('tr_a')).toBeNull();
});

test('a transfer that another process settles at the same time is returned in its new state', async () => {
  const { schema, storage, meeting } = await prepared();
  const { storage: another } = await server.opened({ schema });
  await transfer(storage, 'a');
  const settle = ({ transfers }: Storage, label: string, status: 'completed' | 'failed') =>
    transfers.settle({ id: 'tr_a', status, failure: null, event: sampleEvent(label), now: 5 });
  const [first, second] = await meeting(
    `INSERT INTO ostiary.events (id, partner, mode, sequence, type, body, created_at)
     VALUES ('evt_1', 'other', 'live', 1, 'x', '', 1)`,
    () => settle(storage, '1', 'completed'),
    () => settle(another, '2', 'failed'),
  );
  expect(first).toMatchObject({ settled: true, transfer: { status: 'completed' } });
  expect(second).toEqual({ settled: false, transfer: first?.transfer });
  expect(await storage.events.find(acme, 'evt_2')).toBeNull();
});

test('a request whose key another request holds for long is refused in time, and requests with other keys do not wait', async () => {
  const { storage, holding } = await prepared();
  const holder = await holding(
    `INSERT INTO ostiary.idempotency_records VALUES ('acme', 'live', 'key', sha256('x'), 201, '{}', 9e15)`,
  );
  const started = performance.now();
  expect(await transfer(storage, 'a')).toEqual({ outcome: 'in_progress' });
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(await create(storage, sampleTransfer('b'), sampleClaim('other'))).toEqual({ outcome: 'created' });
  await holder.query('ROLLBACK');
  expect(await transfer(storage, 'a')).toEqual({ outcome: 'created' });
});
