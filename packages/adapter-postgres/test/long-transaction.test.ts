import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  leaseMs,
  published,
  registered,
  resultOf,
} from '../../testing/src/contract/webhook-samples.ts';
import { pagesOf, readBy } from './plans.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const delivered = 20_000;

type Stage = Awaited<ReturnType<typeof manyDelivered>>;

/**
 * Prepares the endpoints `we_1` and `we_2`, for which very many deliveries were made and delivered beside a
 * transaction that started before and does not end, so that PostgreSQL keeps every version of every row.
 */
async function manyDelivered() {
  const { storage, watched } = await server.watched();
  const forgotten = new Client({ connectionString: server.url });
  await forgotten.connect();
  onTestFinished(() => forgotten.end());
  await forgotten.query('BEGIN; SELECT pg_current_xact_id()');
  for (const label of ['1', '2']) await registered(storage, label, { events: [label] });
  const events = Array.from({ length: delivered }, (_, index) =>
    sampleEvent(`gone ${index}`, { type: `${1 + (index % 2)}`, createdAt: now - 1 }),
  );
  for (let first = 0; first < delivered; first += 1_000) {
    await storage.events.publish(events.slice(first, first + 1_000), { idempotency: null, now });
  }
  for (let left = delivered; left > 0; left -= 1_000) {
    const claimed = await claim(storage, `${left}`);
    expect(claimed).toHaveLength(1_000);
    await storage.deliveries.finish(claimed.map((delivery) => resultOf(delivery)));
  }
  watched.ran();
  return { storage, watched };
}

/**
 * Claims deliveries. Returns them with the number of pages that the same claim reads when it is repeated and
 * rolled back.
 */
async function claimed({ storage, watched }: Stage, at: number) {
  const rows = await claim(storage, `at ${at}`, { now: at });
  const last = watched.ran().findLast(({ text }) => text.includes('claim_deliveries'));
  const pages = pagesOf(await readBy(watched, last));
  return { rows, ids: rows.map(({ id }) => id), pages };
}

test('during an open transaction a claim skips delivered rows, and reads expired leases once', async () => {
  const stage = await manyDelivered();
  const { storage } = stage;
  await published(storage, 'first', { type: '1' });
  await published(storage, 'second', { type: '2' });
  const { rows, ids, pages } = await claimed(stage, now);
  expect(ids).toEqual(['dl_first_1', 'dl_second_1']);
  expect(pages).toBeLessThan(200);
  await storage.deliveries.finish(rows.map((delivery) => resultOf(delivery)));

  // The claim finds work whose lease has expired.
  const lostAt = now + 1;
  await published(storage, 'lost', { type: '1' });
  expect((await claimed(stage, lostAt)).ids).toEqual(['dl_lost_1']);
  expect((await claimed(stage, lostAt + leaseMs - 1)).ids).toEqual([]);
  expect((await claimed(stage, lostAt + leaseMs)).ids).toEqual(['dl_lost_1']);
  await published(storage, 'next', { type: '1' });
  const next = await claimed(stage, lostAt + leaseMs + 1);
  expect(next.ids).toEqual(['dl_next_1']);
  expect(next.pages).toBeLessThan(200);
}, 60_000);
