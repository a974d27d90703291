import type { EventFilter, Storage } from '@ostiary/core/storage';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { acme, sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { resultOf } from '../../testing/src/contract/webhook-samples.ts';
import { storeSamples } from '../../testing/test/adapters/every-call.ts';
import { postgresStorage } from '../src/index.ts';
import { nodesOf, type PlanNode, planOf, readBy, withoutFrame } from './plans.ts';
import { calls, identityRows, partnerRows } from './rows.ts';
import { serverForTests } from './server.ts';
import { watchedPool } from './watched-pool.ts';

const server = serverForTests();
let filled: Awaited<ReturnType<typeof filledStorage>>;

beforeAll(async () => {
  filled = await filledStorage();
});
afterAll(() => filled.end());

/** Lists how a query plan reads tables, and what it sorts. The rest of a plan follows from these. */
function stepsOf(nodes: readonly PlanNode[]): string[] {
  return nodes.flatMap((node) => {
    const type = node['Node Type'];
    if (type.endsWith('Sort')) return [type];
    const relation = node['Relation Name'];
    // There are few endpoints, so any way to read them is good.
    if (relation === undefined || relation === 'webhook_endpoints' || type === 'ModifyTable') return [];
    return [`${type} ${node['Index Name'] ?? relation}`];
  });
}

/**
 * Opens a storage with many rows of one partner and a few of another. `isKnown` adds many identities and
 * up-to-date statistics.
 */
async function filledStorage({ isKnown = true } = {}) {
  const schema = server.nextSchema();
  const watched = watchedPool(server.url);
  const storage = postgresStorage({ pool: watched.pool, schema });
  await storage.open();
  // Analyze all rows, because a sample could lead to different plans.
  await watched.own.query(`
    SET search_path TO "${schema}";
    SET default_statistics_target = 1000;
    ANALYZE;
    ${isKnown ? identityRows : ''}
    ${partnerRows}
    ${isKnown ? 'ANALYZE' : ''}
  `);
  watched.ran();

  /**
   * Returns the steps of the query plan of each statement that a storage call sends, planned for the
   * statement's values.
   */
  async function stepsOfCall(call: (storage: Storage) => Promise<unknown>): Promise<string[][]> {
    // Forget the statements of other tests.
    watched.ran();
    await call(storage);
    const statements = withoutFrame(watched.ran());
    return Promise.all(statements.map(async (one) => stepsOf(nodesOf(await planOf(watched, one)))));
  }
  async function end(): Promise<void> {
    await storage.close();
    await watched.end();
  }
  return { storage, watched, stepsOfCall, end };
}

const page = { ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 10 };
const list = { ...acme, endpointId: null, eventId: null, status: null, after: null, limit: 10 };
const hold = {
  claimId: 'c',
  now: 90_000,
  leaseMs: 5,
  limit: 50,
  endpointLimit: 5,
  endpointLimits: new Map<string, number>(),
};

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
    const back = { ...request, oldestFirst: true };
    expect(await stepsOfCall(({ transfers }) => transfers.list(back))).toEqual([
      ['Index Scan transfers_by_creation'],
    ]);
    for (const status of [null, 'pending'] as const)
      for (const oldestFirst of [false, true]) {
        const ofAll = { ...request, partner: null, status, oldestFirst };
        // Sorts transfers of the same millisecond by id.
        expect(await stepsOfCall(({ transfers }) => transfers.list(ofAll))).toEqual([
          ['Incremental Sort', 'Index Scan transfers_by_time'],
        ]);
      }
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
    // Sorts the attempts of one delivery.
    'Sort',
    'Index Scan delivery_attempts_pkey',
  ];
  const steps = (changes: object) =>
    stepsOfCall(({ deliveries }) => deliveries.list({ ...list, ...changes }));
  expect(await steps({})).toEqual([['Index Scan deliveries_by_owner', ...shown]]);
  expect(await steps({ endpointId: 'we_0007', after: { time: 3000, id: 'dl_7' } })).toEqual([
    ['Index Scan deliveries_by_endpoint', ...shown],
  ]);
  for (const status of ['dropped', 'failing']) {
    expect(await steps({ status })).toEqual([['Index Scan deliveries_failed', ...shown]]);
    expect(await steps({ status, endpointId: 'we_0007' })).toEqual([
      ['Index Scan deliveries_failed_by_endpoint', ...shown],
    ]);
  }
  for (const endpointId of [null, 'we_0007']) {
    expect(await steps({ eventId: 'evt_70', endpointId })).toEqual([
      ['Sort', 'Index Scan deliveries_by_event', 'Index Scan events_id_key', ...shown],
    ]);
  }
  const of = { partner: 'acme', mode: 'live', eventIds: ['evt_7', 'evt_70'], limit: 9 } as const;
  const [latest = []] = await stepsOfCall(({ deliveries }) => deliveries.latestStates(of));
  expect(latest).toContain('Index Scan deliveries_by_event');
  const recent = {
    partner: 'acme',
    mode: 'live',
    endpointId: 'we_0007',
    since: 0,
    stepMs: 1_000,
    limit: 9,
  } as const;
  const [counted = []] = await stepsOfCall(({ deliveries }) => deliveries.countBySteps(recent));
  expect(counted).toContain('Index Scan deliveries_by_endpoint');
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
  /**
   * Lists the ids and states of all deliveries, page by page: reading all rows at once could take longer than
   * a call may.
   */
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
    // The table has a single page, which the planner reads as a whole.
    expect.stringMatching(/^(Seq|Index) Scan event_sequences/),
  ]);
  const all = { before: null, after: null, type: null, until: null, status: null, endpointId: null };
  const latest = async (filter: Partial<EventFilter>) => {
    const request = { ...acme, ...all, ...filter, limit: 10 };
    return (await stepsOfCall(({ events }) => events.latest(request)))[0];
  };
  const walk = 'Index Scan events_partner_mode_sequence_key';
  for (const before of [null, 1000]) {
    expect(await latest({ before })).toEqual([walk]);
    expect(await latest({ before, type: 'payment.failed' })).toEqual(['Index Scan events_by_type']);
    // For each event, only its own deliveries are read.
    const ofEach = [walk, expect.stringMatching(/^(Index|Index Only) Scan deliveries_by_event$/)];
    for (const filter of [{ status: 'cancelled' }, { status: 'none' }, { endpointId: 'we_0007' }] as const) {
      expect(await latest({ before, after: 10, ...filter })).toEqual(ofEach);
    }
  }
});

