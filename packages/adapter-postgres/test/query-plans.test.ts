import type { Storage } from '@ostiary/core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { acme, sampleEvent, sampleResult } from './samples.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';
import { watchedPool } from './watched-pool.ts';

let server: TestServer;
let filled: Awaited<ReturnType<typeof filledStorage>>;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
  filled = await filledStorage();
});
afterAll(async () => {
  await filled.end();
  await server.remove();
});

/** A node of a plan, as EXPLAIN tells it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** How tables are read, and what is sorted: the rest of a plan follows from that. */
function stepsOf(nodes: readonly PlanNode[]): string[] {
  return nodes.flatMap((node) => {
    const type = node['Node Type'];
    if (type.endsWith('Sort')) return [type];
    const relation = node['Relation Name'];
    // Of endpoints there are few: any way to read them will do.
    if (relation === undefined || relation === 'webhook_endpoints' || type === 'ModifyTable') return [];
    return [`${type} ${node['Index Name'] ?? relation}`];
  });
}

const transfers = 20_000;
const deliveries = 40_000;
const endpoints = 200;

/** A storage with many rows of a partner, and a few of another one. */
async function filledStorage({ isKnown = true } = {}) {
  const schema = nextSchema();
  const watched = watchedPool(server.url);
  const storage = postgresStorage({ pool: watched.pool, schema });
  await storage.open();
  await watched.own.query(`
    SET search_path TO "${schema}";
    ANALYZE;
    INSERT INTO partners SELECT p, p, 1, 1, NULL, 1 FROM unnest(ARRAY['acme', 'other']) AS p;
    INSERT INTO transfers
      SELECT 'tr_' || i, CASE WHEN i % 50 = 0 THEN 'other' ELSE 'acme' END, 'live',
        CASE WHEN i % 20 = 0 THEN 'pending' ELSE 'completed' END, i, 'USD', 'kid', NULL, 'order ' || i, NULL, NULL, NULL,
        i / 3, i / 2, i / 2
      FROM generate_series(1, ${transfers}) AS i;
    INSERT INTO webhook_endpoints
      SELECT 'we_' || lpad(i::text, 4, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, 'sealed', 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO event_sequences VALUES ('acme', 'live', ${deliveries / 10});
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'acme', 'live', i, 'kyc.updated', repeat('x', 200), i
      FROM generate_series(1, ${deliveries / 10}) AS i;
    -- Half of them delivered, a few dropped, the others due; the first endpoint has most of the backlog.
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at, ended_at)
      SELECT 'dl_' || i, 1 + i / 10, 'we_' || lpad((CASE WHEN i % 4 = 0 THEN 1 ELSE 1 + i / 3 % ${endpoints} END)::text, 4, '0'),
        'acme', 'live', CASE WHEN i % 100 = 1 THEN 'dropped' WHEN i % 4 = 0 OR i % 8 = 1 THEN 'pending' ELSE 'delivered' END,
        1 + i / 10, 1 + i / 10
      FROM generate_series(1, ${deliveries - 10}) AS i;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT id, number, endpoint_id, event_number, created_at FROM deliveries WHERE status = 'pending';
    INSERT INTO delivery_attempts SELECT number, 1, 1, 1, 200, NULL, 'ok' FROM deliveries WHERE status = 'delivered';
    ${isKnown ? 'ANALYZE' : ''}
  `);
  watched.ran();

  /** What each statement that a call runs does, as planned for its values. */
  async function stepsOfCall(call: (storage: Storage) => Promise<unknown>): Promise<string[][]> {
    // What ran before is of other tests.
    watched.ran();
    await call(storage);
    const statements = watched.ran().filter(({ text }) => !/^\s*(BEGIN|COMMIT|ROLLBACK)/.test(text));
    return Promise.all(
      statements.map(async ({ text, values }) => {
        const { rows } = await watched.own.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
        return stepsOf(nodesOf(rows[0]['QUERY PLAN'][0].Plan));
      }),
    );
  }
  async function end(): Promise<void> {
    await storage.close();
    await watched.end();
  }
  return { storage, schema, watched, stepsOfCall, end };
}

const page = { ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 10 };
const list = { ...acme, endpointId: null, eventId: null, status: null, after: null, limit: 10 };
const hold = { claimId: 'c', now: 90_000, leaseMs: 5, limit: 50, room: 5 };
const slots = new Map<string, number>();

