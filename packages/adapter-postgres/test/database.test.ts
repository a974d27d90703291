import { expect, onTestFinished, test, vi } from 'vitest';
import { lifeTests } from '../../testing/test/adapters/life.ts';
import { Database } from '../src/database.ts';
import { postgresStorage } from '../src/index.ts';
import { statement } from '../src/statement.ts';
import { hostPool, serverForTests } from './server.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

const server = serverForTests();

async function opened() {
  const schema = server.nextSchema();
  const database = new Database({ schema, pool: server.pool });
  await database.open();
  onTestFinished(() => database.close());
  return { schema, database };
}

test('transactions that wait for each other in a circle both succeed', async () => {
  const { schema, database } = await opened();
  await server.pool.query(
    `INSERT INTO "${schema}".partners VALUES ('a', 'A', 'a', 1, 1, NULL, 0), ('b', 'B', 'b', 1, 1, NULL, 0)`,
  );
  const grow = statement<{ slug: string }>(
    `UPDATE "${schema}".partners SET version = version + 1 WHERE slug = :slug`,
  );
  const arrived = Promise.withResolvers<void>();
  let count = 0;
  const both = (slugs: readonly string[]) =>
    database.write(async (connection) => {
      const [one = '', other = ''] = slugs;
      await grow.run(connection, { slug: one });
      count += 1;
      if (count === 2) arrived.resolve();
      await arrived.promise;
      await grow.run(connection, { slug: other });
    });
  await Promise.all([both(['a', 'b']), both(['b', 'a'])]);
  expect(count, 'one of them was tried again').toBeGreaterThan(2);
  const { rows } = await server.pool.query(`SELECT version FROM "${schema}".partners`);
  expect(rows).toEqual([{ version: 2 }, { version: 2 }]);
});

test('a failure of the work itself is not tried again, and undone', async () => {
  const { schema, database } = await opened();
  const insert = statement<object>(`INSERT INTO "${schema}".partners VALUES ('a', 'A', 'a', 1, 1, NULL, 0)`);
  const reason = new Error('no');
  let count = 0;
  const refused = database.write(async (connection) => {
    count += 1;
    await insert.run(connection, {});
    throw reason;
  });
  await expect(refused).rejects.toMatchObject({ ...unavailable, cause: reason });
  expect(count).toBe(1);
  expect((await server.pool.query(`SELECT FROM "${schema}".partners`)).rows).toEqual([]);
  expect(server.pool.idleCount, 'its connection is good').toBe(server.pool.totalCount);
});

test('a failure that a transaction tries to ignore is not taken for a commit', async () => {
  const { schema, database } = await opened();
  const wrong = statement<object>(`SELECT FROM "${schema}".nowhere`);
  const ignoring = database.write((connection) => wrong.run(connection, {}).catch(() => 0));
  await expect(ignoring).rejects.toMatchObject({
    ...unavailable,
    message: 'the transaction was rolled back',
  });
});

lifeTests(() => postgresStorage({ connectionString: server.url, schema: server.nextSchema() }), '23514');

test('closing waits for calls that wait for a connection of ours', async () => {
  const storage = postgresStorage({ connectionString: server.url, schema: server.nextSchema() });
  await storage.open();
  const calls = Array.from({ length: 50 }, (_, index) =>
    storage.queue.enqueue([{ id: `${index}`, kind: 'k', payload: {}, dueAt: 0 }]),
  );
  await storage.close();
  expect(await Promise.allSettled(calls)).toEqual(
    calls.map(() => ({ status: 'fulfilled', value: undefined })),
  );
});

test('a pool of the host is left open, and heard no more', async () => {
  const own = hostPool(server.url);
  onTestFinished(() => own.end());
  const listeners = own.listenerCount('error');
  const storage = postgresStorage({ pool: own, schema: server.nextSchema() });
  await storage.open();
  await storage.close();
  expect(own.listenerCount('error')).toBe(listeners);
  expect((await own.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('the time of the storage is that of its database, not of the machine', async () => {
  const { storage } = await server.opened();
  const { rows } = await server.pool.query(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
  );
  const clock = vi.spyOn(Date, 'now').mockReturnValue(7);
  const time = await storage.time?.();
  clock.mockRestore();
  expect(time).toBeGreaterThanOrEqual(Math.floor(rows[0].now));
  expect(time).toBeLessThan(rows[0].now + 30_000);
});