/** Steps of query plans by which a claim may read the tables that grow. */
const claimSteps = new Set([
  'Index Scan pending_deliveries_ready',
  'Index Only Scan pending_deliveries_ready',
  'Index Scan pending_deliveries_published',
  'Index Only Scan pending_deliveries_published',
  'Tid Scan pending_deliveries',
  'Index Scan events_pkey',
  'Bitmap Heap Scan events',
]);

test('a claim walks along indexes, also before the server has counted anything', async () => {
  const unknown = await filledStorage({ isKnown: false });
  onTestFinished(unknown.end);
  for (const { stepsOfCall } of [filled, unknown]) {
    for (const request of [hold, { ...hold, endpointLimit: 0, endpointLimits: new Map([['we_0003', 4]]) }]) {
      const [steps = []] = await stepsOfCall(({ deliveries }) => deliveries.claim(request));
      const growing = steps.filter((step) => /events|deliveries/.test(step));
      expect(growing).toContain('Index Scan pending_deliveries_published');
      expect(growing.filter((step) => !claimSteps.has(step))).toEqual([]);
    }
  }
});

test('a claim reads no delivery that it does not return, for any number of waiting ones', async () => {
  const { storage, watched } = filled;
  /** Returns the numbers of rows that a claim reads from each index of pending work. */
  async function read(request: Partial<Parameters<Storage['deliveries']['claim']>[0]>): Promise<number[]> {
    watched.ran();
    const wanted = { ...hold, ...request };
    // Send the claim without room, then explain it with the wanted room and roll it back.
    await storage.deliveries.claim({ ...wanted, limit: 0 });
    const [ran] = watched.ran();
    const values = ran?.values.map((value) => (value === 0 ? wanted.limit : value)) ?? [];
    const nodes = nodesOf(await readBy(watched, ran && { ...ran, values }));
    const ofIndex = nodes.filter((node) => node['Index Name']?.startsWith('pending_deliveries'));
    return ofIndex.map((node) => {
      const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
      return Math.round(perLoop * (node['Actual Loops'] ?? 0));
    });
  }
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  expect(sum(await read({}))).toBe(50);
  expect(sum(await read({ endpointLimits: new Map([['we_0001', 0]]) }))).toBe(50);
  // Deliveries of an earlier claim are not read again.
  const held = await storage.deliveries.claim({ ...hold, leaseMs: 30_000 });
  expect(held).toHaveLength(50);
  expect(sum(await read({}))).toBe(50);
});

