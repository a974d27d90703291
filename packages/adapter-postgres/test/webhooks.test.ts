import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { acme, sampleEndpoint, sampleEvent, sampleResult } from './samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };
const hold = { claimId: 'c', now: 9, leaseMs: 5, limit: 9, room: 9, rooms: new Map() };

/** A storage with one endpoint, and a look at its tables. */
async function openStorage() {
  const stage = await server.watched();
  const { schema, storage, watched } = stage;
  await storage.webhooks.create({ endpoint: sampleEndpoint('1'), idempotency: null, max: 1, now: 1 });
  const execute = (sql: string) => watched.own.query(`SET search_path TO "${schema}"; ${sql}`);
  async function all(sql: string): Promise<unknown[]> {
    const { rows } = await watched.own.query({
      text: sql.replaceAll('ostiary.', `"${schema}".`),
      rowMode: 'array',
    });
    return rows;
  }
  /** Refuses rows of a table from now on. */
  const refuse = (table: string, condition: string, act: 'INSERT' | 'UPDATE' = 'INSERT') =>
    execute(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$;
      CREATE TRIGGER refuse BEFORE ${act} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()
    `);
  return { ...stage, all, execute, refuse };
}

function publish({ events }: Storage, ...labels: string[]) {
  return events.publish(
    labels.map((label) => sampleEvent(label)),
    { idempotency: null, now: 5 },
  );
}

test('a settlement whose delivery cannot be stored is undone, and the next one takes its number', async () => {
  const { storage, all, execute, refuse } = await openStorage();
  await execute(`
    INSERT INTO transfers (id, partner, mode, status, amount, currency, recipient_kid, created_at, updated_at)
    VALUES
      ('tr_1', 'acme', 'live', 'pending', 99999999999999999, 'HTG', 'kid-1', 1, 1),
      ('tr_2', 'acme', 'live', 'pending', 99999999999999999, 'HTG', 'kid-1', 1, 1)
  `);
  await refuse('pending_deliveries', "NEW.id = 'dl_1_1'");
  const settle = (label: string) => {
    const settlement = { id: `tr_${label}`, status: 'completed', failure: null, now: 5 } as const;
    return storage.transfers.settle({ ...settlement, event: sampleEvent(label) });
  };
  await expect(settle('1')).rejects.toMatchObject(unavailable);
  expect(await settle('2')).toMatchObject({ settled: true, transfer: { amount: 99_999_999_999_999_999n } });
  expect(await all('SELECT id, status FROM ostiary.transfers ORDER BY id')).toEqual([
    ['tr_1', 'pending'],
    ['tr_2', 'completed'],
  ]);
  expect(await all('SELECT id, sequence FROM ostiary.events')).toEqual([['evt_2', '1']]);
  expect(await all('SELECT id FROM ostiary.deliveries')).toEqual([['dl_2_1']]);
});

test('an attempt that cannot be logged leaves its batch with the worker', async () => {
  const { storage, all, execute, refuse } = await openStorage();
  await publish(storage, '1', '2');
  const next = { status: 'pending', dueAt: 9 } as const;
  const results = (await storage.deliveries.claim(hold)).map((claimed) => sampleResult(claimed, next));
  await refuse('delivery_attempts', 'NEW.delivery_number = 2');
  await expect(storage.deliveries.finish(results)).rejects.toMatchObject(unavailable);
  expect(await all('SELECT id, claim_id, attempts FROM ostiary.pending_deliveries ORDER BY id')).toEqual([
    ['dl_1_1', 'c', 0],
    ['dl_2_1', 'c', 0],
  ]);
  await execute('DROP TRIGGER refuse ON delivery_attempts');
  expect(await storage.deliveries.finish(results)).toEqual([true, true]);
  expect(await all('SELECT id, claim_id, attempts FROM ostiary.pending_deliveries ORDER BY id')).toEqual([
    ['dl_1_1', null, 1],
    ['dl_2_1', null, 1],
  ]);
});

test('a delivery that cannot be ended leaves its batch with the worker', async () => {
  const { storage, all, execute, refuse } = await openStorage();
  await publish(storage, '1', '2');
  const results = (await storage.deliveries.claim(hold)).map((claimed) => sampleResult(claimed));
  await refuse('deliveries', 'NEW.number = 2', 'UPDATE');
  await expect(storage.deliveries.finish(results)).rejects.toMatchObject(unavailable);
  expect(await all('SELECT id, claim_id FROM ostiary.pending_deliveries ORDER BY id')).toEqual([
    ['dl_1_1', 'c'],
    ['dl_2_1', 'c'],
  ]);
  expect(await all('SELECT DISTINCT status, final_attempt FROM ostiary.deliveries')).toEqual([
    ['pending', null],
  ]);
  await execute('DROP TRIGGER refuse ON deliveries');
  expect(await storage.deliveries.finish(results)).toEqual([true, true]);
  expect(await all('SELECT DISTINCT status, final_attempt FROM ostiary.deliveries')).toEqual([
    ['delivered', 1],
  ]);
  expect(await all('SELECT id FROM ostiary.pending_deliveries')).toEqual([]);
  expect(await all('SELECT delivery_number FROM ostiary.delivery_attempts')).toEqual([]);
});

test('the end of deliveries that succeed writes no index of theirs', async () => {
  const { storage, all } = await openStorage();
  const labels = Array.from({ length: 300 }, (_, index) => `${index}`);
  await publish(storage, ...labels);
  const claimed = await storage.deliveries.claim({ ...hold, limit: 300, room: 300 });
  expect(claimed).toHaveLength(300);
  await storage.deliveries.finish(claimed.map((one) => sampleResult(one)));
  // One call after the other is one connection, which tells here what it has counted.
  await all('SELECT pg_stat_force_next_flush()');
  expect(
    await all(`
      SELECT n_tup_upd::integer, n_tup_hot_upd::integer FROM pg_stat_user_tables
      WHERE relid = 'ostiary.deliveries'::regclass
    `),
  ).toEqual([[300, 300]]);
});

test.each([
  {
    what: 'is claimed anew',
    statement: "UPDATE pending_deliveries SET claim_id = 'd'",
    counted: [false],
    left: 1,
  },
  {
    what: 'is only locked',
    statement: 'SELECT FROM pending_deliveries FOR UPDATE',
    counted: [true],
    left: 0,
  },
])(
  'a result that waits for a delivery which $what meanwhile counts: $counted',
  async ({ statement, ...then }) => {
    const { storage, schema, holding, waiting, all } = await openStorage();
    await publish(storage, '1');
    const [claimed] = await storage.deliveries.claim(hold);
    const id = claimed?.id ?? '';
    const other = await holding(`SET search_path TO "${schema}"`);
    await other.query(statement);
    const finishing = storage.deliveries.finish([sampleResult({ id, claimId: 'c', attempt: 1 })]);
    await waiting(1);
    await other.query('COMMIT');
    expect(await finishing).toEqual(then.counted);
    expect(await all('SELECT id FROM ostiary.pending_deliveries')).toHaveLength(then.left);
    expect(await all(`SELECT status FROM ostiary.deliveries WHERE status = 'pending'`)).toHaveLength(
      then.left,
    );
  },
);

test('a purge takes the attempts along', async () => {
  const { storage, all } = await openStorage();
  await publish(storage, '1', '2');
  const [first, second] = await storage.deliveries.claim(hold);
  if (first === undefined || second === undefined) throw new Error('nothing was claimed');
  const soon = { status: 'pending', dueAt: hold.now } as const;
  const later = { status: 'pending', dueAt: hold.now + 1 } as const;
  await storage.deliveries.finish([sampleResult(first, soon), sampleResult(second, later)]);
  const [again] = await storage.deliveries.claim(hold);
  if (again === undefined) throw new Error('nothing was claimed again');
  await storage.deliveries.finish([sampleResult(again, { status: 'dropped' })]);
  expect(await all('SELECT count(*) FROM ostiary.delivery_attempts')).toEqual([['2']]);
  const count = await storage.purge({ now: 9, before: 9, eventsBefore: 9, limit: 9 });
  expect(count).toMatchObject({ events: 1, deliveries: 1 });
  expect(await all('SELECT delivery_number FROM ostiary.delivery_attempts')).toEqual([['2']]);
});

test('an endpoint ends with all that waits for it, however much that is', async () => {
  const { storage, all, execute } = await openStorage();
  await publish(storage, '1');
  await execute(`
    WITH delivered AS (
      INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT 'dl_more_' || i, 1, 'we_1', 'acme', 'live', 'pending', 5 FROM generate_series(1, 20000) AS i
      RETURNING id, number, created_at
    )
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, 'we_1', 1, created_at FROM delivered
  `);
  const [held] = await storage.deliveries.claim({ ...hold, limit: 1 });
  expect(await storage.webhooks.remove(acme, 'we_1', 9)).toBe(true);
  expect(await all('SELECT status, ended_at, count(*) FROM ostiary.deliveries GROUP BY 1, 2')).toEqual([
    ['cancelled', '9', '20001'],
  ]);
  expect(await all('SELECT count(*) FROM ostiary.pending_deliveries')).toEqual([['0']]);
  expect(await storage.deliveries.finish(held === undefined ? [] : [sampleResult(held)])).toEqual([false]);
});

test('a key that is taken while its answer is not known yet shows no answer to anybody', async () => {
  const { storage, watched } = await openStorage();
  await publish(storage, '1');
  const fingerprint = Buffer.alloc(32, 7);
  const key = { ...acme, key: 'key', fingerprint };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      storage.deliveries.redeliver({
        ...acme,
        eventId: 'evt_1',
        endpointId: null,
        deliveryId: `dl_${index}`,
        now: 9,
        idempotency: { ...key, endsAt: 99 },
        answer: ([delivery]) => ({ status: 202, body: `${delivery?.id}` }),
      }),
    ),
  );
  for (const answer of answers) expect(answer).toMatchObject({ answer: { status: 202, body: 'dl_1_1' } });
  expect(await storage.idempotency.find({ ...key, now: 9 })).toMatchObject({ answer: { body: 'dl_1_1' } });
  expect(watched.refusals).toEqual([]);
});