test('lists of transfers and exports walk along an index: they neither sort nor scan', async () => {
  const { stepsOfCall } = filled;
  const after = { time: 400, id: 'tr_1200' };
  for (const position of [{}, { after }, { from: 5, to: 900, after }]) {
    const request = { ...page, ...position };
    expect(await stepsOfCall(({ transfers }) => transfers.list(request))).toEqual([
      ['Index Scan transfers_by_creation'],
    ]);
    expect(await stepsOfCall(({ transfers }) => transfers.list({ ...request, status: 'pending' }))).toEqual([
      ['Index Scan transfers_by_status'],
    ]);
    expect(
      await stepsOfCall(({ transfers }) => transfers.list({ ...request, reference: 'order 7' })),
    ).toEqual([['Index Scan transfers_by_reference']]);
  }
  for (const position of [null, after]) {
    const range = { ...acme, from: 5, to: 900, after: position, limit: 10 };
    expect(await stepsOfCall(({ transfers }) => transfers.listFinal(range))).toEqual([
      ['Index Scan transfers_final'],
    ]);
  }
});

test('lists of deliveries walk along an index, and sort only what there is of one event', async () => {
  const { stepsOfCall } = filled;
  const shown = [
    'Index Scan events_pkey',
    'Index Scan pending_deliveries_pkey',
    // The attempts of one delivery.
    'Sort',
    'Index Scan delivery_attempts_pkey',
  ];
  const steps = (changes: object) =>
    stepsOfCall(({ deliveries }) => deliveries.list({ ...list, ...changes }));
  expect(await steps({})).toEqual([['Index Scan deliveries_by_owner', ...shown]]);
  expect(await steps({ endpointId: 'we_0007', after: { time: 3000, id: 'dl_7' } })).toEqual([
    ['Index Scan deliveries_by_endpoint', ...shown],
  ]);
  expect(await steps({ status: 'dropped' })).toEqual([['Index Scan deliveries_failed', ...shown]]);
  for (const endpointId of [null, 'we_0007']) {
    expect(await steps({ eventId: 'evt_70', endpointId })).toEqual([
      ['Sort', 'Index Scan deliveries_by_event', 'Index Scan events_id_key', ...shown],
    ]);
  }
});

test('a list of what is pending sorts it where it is little, and walks to the newest where it is much', async () => {
  const { stepsOfCall } = filled;
  const steps = (changes: object) =>
    stepsOfCall(({ deliveries }) => deliveries.list({ ...list, status: 'pending', ...changes }));
  const [counted, sorted] = await steps({ endpointId: 'we_0009' });
  expect(counted).toEqual([expect.stringMatching(/^(Index|Index Only|Bitmap Heap) Scan pending_deliveries/)]);
  expect(sorted).toEqual(expect.arrayContaining(['Sort', 'Index Scan deliveries_pkey']));
  expect(sorted?.filter((step) => step.startsWith('Seq Scan'))).toEqual([]);
  const [, walked] = await steps({});
  expect(walked?.[0]).toMatch(/^Incremental Sort$|^Index Scan deliveries_by_(owner|age)$/);
});

test('both ways to what is pending show the same', async () => {
  const { storage } = filled;
  const ofOne = { endpointId: 'we_0009' };
  /** All that is listed, in pages: one of everything could take longer than a call may. */
  const shown = async (changes: object) => {
    const all: string[][] = [];
    let after: { readonly time: number; readonly id: string } | null = null;
    for (;;) {
      const request = { ...list, limit: 2_000, ...changes, ...(after && { after }) };
      const page = await storage.deliveries.list(request);
      all.push(...page.map(({ id, status }) => [id, status]));
      const last = page.at(-1);
      if (last === undefined) return all;
      after = { time: last.createdAt, id: last.id };
    }
  };
  for (const changes of [{}, ofOne, { ...ofOne, after: { time: 2000, id: 'dl_7' } }]) {
    const expected = (await shown(changes)).filter(([, status]) => status === 'pending');
    expect(expected.length).toBeGreaterThan(20);
    expect(await shown({ ...changes, status: 'pending' })).toEqual(expected);
  }
});

