import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { pagesOf, readBy } from './plans.ts';
import { sampleEndpoint, sampleEvent, sampleResult } from './samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const delivered = 20_000;
const now = 10_000_000;
const hold = { now, leaseMs: 30_000, limit: 1_000, room: 1_000, rooms: new Map<string, number>() };

type Stage = Awaited<ReturnType<typeof manyDelivered>>;

/**
 * Endpoints `we_1` and `we_2`, for which very many deliveries were made and delivered beside a transaction that began before
 * everything else and does not end: PostgreSQL keeps each version of each row.
 */
async function manyDelivered() {
  const { storage, watched } = await server.watched();
  const forgotten = new Client({ connectionString: server.url });
  await forgotten.connect();
  onTestFinished(() => forgotten.end());
  await forgotten.query('BEGIN; SELECT pg_current_xact_id()');
  for (const label of ['1', '2']) {
    const endpoint = sampleEndpoint(label, { events: [label] });
    await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  }
  const events = Array.from({ length: delivered }, (_, index) =>
    sampleEvent(`gone ${index}`, { type: `${1 + (index % 2)}`, createdAt: now - 1 }),
  );
  for (let first = 0; first < delivered; first += 1_000) {
    await storage.events.publish(events.slice(first, first + 1_000), { idempotency: null, now });
  }
  for (let left = delivered; left > 0; left -= 1_000) {
    const claimed = await storage.deliveries.claim({ ...hold, claimId: `${left}` });
    expect(claimed).toHaveLength(1_000);
    await storage.deliveries.finish(claimed.map((delivery) => sampleResult(delivery)));
  }
  watched.ran();
  return { storage, watched };
}

function publish({ storage: { events } }: Stage, endpoint: string, label: string) {
  return events.publish([sampleEvent(label, { type: endpoint, createdAt: now })], { idempotency: null, now });
}

/** Claims, and answers with the pages that the same claim reads when it runs once more; nothing stays of that. */
async function claimed({ storage, watched }: Stage, at: number) {
  const rows = await storage.deliveries.claim({ ...hold, claimId: `at ${at}`, now: at });
  const last = watched.ran().findLast(({ text }) => text.includes('news AS MATERIALIZED'));
  return { ids: rows.map(({ id }) => id), pages: pagesOf(await readBy(watched, last)) };
}

test('beside an open transaction a claim passes nothing that was delivered', async () => {
  const stage = await manyDelivered();
  await publish(stage, '1', 'first');
  await publish(stage, '2', 'second');
  const { ids, pages } = await claimed(stage, now);
  expect(ids).toEqual(['dl_first_1', 'dl_second_1']);
  expect(pages).toBeLessThan(200);
}, 60_000);

test('it finds what was lost after the end of its lease, and passes the leases that ended well once', async () => {
  const stage = await manyDelivered();
  await publish(stage, '1', 'lost');
  expect((await claimed(stage, now)).ids).toEqual(['dl_lost_1']);
  expect((await claimed(stage, now + hold.leaseMs - 1)).ids).toEqual([]);
  expect((await claimed(stage, now + hold.leaseMs)).ids).toEqual(['dl_lost_1']);
  await publish(stage, '1', 'next');
  const { ids, pages } = await claimed(stage, now + hold.leaseMs + 1);
  expect(ids).toEqual(['dl_next_1']);
  expect(pages).toBeLessThan(200);
}, 60_000);
