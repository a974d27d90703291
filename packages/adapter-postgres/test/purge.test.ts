import { expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { queued, recover, redeliver, registered } from '../../testing/src/contract/webhook-samples.ts';
import { holding, untilWaiting } from './locks.ts';
import { nodesOf, planOf, withoutFrame } from './plans.ts';
import { identityRows } from './rows.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const owners = 100;
const eventsOfEach = 5;
const everything = { now: 9, before: 9, eventsBefore: 90_000 };

/** Creates old delivered events of many partners, one after the other. */
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

test('a purge removes events with two statements, for any number of owners', async () => {
  const { storage, watched } = await oldEvents();
  for (let left = owners * eventsOfEach; left > 0; left -= 50) {
    expect(await storage.purge({ ...everything, limit: 50 })).toMatchObject({ deliveries: 50, events: 50 });
    const ran = withoutFrame(watched.ran());
    expect(ran.filter(({ text }) => text.includes('.events'))).toHaveLength(2);
  }
});

test('of sequences that are not equally long as much is removed as there is', async () => {
  const { schema, storage, watched } = await oldEvents();
  await watched.own.query(`
    SET search_path TO "${schema}";
    DELETE FROM deliveries;
    DELETE FROM events WHERE partner <> 'p7' AND sequence > 1;
    RESET search_path
  `);
  expect(await storage.purge({ ...everything, limit: owners + 3 })).toMatchObject({ events: owners + 3 });
  expect(await storage.purge({ ...everything, limit: owners })).toMatchObject({ events: 1 });
});

test('a purge does not wait for who publishes or delivers again, and removes nothing that these need', async () => {
  const { schema, storage, watched } = await oldEvents();
  const host = await watched.own.connect();
  onTestFinished(() => host.release());
  await host.query(`BEGIN; SET LOCAL search_path TO "${schema}"`);
  await storage.events.within(host).publish([sampleEvent('new', { partner: 'p1' })]);
  // Lock the event, as the foreign key of a new delivery does.
  await host.query("SELECT FROM events WHERE partner = 'p2' AND sequence = 3 FOR KEY SHARE");
  const limit = owners * eventsOfEach;
  expect(await storage.purge({ ...everything, limit })).toMatchObject({ events: limit - 3 });
  await host.query('COMMIT');
  const sequences = async (partner: string) => {
    const { events } = await storage.events.list({ partner, mode: 'live', after: 0, limit: 10 });
    return events.map(({ sequence }) => sequence);
  };
  expect(await sequences('p1')).toEqual([eventsOfEach + 1]);
  expect(await sequences('p2')).toEqual([3, 4, 5]);
  expect(await storage.purge({ ...everything, limit })).toMatchObject({ events: 3 });
});

test('who delivers again waits for a purge that is under way, and finds nothing of what it removes', async () => {
  const { schema, storage, watched } = await oldEvents();
  const owner = { partner: 'p1', mode: 'live' } as const;
  await registered(storage, 'p1', owner);
  await watched.own.query(`UPDATE "${schema}".deliveries SET status = 'dropped' WHERE partner = 'p1'`);
  for (const [sequence, again, found] of [
    [1, () => redeliver(storage, 'evt_1', 'again', owner), { outcome: 'unknown_event' }],
    [2, () => recover(storage, 'we_p1', 'all', owner), queued(`${eventsOfEach - 2} queued`)],
  ] as const) {
    const first = `"${schema}".events WHERE partner = 'p1' AND sequence = ${sequence}`;
    const purging = await holding(server.url, `SELECT FROM ${first} FOR UPDATE`);
    const answer = again();
    await untilWaiting(watched.own, schema);
    await purging.query(
      `DELETE FROM "${schema}".deliveries WHERE event_number = (SELECT number FROM ${first})`,
    );
    await purging.query(`DELETE FROM ${first}`);
    await purging.query('COMMIT');
    await expect(answer).resolves.toEqual(found);
  }
});

test('events that must be kept do not prevent the removal of others', async () => {
  const { schema, storage, watched } = await oldEvents();
  await watched.own.query(
    `DELETE FROM "${schema}".deliveries WHERE partner <> 'p0' OR event_number = (SELECT min(number) FROM "${schema}".events)`,
  );
  // One batch includes each partner's first event, and more of p0's.
  const limit = owners + 4;
  const purge = async () => {
    const { events } = await storage.purge({ ...everything, limit });
    return events;
  };
  await watched.own.query(`UPDATE "${schema}".deliveries SET status = 'pending', ended_at = NULL`);
  for (let left = (owners - 1) * eventsOfEach + 1; left > 0; left -= limit)
    expect(await purge()).toBe(Math.min(left, limit));
  expect(await purge()).toBe(0);
});

test('the oldest events are found along indexes', async () => {
  const { storage, watched } = await oldEvents();
  await storage.purge({ ...everything, limit: 10 });
  const [choice, removal] = watched.ran().filter(({ text }) => text.includes('.events'));
  for (const ran of [choice, removal]) {
    const nodes = ran === undefined ? [] : nodesOf(await planOf(watched, ran));
    expect(nodes.map((node) => node['Index Name'])).toContain('deliveries_by_event');
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
    ).not.toContain('events');
  }
});

test('old deliveries are found along their index', async () => {
  const { storage, watched } = await oldEvents();
  await storage.purge({ ...everything, limit: 10 });
  const removal = watched.ran().find(({ text }) => text.includes('delivery_attempts'));
  const nodes = removal === undefined ? [] : nodesOf(await planOf(watched, removal));
  expect(nodes.map((node) => node['Index Name'])).toContain('deliveries_by_age');
});

test('grants without tokens are searched one by one, for any number of expired grants', async () => {
  const { schema, storage, watched } = await server.watched();
  await watched.own.query(`SET search_path TO "${schema}"; ${identityRows} ANALYZE`);
  await storage.purge({ now: 1, before: 100_000, eventsBefore: 1, limit: 500 });
  const removal = watched.ran().find(({ text }) => text.includes('grants AS old'));
  const nodes = removal === undefined ? [] : nodesOf(await planOf(watched, removal));
  expect(nodes.map((node) => node['Index Name'] ?? node['Node Type'])).toContain('grants_by_end');
  expect(nodes.filter((node) => /Join|Seq Scan/.test(node['Node Type']))).toEqual([]);
});
