import { expect, test } from 'vitest';
import { nodesOf, planOf, withoutFrame } from './plans.ts';
import { identityRows } from './rows.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const owners = 100;
const eventsOfEach = 5;
const everything = { now: 9, before: 9, eventsBefore: 90_000 };

/** Old events of many partners, one after the other, each delivered. */
async function oldEvents() {
  const filled = await server.watched();
  await filled.watched.own.query(`
    SET search_path TO "${filled.schema}";
    INSERT INTO event_sequences (partner, mode, last)
      SELECT 'p' || i, 'live', ${eventsOfEach} FROM generate_series(0, ${owners - 1}) AS i;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'p' || i % ${owners}, 'live', 1 + i / ${owners}, 'kyc.updated', '', i
      FROM generate_series(0, ${owners * eventsOfEach - 1}) AS i;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at, ended_at)
      SELECT 'dl_' || number, number, 'we_' || partner, partner, mode, 'delivered', created_at, created_at FROM events;
    ANALYZE;
    RESET search_path
  `);
  filled.watched.ran();
  return filled;
}

test('a purge removes the events of an owner together, however many owners have old ones', async () => {
  const { storage, watched } = await oldEvents();
  const limit = 50;
  let [removed, statements, calls] = [0, 0, 0];
  for (; removed < owners * eventsOfEach; calls += 1) {
    const { events } = await storage.purge({ ...everything, limit });
    statements += withoutFrame(watched.ran()).length;
    removed += events;
    expect(calls).toBeLessThan(50);
  }
  // Beside those of each call: two for each owner, who is locked once.
  expect(statements - calls * 8).toBeLessThanOrEqual(owners * 2);
});

test('old deliveries are found along their index', async () => {
  const { storage, watched } = await oldEvents();
  await storage.purge({ ...everything, limit: 10 });
  const removal = watched.ran().find(({ text }) => text.includes('delivery_attempts'));
  const nodes = removal === undefined ? [] : nodesOf(await planOf(watched, removal));
  expect(nodes.map((node) => node['Index Name'])).toContain('deliveries_by_age');
});

test('grants without tokens are looked for one after the other, however many have ended', async () => {
  const { schema, storage, watched } = await server.watched();
  await watched.own.query(`SET search_path TO "${schema}"; ${identityRows} ANALYZE`);
  await storage.purge({ now: 1, before: 100_000, eventsBefore: 1, limit: 500 });
  const removal = watched.ran().find(({ text }) => text.includes('grants AS old'));
  const nodes = removal === undefined ? [] : nodesOf(await planOf(watched, removal));
  expect(nodes.map((node) => node['Index Name'] ?? node['Node Type'])).toContain('grants_by_end');
  expect(nodes.filter((node) => /Join|Seq Scan/.test(node['Node Type']))).toEqual([]);
});
