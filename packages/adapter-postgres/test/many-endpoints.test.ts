import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { pagesOf, readBy } from './plans.ts';
import { serverForTests } from './server.ts';
import type { WatchedPool } from './watched-pool.ts';

const server = serverForTests();

const endpoints = 1_200;
const hold = {
  claimId: 'c',
  now: 4_000,
  leaseMs: 30_000,
  limit: 256,
  endpointLimit: 8,
  endpointLimits: new Map(),
};
const nameOf = (endpoint: number) => `we_${String(endpoint).padStart(5, '0')}`;

/** Opens a storage with far more endpoints than a claim may read, each with a delivery that is due later. */
async function manyEndpoints() {
  const { schema, storage, watched } = await server.watched();
  await watched.own.query(`
    SET search_path TO "${schema}";
    INSERT INTO webhook_endpoints
      SELECT 'we_' || lpad(i::text, 5, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, 'sealed', 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      VALUES ('evt_1', 'acme', 'live', 1, 'kyc.updated', 'body', 1);
    INSERT INTO event_sequences (partner, mode, last) VALUES ('acme', 'live', 1);
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at, ready_at)
      SELECT 'dl_later ' || i, i, 'we_' || lpad(i::text, 5, '0'), (SELECT number FROM events), 5000, 5000
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO endpoint_queues (endpoint_id, partner, mode, claimed_to, next_due)
      SELECT id, partner, mode, ${endpoints}, 5000 FROM webhook_endpoints;
    ANALYZE;
  `);
  watched.ran();
  return { schema, storage, watched };
}

/** Creates due deliveries, some for each of the given endpoints. */
async function due(
  { schema, watched }: { schema: string; watched: WatchedPool },
  of: readonly (readonly [endpoint: number, count: number])[],
) {
  await watched.own.query(
    `
      INSERT INTO "${schema}".pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT 'dl_' || endpoint || ' ' || i, 100000 + endpoint * 10000 + i, 'we_' || lpad(endpoint::text, 5, '0'),
        (SELECT number FROM "${schema}".events), endpoint + i
      FROM unnest($1::integer[], $2::integer[]) AS due (endpoint, count), generate_series(1, count) AS i
    `,
    [of.map(([endpoint]) => endpoint), of.map(([, count]) => count)],
  );
  await watched.own.query(`UPDATE "${schema}".event_sequences SET news = news + 1`);
}

async function claimed({ deliveries }: Storage): Promise<string[]> {
  const rows = await deliveries.claim(hold);
  return rows.map(({ endpointId }) => endpointId);
}

test('a claim finds what is due of few of very many endpoints, in their turn, with one statement', async () => {
  const filled = await manyEndpoints();
  const { storage, watched } = filled;
  expect(await claimed(storage)).toEqual([]);
  await due(filled, [
    [2, 1],
    [700, 2],
    [900, 1],
    [1100, 1],
  ]);
  watched.ran();
  const inTurn = [2, 700, 700, 900, 1100].map(nameOf);
  expect(await claimed(storage)).toEqual(inTurn);
  expect(watched.ran()).toHaveLength(1);
  expect(await claimed(storage)).toEqual([]);
});

test('remaining deliveries of a removed endpoint go to no other endpoint', async () => {
  const filled = await manyEndpoints();
  await due(filled, [
    [7, 1],
    [8, 2],
    [9, 1],
  ]);
  await filled.watched.own.query(
    `DELETE FROM "${filled.schema}".webhook_endpoints WHERE id = '${nameOf(8)}'`,
  );
  expect(await claimed(filled.storage)).toEqual([7, 9].map(nameOf));
});

test('a claim without due deliveries reads little, for any number of waiting endpoints', async () => {
  const { storage, watched } = await manyEndpoints();
  await claimed(storage);
  await claimed(storage);
  expect(pagesOf(await readBy(watched, watched.ran().at(-1)))).toBeLessThan(20);
});

test('the check for more deliveries of an owner stops at the first, for any number of endpoints', async () => {
  const filled = await manyEndpoints();
  const { schema, storage, watched } = filled;
  // Each partner has fifty endpoints.
  await watched.own.query(`
    SET search_path TO "${schema}";
    UPDATE webhook_endpoints SET partner = 'p' || substr(id, 4)::integer / 50;
    UPDATE endpoint_queues SET partner = 'p' || substr(endpoint_id, 4)::integer / 50;
    INSERT INTO event_sequences (partner, mode, last) SELECT DISTINCT partner, mode, 0 FROM endpoint_queues;
  `);
  await due(
    filled,
    Array.from({ length: endpoints }, (_, index) => [index + 1, 1] as const),
  );
  const known = { ...hold, endpointLimit: 0, endpointLimits: new Map([[nameOf(7), 1]]) };
  expect(await storage.deliveries.claim(known)).toHaveLength(1);
  await storage.deliveries.claim(known);
  // A claim reads the endpoint rows of each partner, one or two of which have work.
  expect(pagesOf(await readBy(watched, watched.ran().at(-1)))).toBeLessThan(800);
});
