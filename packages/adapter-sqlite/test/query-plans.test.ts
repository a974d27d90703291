import type { Storage } from '@ostiary/core/storage';
import { expect, onTestFinished, test } from 'vitest';
import { acme, samplePartner } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  claimedOne,
  finish,
  published,
  recover,
  registered,
} from '../../testing/src/contract/webhook-samples.ts';
import { everyCall, storeSamples } from '../../testing/test/adapters/every-call.ts';
import type { Connection } from '../src/connection.ts';
import { Database } from '../src/database.ts';
import { storageOn } from '../src/storage.ts';
import { temporaryFile } from './temporary.ts';

const everything = { ...acme, status: null, reference: null, from: null, to: null, after: null, limit: 10 };
const range = { ...acme, from: 5, to: 9, after: null, limit: 10 };

/** Opens a storage, and records SQLite's query plan for each statement that a call runs. */
async function watchedStorage() {
  const database = new Database({ file: temporaryFile() });
  let ran: string[] = [];
  const storage = storageOn(database);
  await storage.open();
  // Before the stores prepare their statements.
  watch(database.connection(), (source) => ran.push(source));
  onTestFinished(() => storage.close());

  async function plansOf(call: (storage: Storage) => Promise<unknown>): Promise<string[][]> {
    ran = [];
    await call(storage);
    const sources = ran;
    return database.read((connection) => sources.map((source) => planOf(connection, source)));
  }
  return { storage, plansOf };
}

function watch(connection: Connection, onRun: (source: string) => void): void {
  const prepare = connection.prepare.bind(connection);
  const watched = (source: string) =>
    new Proxy(prepare(source), {
      get(statement, name) {
        const member = Reflect.get(statement, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          onRun(source);
          return Reflect.apply(member, statement, args);
        };
      },
    });
  Object.assign(connection, { prepare: watched });
}