test('a list of events walks along its sequence', async () => {
  const { stepsOfCall } = filled;
  const [steps] = await stepsOfCall(({ events }) => events.list({ ...acme, after: 3, limit: 10 }));
  expect(steps, 'sorts the page').toEqual([
    'Sort',
    'Index Scan events_partner_mode_sequence_key',
    'Index Only Scan events_partner_mode_sequence_key',
  ]);
});

test('a claim jumps from endpoint to endpoint, also before the server has counted anything', async () => {
  const { stepsOfCall } = filled;
  const toOthers = ['Index Scan events_pkey'];
  const walk = 'Index Only Scan pending_deliveries_by_endpoint';
  const first = 'Index Scan pending_deliveries_by_endpoint';
  // What is asked only where very many endpoints have nothing that is due.
  const known = 'Index Scan pending_deliveries_due';
  const others = ['Sort'];
  const chosen = 'Tid Scan pending_deliveries';
  expect(await stepsOfCall(({ deliveries }) => deliveries.claim({ ...hold, slots }))).toEqual([
    [known, walk, walk, ...others, first, chosen, ...toOthers],
  ]);
  const named = { ...hold, room: 0, rooms: new Map([['we_0003', 4]]) };
  expect(await stepsOfCall(({ deliveries }) => deliveries.claim(named))).toEqual([
    [first, chosen, ...toOthers],
  ]);

  const unknown = await filledStorage({ isKnown: false });
  onTestFinished(unknown.end);
  const [steps] = await unknown.stepsOfCall(({ deliveries }) => deliveries.claim({ ...hold, slots }));
  expect(steps?.filter((step) => step === walk || step === first)).toEqual([walk, walk, first]);
  expect(steps?.some((step) => step.startsWith('Seq Scan'))).toBe(false);
});

test('claims of a large backlog are planned once, whatever they ask for', async () => {
  const { storage, watched, end } = await filledStorage();
  onTestFinished(end);
  for (let room = 1; room <= 7; room += 1) {
    const request = { ...hold, limit: 20, after: `we_000${room}`, rooms: new Map([['we_0009', room]]) };
    await storage.deliveries.claim(request);
    await storage.deliveries.claim({ ...request, room: 0 });
  }
  const { rows } = await watched.own.query(
    `SELECT generic_plans > 0 AS "isKept" FROM pg_prepared_statements WHERE statement LIKE '%SET claim_id%'`,
  );
  expect(rows).toEqual([{ isKept: true }, { isKept: true }]);
});

test('claims that were planned while there was nothing do not read all of what comes then, at once', async () => {
  const schema = nextSchema();
  const watched = watchedPool(server.url);
  // Beside the connection of the claims, which would plan anew after any other setting.
  const other = hostPool(server.url);
  const storage = postgresStorage({ pool: watched.pool, schema });
  await storage.open();
  onTestFinished(async () => {
    await storage.close();
    await watched.end();
    await other.end();
  });
  // What the server knows of a table that it has cleaned: that it has no page.
  await other.query('VACUUM (ANALYZE)');
  const known = { ...hold, room: 0, rooms: new Map([['we_0009', 4]]) };
  for (let claim = 0; claim < 9; claim += 1) {
    await storage.deliveries.claim({ ...hold, slots });
    await storage.deliveries.claim(known);
  }
  await other.query(`
    SET search_path TO "${schema}";
    INSERT INTO webhook_endpoints
      SELECT 'we_' || lpad(i::text, 4, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, 'sealed', 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'acme', 'live', i, 'kyc.updated', 'x', i FROM generate_series(1, ${deliveries}) AS i;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT 'dl_' || number, number, 'we_' || lpad((1 + number % ${endpoints})::text, 4, '0'), number, number FROM events;
  `);
  /** Rows that the server has read without an index, all of a table each time. */
  const scanned = async () => {
    await watched.own.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await watched.own.query(
      'SELECT sum(seq_tup_read)::integer AS read FROM pg_stat_user_tables WHERE schemaname = $1',
      [schema],
    );
    return rows[0].read;
  };
  const before = await scanned();
  for (const request of [{ ...hold, slots }, known]) {
    expect((await storage.deliveries.claim(request)).length).toBeGreaterThan(0);
  }
  // Of endpoints there are few: any way to read them will do.
  expect((await scanned()) - before).toBeLessThanOrEqual(2 * endpoints);
});

