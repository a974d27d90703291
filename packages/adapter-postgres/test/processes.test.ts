import { expect, test } from 'vitest';
import { processRaces } from '../../testing/test/adapters/process-races.ts';
import { together } from '../../testing/test/adapters/processes.ts';
import { readMigrations } from '../src/migrations.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();
const own = (name: string) => new URL(`children/${name}`, import.meta.url);

processRaces(
  () => {
    const schema = server.nextSchema();
    return {
      place: server.placeOf(schema),
      open: async () => (await server.opened({ schema })).storage,
      async applied() {
        const sql = `SELECT name FROM "${schema}".schema_migrations WHERE number > 0 ORDER BY number`;
        return (await server.pool.query(sql)).rows.map(({ name }) => name);
      },
    };
  },
  readMigrations().map(({ name }) => name),
);

test('processes that work on one queue do every job once', async () => {
  const { schema, storage } = await server.opened();
  const ids = Array.from({ length: 500 }, (_, index) => `job ${index}`);
  await storage.queue.enqueue(ids.map((id) => ({ id, kind: 'k', payload: {}, dueAt: 0 })));
  const names = [['first'], ['second'], ['third']];
  const done = await together<string[]>(own('work.ts'), server.placeOf(schema), names);
  expect(done.flat().toSorted()).toEqual(ids.toSorted());
});

test('limits are exact over two processes, in each of 20 runs', async () => {
  const { schema } = await server.opened();
  const [runs, requests, limit] = [20, 40, 60];
  const request = [runs, requests, limit].map(String);
  const counts = await together<number[]>(own('consume.ts'), server.placeOf(schema), [request, request]);
  const [first = [], second = []] = counts;
  expect(first.map((allowed, run) => allowed + (second[run] ?? 0))).toEqual(Array(runs).fill(limit));
  // The processes met: neither had all it asked for every time.
  expect([...first, ...second].some((allowed) => allowed < requests)).toBe(true);
});