test('of a batch nothing is compared row by row, which takes a second for a thousand of them', async () => {
  const { storage, watched } = filled;
  const settlement = { id: 'tr_20', failure: null, event: sampleEvent('batch 1'), now: 1 };
  for (const call of [
    () => storage.events.publish([sampleEvent('batch 2')], { idempotency: null, now: 1 }),
    () => storage.transfers.settle({ ...settlement, status: 'completed' }),
    () => storage.deliveries.claim(hold),
    () => storage.deliveries.finish([resultOf({ id: 'dl_4', claimId: 'c', attempt: 1 })]),
  ]) {
    watched.ran();
    await call();
    const [ran, ...others] = watched.ran();
    expect(others).toEqual([]);
    const nodes = ran === undefined ? [] : nodesOf(await planOf(watched, ran));
    expect(nodes.length).toBeGreaterThan(10);
    const compared = nodes.filter((node) => node['Node Type'] === 'Nested Loop' && 'Join Filter' in node);
    expect([ran?.text, compared.map((node) => node['Join Filter'])]).toEqual([ran?.text, []]);
  }
});

test('a result is looked up by its id, removed from where it is, and its delivery found by its number', async () => {
  const { stepsOfCall } = filled;
  const results = ['dl_4', 'dl_8'].map((id) => resultOf({ id, claimId: 'c', attempt: 1 }));
  const byId = expect.stringMatching(
    /^(Index Scan pending_deliveries_pkey|Bitmap Heap Scan pending_deliveries)$/,
  );
  const inPlace = 'Tid Scan pending_deliveries';
  const [steps = []] = await stepsOfCall(({ deliveries }) => deliveries.finish(results));
  expect(steps.filter((step) => step !== 'Sort')).toEqual([
    byId,
    'Index Scan endpoint_queues_pkey',
    'Index Scan endpoint_queues_pkey',
    byId,
    byId,
    inPlace,
    'Index Scan deliveries_pkey',
    'Index Scan deliveries_pkey',
    'Incremental Sort',
    'Index Scan endpoint_failures_pkey',
    'Index Scan deliveries_failed_by_endpoint',
  ]);
});

/** Tables that stay small, or that are empty in this test, so that a scan of them is no problem. */
const small = [
  ...['webhook_endpoints', 'endpoint_queues', 'event_sequences', 'signing_keys', 'schema_migrations'],
  ...['audit', 'audit_head', 'client_logos', 'client_documents', 'endpoint_failures'],
];

/** Storage calls for hundreds of deliveries, for which the server may read all events. */
const ofHundreds = new Set(['deliveries.redeliver', 'deliveries.list']);

/**
 * Tables that statements for an operator's occasional use may scan: queues and issued keys. None of these
 * statements reads ended deliveries.
 */
const ofOperators = ['jobs', 'pending_deliveries', 'api_keys'];

// Last, because some calls end the existing objects.
test('no call reads a table of many rows from its beginning to its end', async () => {
  const { storage, watched } = filled;
  await storeSamples(storage);
  for (const [name, call] of calls) {
    watched.ran();
    await call(storage);
    const statements = withoutFrame(watched.ran());
    const nodes = (await Promise.all(statements.map((one) => planOf(watched, one)))).flatMap(nodesOf);
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan');
    const tables = scanned.map((node) => String(node['Relation Name']));
    const allowed = [
      ...small,
      ...(ofHundreds.has(name) ? ['events'] : []),
      ...(name === 'survey' ? ofOperators : []),
    ];
    const grown = tables.filter((table) => !allowed.includes(table));
    expect.soft(grown, name).toEqual([]);
  }
});
