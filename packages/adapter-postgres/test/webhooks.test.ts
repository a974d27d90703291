import { expect, test } from 'vitest';
import { acme } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  claimedOne,
  finish,
  published,
  registered,
  resultOf,
} from '../../testing/src/contract/webhook-samples.ts';
import { refusedRowTests } from '../../testing/test/adapters/refused-rows.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

/** Opens a storage with one endpoint, and direct access to its tables. */
async function openStorage() {
  const stage = await server.watched();
  const { schema, storage, watched } = stage;
  await registered(storage, '1');
  const execute = (sql: string) => watched.own.query(`SET search_path TO "${schema}"; ${sql}`);
  async function all(sql: string): Promise<unknown[]> {
    const { rows } = await watched.own.query({
      text: sql.replaceAll('ostiary.', `"${schema}".`),
      rowMode: 'array',
    });
    return rows;
  }
  /** Makes a table refuse from now on to insert (or to update) rows that meet a condition. */
  const refuse = (table: string, condition: string, act: 'INSERT' | 'UPDATE' = 'INSERT') =>
    execute(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$;
      CREATE TRIGGER refuse BEFORE ${act} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()
    `);
  return { ...stage, all, execute, refuse };
}

refusedRowTests(async () => {
  const { storage, all, execute, refuse } = await openStorage();
  return {
    storage,
    async refuse(table, condition) {
      await refuse(table, condition);
      return () => execute(`DROP TRIGGER refuse ON ${table}`);
    },
    count: async (table) => (await all(`SELECT FROM ostiary.${table}`)).length,
  };
}, 'pending_deliveries');

test('a delivery that cannot be ended leaves its batch with the worker', async () => {
  const { storage, all, execute, refuse } = await openStorage();
  for (const label of ['1', '2']) await published(storage, label);
  const results = (await claim(storage, 'c')).map((claimed) => resultOf(claimed));
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
  for (let index = 0; index < 300; index += 1) await published(storage, `${index}`);
  const claimed = await claim(storage, 'c');
  expect(claimed).toHaveLength(300);
  await storage.deliveries.finish(claimed.map((one) => resultOf(one)));
  // Flush the statistics of the connection, which sequential calls share.
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
    counted: false,
    left: 1,
  },
  {
    what: 'is only locked',
    statement: 'SELECT FROM pending_deliveries FOR UPDATE',
    counted: true,
    left: 0,
  },
])(
  'a result that waits for a delivery which $what meanwhile counts: $counted',
  async ({ statement, ...then }) => {
    const { storage, schema, holding, waiting, all } = await openStorage();
    await published(storage, '1');
    const claimed = await claimedOne(storage, 'c');
    const other = await holding(`SET search_path TO "${schema}"`);
    await other.query(statement);
    const finishing = finish(storage, claimed, { status: 'delivered' });
    await waiting(1);
    await other.query('COMMIT');
    expect(await finishing).toBe(then.counted);
    expect(await all('SELECT id FROM ostiary.pending_deliveries')).toHaveLength(then.left);
    expect(await all(`SELECT status FROM ostiary.deliveries WHERE status = 'pending'`)).toHaveLength(
      then.left,
    );
  },
);

test('an endpoint is removed with all its waiting deliveries, for any number of them', async () => {
  const { storage, all, execute } = await openStorage();
  await published(storage, '1');
  await execute(`
    WITH delivered AS (
      INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT 'dl_more_' || i, 1, 'we_1', 'acme', 'live', 'pending', 5 FROM generate_series(1, 20000) AS i
      RETURNING id, number, created_at
    )
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
    SELECT id, number, 'we_1', 1, created_at FROM delivered
  `);
  const held = await claimedOne(storage, 'c', { limit: 1 });
  expect(await storage.webhooks.remove(acme, 'we_1', now)).toBe(true);
  expect(await all('SELECT status, ended_at, count(*) FROM ostiary.deliveries GROUP BY 1, 2')).toEqual([
    ['cancelled', `${now}`, '20001'],
  ]);
  expect(await all('SELECT count(*) FROM ostiary.pending_deliveries')).toEqual([['0']]);
  expect(await finish(storage, held, { status: 'delivered' })).toBe(false);
});