test('a claim reads no delivery that it does not give out, however many are waiting', async () => {
  const { watched, schema } = filled;
  /** What each part of a claim reads of the index: on the way ahead, to begin again, and of each endpoint. */
  async function read(request: Partial<Parameters<Storage['deliveries']['claim']>[0]>): Promise<number[]> {
    // Of its own each time: one whose claims were slow, on a busy machine, begins them elsewhere.
    const storage = postgresStorage({ pool: watched.pool, schema });
    await storage.open();
    watched.ran();
    const wanted = { ...hold, slots, ...request };
    // Sent with a time at which nothing is due, and then explained with the one that is wanted, and undone.
    await storage.deliveries.claim({ ...wanted, now: -1 });
    const [{ text, values } = { text: '', values: [] }] = watched.ran();
    const client = await watched.own.connect();
    try {
      await client.query('BEGIN');
      const wantedValues = values.map((value) => (value === -1 ? wanted.now : value));
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, wantedValues);
      await client.query('ROLLBACK');
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan);
      const ofIndex = nodes.filter((node) => node['Index Name'] === 'pending_deliveries_by_endpoint');
      return ofIndex.map((node) => {
        const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
        return Math.round(perLoop * (node['Actual Loops'] ?? 0));
      });
    } finally {
      client.release();
    }
  }
  // Ten endpoints are visited, the first of which has a backlog of 10,000; five of each are given out.
  const { now } = hold;
  expect(await read({ now: now + hold.leaseMs })).toEqual([10, 0, 50]);
  const full = new Map([['we_0001', 0]]);
  expect(await read({ now: now + hold.leaseMs, slots: full }), 'one more is visited').toEqual([11, 0, 50]);
  expect(await read({}), 'what an earlier claim holds is passed over').toEqual([10, 0, 100]);
  const after = 'we_0100';
  const waiting = (await read({ now: -5 }))[0] ?? 0;
  expect(waiting, 'each endpoint once').toBeGreaterThan(50);
  expect(waiting).toBeLessThanOrEqual(endpoints);
  const [ahead = 0, again, first] = await read({ now: -5, after });
  expect(ahead, 'where nothing is due, in the middle').toBeGreaterThan(20);
  // One more is looked at to know that the round is over.
  expect([again, first], 'from the beginning').toEqual([waiting - ahead + 1, 0]);
});

test('a result is looked up by its id, removed from where it is, and its delivery found by its number', async () => {
  const { stepsOfCall } = filled;
  const results = ['dl_4', 'dl_8'].map((id) => sampleResult({ id, claimId: 'c', attempt: 1 }));
  const byId = expect.stringMatching(
    /^(Index Scan pending_deliveries_pkey|Bitmap Heap Scan pending_deliveries)$/,
  );
  const inPlace = 'Tid Scan pending_deliveries';
  expect(await stepsOfCall(({ deliveries }) => deliveries.finish(results))).toEqual([
    ['Sort', byId, 'Index Scan pending_deliveries_pkey', inPlace, 'Index Scan deliveries_pkey'],
  ]);
});

test('nothing that webhooks do scans a table that grows', async () => {
  const { stepsOfCall } = filled;
  const again = { ...acme, now: 9, idempotency: null, answer: () => ({ status: 202, body: '' }) };
  const calls: ((storage: Storage) => Promise<unknown>)[] = [
    ({ events }) => events.publish([sampleEvent('new')], { idempotency: null, now: 1 }),
    ({ events }) => events.find(acme, 'evt_7'),
    ({ deliveries }) =>
      deliveries.redeliver({ ...again, eventId: 'evt_9', endpointId: 'we_0009', deliveryId: 'dl_r' }),
    ({ deliveries }) =>
      deliveries.recover({ ...again, endpointId: 'we_0002', since: 3, limit: 9, deliveryId: 'dl_s' }),
    ({ transfers }) => transfers.findById('tr_1'),
    (storage) => storage.purge({ now: 1, before: 1, eventsBefore: 100, limit: 10 }),
  ];
  for (const call of calls) {
    const steps = (await stepsOfCall(call)).flat();
    const scans = steps.filter((step) =>
      /^Seq Scan (transfers|events|deliveries|pending|delivery)/.test(step),
    );
    expect(scans, String(call)).toEqual([]);
  }
});
