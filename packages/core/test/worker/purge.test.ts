import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import type { Core } from '../../src/options/context.ts';
import type { PurgeCount } from '../../src/storage.ts';
import { purgeHandler } from '../../src/worker/purge.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { TestClock } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const day = 24 * 3_600_000;
const minute = 60_000;
const kinds = [
  'interactions',
  'answers',
  'sandbox',
  'portal',
  'proofIds',
  'pushedRequests',
  'tokens',
  'grants',
  'idempotency',
  'events',
  'deliveries',
  'rateLimits',
] as const;
const removed = (count: number) =>
  Object.fromEntries(kinds.map((kind) => [kind, count])) as unknown as PurgeCount;

/**
 * Runs the purge on a storage that reports these numbers of removed rows, call by call; `requests` are those
 * of the request log, `clients` those of unused clients with metadata documents, `hours` those of hourly
 * counts.
 */
async function purged(
  answers: readonly PurgeCount[] = [],
  requests: readonly number[] = [],
  clients: readonly number[] = [],
  hours: readonly number[] = [],
) {
  const asked: unknown[] = [];
  const unused: unknown[] = [];
  const logged: unknown[] = [];
  const counted: unknown[] = [];
  const totals: object[] = [];
  const clock = new TestClock();
  const storage = {
    ...memoryStorage(),
    purge: async (request: object) => answers[asked.push(request) - 1] ?? removed(0),
    boundWaits: async () => ({ jobs: 0, deliveries: 0 }),
    requestLog: { purge: async (...request: unknown[]) => requests[logged.push(request) - 1] ?? 0 },
    clientDocuments: { purge: async (...request: unknown[]) => clients[unused.push(request) - 1] ?? 0 },
    hourlyCounts: { purge: async (...request: unknown[]) => hours[counted.push(request) - 1] ?? 0 },
    events: { testPartners: async () => [] },
    partners: { list: async () => [] },
  };
  const logger = { debug: (fields: object) => void totals.push(fields), info() {}, warn() {}, error() {} };
  const job = {
    id: 'purge',
    kind: 'purge',
    payload: {},
    dueAt: 0,
    claimId: 'c',
    attempt: 1,
    owner: '' as const,
  };
  const core = {
    storage,
    clock,
    options: { logger, webhooks: { retentionDays: 30, retryDelaysSeconds: [60] } },
  };
  const next = await purgeHandler(core as unknown as Core, {})({}, job);
  return { asked, logged, unused, counted, totals, next, now: clock.now() };
}

it('the purge asks for what ended, with a day of grace, and comes again ten minutes later', async () => {
  const { asked, logged, unused, counted, next, now } = await purged();
  expect(asked).toEqual([{ now, before: now - day, eventsBefore: now - 30 * day, limit: 500 }]);
  expect(logged).toEqual([[now - 7 * day, 500]]);
  expect(unused).toEqual([[now - 30 * day, 500]]);
  expect(counted).toEqual([[now - 90 * day, 500]]);
  expect(next).toEqual({ dueAt: now + 10 * minute });
});

it.each(kinds)('the purge continues in batches while there is a full batch of %s', async (kind) => {
  const full = { ...removed(1), [kind]: 500 };
  const { asked, totals } = await purged([full, full, { ...full, [kind]: 499 }]);
  expect(asked).toHaveLength(3);
  expect(totals).toEqual([
    { ...removed(3), [kind]: 1_499, requests: 0, clientDocuments: 0, hourlyCounts: 0 },
  ]);
});

it('the purge continues while there is a full batch of logged requests', async () => {
  const { asked, totals } = await purged([], [500, 7]);
  expect([asked.length, totals]).toEqual([
    2,
    [{ ...removed(0), requests: 507, clientDocuments: 0, hourlyCounts: 0 }],
  ]);
});

it('the purge continues while there is a full batch of unused clients', async () => {
  const { asked, totals } = await purged([], [], [500, 7]);
  expect([asked.length, totals]).toEqual([
    2,
    [{ ...removed(0), requests: 0, clientDocuments: 507, hourlyCounts: 0 }],
  ]);
});

it('the purge continues while there is a full batch of hourly counts', async () => {
  const { asked, totals } = await purged([], [], [], [500, 7]);
  const others = { ...removed(0), requests: 0, clientDocuments: 0 };
  expect([asked.length, totals]).toEqual([2, [{ ...others, hourlyCounts: 507 }]]);
});

it('the purge gives others a turn after a hundred batches, and comes again at once', async () => {
  const { asked, next, now } = await purged(Array.from({ length: 1_000 }, () => removed(500)));
  expect([asked.length, next]).toEqual([100, { dueAt: now }]);
});

it('all processes have one purge job, which runs every ten minutes', async () => {
  const shared = { storage: memoryStorage(), sealingKeys: [new Uint8Array(32).fill(7)] };
  const first = await startProvider(shared);
  const second = await startProvider({ ...shared, clock: first.clock });
  const ran = async () => [await first.ostiary.worker.runDue(), await second.ostiary.worker.runDue()];
  expect(await ran()).toEqual([1, 0]);
  first.clock.advance(10 * minute - 1);
  expect(await ran()).toEqual([0, 0]);
  first.clock.advance(1);
  const both = await Promise.all([first.ostiary.worker.runDue(), second.ostiary.worker.runDue()]);
  expect(both.toSorted()).toEqual([0, 1]);
});

it.each([
  [30, {}],
  [2, { retentionDays: 2 }],
])('events are asked for that are older than %i days', async (days, webhooks) => {
  const database = fragileStorage();
  const { ostiary, clock } = await startProvider({ storage: database.storage, webhooks });
  await ostiary.worker.runDue();
  const asked = database.given[database.calls.indexOf('purge')];
  expect(asked).toMatchObject([{ eventsBefore: clock.now() - days * day }]);
});
