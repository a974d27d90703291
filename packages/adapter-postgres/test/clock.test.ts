import { randomBytes } from 'node:crypto';
import { createOstiary } from '@ostiary/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { serverForTests } from './server.ts';

const hour = 3_600_000;
const slack = 30_000;

const server = serverForTests();

/** The database's time, and how far from it some times are that are stored. */
async function agesOf(sql: string): Promise<number[]> {
  const { rows } = await server.pool.query(
    `SELECT time - extract(epoch FROM clock_timestamp())::float8 * 1000 AS age FROM (${sql}) AS stored (time)`,
  );
  return rows.map(({ age }) => Number(age));
}

test.each([-2 * hour, 2 * hour])(
  'a process whose clock is %i ms off goes by the clock of the database',
  async (off) => {
    const schema = server.nextSchema();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + off });
    onTestFinished(() => void vi.useRealTimers());
    const ostiary = await createOstiary({
      storage: postgresStorage({ pool: server.pool, schema }),
      authUrl: 'http://127.0.0.1:1',
      sealingKeys: [randomBytes(32)],
      users: { find: async () => null },
      login: { authenticate: async () => null, loginUrl: () => '/login' },
    });
    onTestFinished(() => ostiary.close());

    const near = (age: number, expected: number) => Math.abs(age - expected) < slack;
    const due = `SELECT due_at FROM "${schema}".jobs WHERE kind = 'purge'`;
    expect((await agesOf(due)).map((age) => near(age, 0))).toEqual([true]);
    expect(await ostiary.worker.runDue()).toBe(1);
    expect((await agesOf(due)).map((age) => near(age, 10 * 60_000))).toEqual([true]);

    await ostiary.admin.partners.create({ slug: 'acme', name: 'Acme' });
    const created = await agesOf(`SELECT created_at FROM "${schema}".partners`);
    expect(created.map((age) => near(age, 0))).toEqual([true]);
  },
);

test('the time of the storage is that of the moment, in a transaction of nobody', async () => {
  const { storage } = await server.opened();
  const before = await storage.time?.();
  await server.pool.query('SELECT pg_sleep(0.02)');
  expect(((await storage.time?.()) ?? 0) - (before ?? 0)).toBeGreaterThanOrEqual(20);
});