function planOf(connection: Connection, source: string): string[] {
  const names = [...source.matchAll(/:(\w+)/g)].map(([, name]) => [name, null]);
  const explain = connection.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`);
  const positions = [...source.matchAll(/\?/g)].map(() => null);
  const rows = positions.length > 0 ? explain.all(...positions) : explain.all(Object.fromEntries(names));
  return rows.map(({ detail }) => detail);
}

test('lists and exports of transfers walk along an index: they neither sort nor scan', async () => {
  const { plansOf } = await watchedStorage();
  const after = { time: 7, id: 'tr_7' };
  const byCreation = [
    'SEARCH transfers USING INDEX transfers_by_creation ' +
      '(partner=? AND mode=? AND created_at>? AND (created_at,id)<(?,?))',
  ];
  for (const page of [everything, { ...everything, after }, { ...everything, from: 5, to: 9, after }]) {
    expect(await plansOf(({ transfers }) => transfers.list(page))).toEqual([byCreation]);
    expect(await plansOf(({ transfers }) => transfers.list({ ...page, status: 'pending' }))).toEqual([
      [byCreation[0]?.replace('by_creation', 'by_status').replace('mode=?', 'mode=? AND status=?')],
    ]);
    for (const status of [null, 'failed'] as const) {
      const request = { ...page, reference: 'order 7', status };
      expect(await plansOf(({ transfers }) => transfers.list(request))).toEqual([
        ['SEARCH transfers USING INDEX transfers_by_reference (partner=? AND mode=? AND reference=?)'],
      ]);
    }
    for (const status of [null, 'failed'] as const) {
      const [[plan, ...sorting] = []] = await plansOf(({ transfers }) =>
        transfers.list({ ...page, partner: null, status }),
      );
      expect(plan).toMatch(
        /^SEARCH transfers USING INDEX transfers_by_time \(mode=\? AND created_at>\? AND /,
      );
      // Sorts transfers of the same millisecond by id.
      expect(sorting).toEqual(['USE TEMP B-TREE FOR LAST TERM OF ORDER BY']);
    }
    const oldest =
      'SEARCH transfers USING INDEX transfers_by_creation ' +
      '(partner=? AND mode=? AND (created_at,id)>(?,?) AND created_at<?)';
    const back = { ...page, oldestFirst: true };
    expect(await plansOf(({ transfers }) => transfers.list(back))).toEqual([[oldest]]);
    expect(await plansOf(({ transfers }) => transfers.list({ ...back, status: 'failed' }))).toEqual([
      [oldest.replace('by_creation', 'by_status').replace('mode=?', 'mode=? AND status=?')],
    ]);
  }
  for (const position of [null, after]) {
    expect(await plansOf(({ transfers }) => transfers.listFinal({ ...range, after: position }))).toEqual([
      [
        'SEARCH transfers USING INDEX transfers_final ' +
          '(partner=? AND mode=? AND (updated_at,id)>(?,?) AND updated_at<?)',
      ],
    ]);
  }
});

/** Matches scans of a whole table without an index, unless the table stays small or is in memory. */
const scan =
  /^SCAN (?!CONSTANT|\(subquery|ending|json_each|client_documents|event_sequences|signing_keys|audit_head|schema_migrations|pragma_database_list|late\b|wanted\b|firsts\b|newest\b|shown\b)(?!.* USING )/;

/** Storage calls that may sort the rows of one user, client, partner or event, or the due rows. */
const sorting = new Set([
  ...['grants.issue', 'consents.list', 'consents.restore', 'signingKeys.list', 'webhooks.list'],
  'events.partnersHolding',
  ...['deliveries.claim', 'deliveries.latestStates', 'deliveries.countBySteps', 'survey'],
  'events.countUndelivered',
  // Sort the rows of one millisecond by their ids.
  ...['events.everywhere', 'portal.list'],
  // Sort the few rows that they found.
  ...['partners.named', 'clients.named'],
  // At most as many rows as there are counts in 90 days.
  'hourlyCounts.read',
  // Calls that may sort the rows of one partner in test mode beyond a limit.
  ...['transfers.removeOldest', 'requestLog.removeOldest', 'idempotency.removeOldest'],
  'inbox.removeOldest',
]);

/**
 * Scans that are permitted for an operator's occasional use: the queue, and issued tokens. None reads ended
 * deliveries.
 */
const ofOperators = /^SCAN (?:jobs|due_jobs|due_deliveries|given_up|api_keys|webhook_endpoints)$/;

/**
 * Table scans that are permitted once after the clock was set back: of the queue and of all endpoints. None
 * reads ended deliveries.
 */
const ofWaits = /^SCAN (?:jobs|endpoint_queues)$/;

/** Matches scans of the table of failing endpoints, which are permitted because they run once a minute. */
const ofFailures = /^SCAN failure$/;

test('no call scans a table that grows, or sorts', async () => {
  const { storage, plansOf } = await watchedStorage();
  await storeSamples(storage);
  const disabling = (all: Storage) => all.partners.replace(samplePartner({ version: 3, disabledAt: now }));
  for (const [name, call] of [...everyCall, ['partners.replace, which disables', disabling] as const]) {
    const all = (await plansOf(call)).flat();
    const read: Readonly<Record<string, RegExp>> = {
      ...{ survey: ofOperators, boundWaits: ofWaits, 'notices.due': ofFailures },
    };
    const steps = all.filter((step) => !read[name]?.test(step));
    const wrong = steps.filter((step) => scan.test(step) || (/B-TREE/.test(step) && !sorting.has(name)));
    expect.soft(wrong, name).toEqual([]);
  }
});

test('a claim walks along what is due of endpoints, and reads no delivery that it does not give out', async () => {
  const { storage, plansOf } = await watchedStorage();
  await registered(storage, '1');
  await published(storage, '1');
  const searches = (plans: string[][]) =>
    plans.map((plan) => plan.filter((step) => /^SEARCH|^SCAN (?!walk)|B-TREE/.test(step)));
  const plans = await plansOf((all) => claim(all, 'c'));
  expect(searches(plans).filter((plan) => plan.length > 0)).toEqual([
    [
      'SEARCH endpoint_queues USING INDEX endpoint_queues_due (next_due<?)',
      expect.stringMatching(/^SEARCH webhook_endpoints USING INDEX \w+ \(id=\?\)$/),
      'USE TEMP B-TREE FOR ORDER BY',
    ],
    [
      'SEARCH deliveries USING INDEX deliveries_pending (endpoint_id=? AND ready_at<?)',
      'SEARCH events USING INTEGER PRIMARY KEY (rowid=?)',
    ],
    ['SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)', expect.stringMatching(/^SCAN json_each /)],
    [
      'SEARCH endpoint_queues USING PRIMARY KEY (endpoint_id=?)',
      'SEARCH deliveries USING COVERING INDEX deliveries_pending (endpoint_id=?)',
    ],
  ]);
});

test('a final result is one write, and a look at the failure of the endpoint', async () => {
  const { storage, plansOf } = await watchedStorage();
  await registered(storage, '1');
  await published(storage, '1');
  const held = await claimedOne(storage, 'c');
  const [update, recovery] = await plansOf((all) => finish(all, held, { status: 'delivered' }));
  expect(recovery?.[0]).toBe('SEARCH endpoint_failures USING PRIMARY KEY (endpoint_id=?)');
  expect(update).toEqual(['SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id=?)']);
});

test('lists of deliveries walk along an index, and sort only what is pending or belongs to one event', async () => {
  const { plansOf } = await watchedStorage();
  const request = { ...acme, endpointId: null, eventId: null, status: null, after: null, limit: 10 };
  const ofAttempts = /SCALAR SUBQUERY|subquery|UNION|LEFT|RIGHT|delivery_attempts|CONSTANT ROW/;
  const plan = async (changes: object) => {
    const [steps] = await plansOf(({ deliveries }) => deliveries.list({ ...request, ...changes }));
    return steps?.filter((step) => !ofAttempts.test(step));
  };
  const position = '(created_at,id)<(?,?)';
  const ofDelivery = 'SEARCH events USING INTEGER PRIMARY KEY (rowid=?)';
  expect(await plan({})).toEqual([
    `SEARCH deliveries USING INDEX deliveries_by_owner (partner=? AND mode=? AND ${position})`,
    ofDelivery,
  ]);
  expect(await plan({ endpointId: 'we_1', after: { time: 7, id: 'dl_7' } })).toEqual([
    `SEARCH deliveries USING INDEX deliveries_by_endpoint (endpoint_id=? AND ${position})`,
    ofDelivery,
  ]);
  for (const status of ['dropped', 'failing']) {
    expect(await plan({ status })).toEqual([
      `SEARCH deliveries USING INDEX deliveries_failed (partner=? AND mode=? AND failed_as=? AND ${position})`,
      ofDelivery,
    ]);
    expect(await plan({ endpointId: 'we_1', status })).toEqual([
      `SEARCH deliveries USING INDEX deliveries_failed_by_endpoint (endpoint_id=? AND failed_as=? AND ${position})`,
      ofDelivery,
    ]);
  }
  expect(await plan({ endpointId: 'we_1', status: 'pending' })).toEqual([
    'SEARCH deliveries USING INDEX deliveries_pending (endpoint_id=?)',
    expect.stringMatching(/^LIST SUBQUERY \d+$/),
    expect.stringMatching(/^SEARCH webhook_endpoints USING COVERING INDEX \w+ \(/),
    ofDelivery,
    'USE TEMP B-TREE FOR ORDER BY',
  ]);
  expect(await plan({ endpointId: 'we_1', eventId: 'evt_1' })).toEqual([
    expect.stringMatching(/^SEARCH events USING INDEX \w+ \(id=\?\)$/),
    'SEARCH deliveries USING INDEX deliveries_by_event (event_number=?)',
    'USE TEMP B-TREE FOR ORDER BY',
  ]);
  const [latest] = await plansOf(({ deliveries }) =>
    deliveries.latestStates({ ...acme, eventIds: ['evt_1'], limit: 9 }),
  );
  expect(latest).toContain('SEARCH deliveries USING INDEX deliveries_by_event (event_number=?)');
  const [counted] = await plansOf(({ deliveries }) =>
    deliveries.countBySteps({ ...acme, endpointId: 'we_1', since: now, stepMs: 1_000, limit: 9 }),
  );
  expect(counted).toContain(
    'SEARCH deliveries USING INDEX deliveries_by_endpoint (endpoint_id=? AND created_at>?)',
  );
});

test('the latest events of a type are found along an index', async () => {
  const { plansOf } = await watchedStorage();
  const all = { before: null, after: null, until: null, status: null, endpointId: null };
  const latest = (type: string | null) =>
    plansOf(({ events }) => events.latest({ ...acme, ...all, type, limit: 10 }));
  const search = 'SEARCH events USING INDEX';
  // Searches for the deliveries of each event, or between two numbers if that is cheaper.
  const deliveries = [
    'CORRELATED SCALAR SUBQUERY 1',
    'SEARCH deliveries USING INDEX deliveries_by_event (event_number=?)',
  ];
  expect(await latest(null)).toEqual([
    [
      `${search} sqlite_autoindex_events_2 (partner=? AND mode=? AND sequence>? AND sequence<?)`,
      ...deliveries,
    ],
  ]);
  expect(await latest('kyc.updated')).toEqual([
    [
      `${search} events_by_type (partner=? AND mode=? AND type=? AND sequence>? AND sequence<?)`,
      ...deliveries,
    ],
  ]);
});

test('a recovery looks at what was dropped, and at what came after each', async () => {
  const { storage, plansOf } = await watchedStorage();
  await registered(storage, '1');
  const plans = await plansOf((all) => recover(all, 'we_1', '2'));
  expect(plans.find((plan) => plan.some((step) => step.includes('dropped')))).toEqual([
    'SEARCH deliveries USING INDEX deliveries_dropped (endpoint_id=? AND ended_at>?)',
    'CORRELATED SCALAR SUBQUERY 1',
    'SEARCH later USING INDEX deliveries_by_event (event_number=? AND endpoint_id=? AND rowid>?)',
  ]);
});
