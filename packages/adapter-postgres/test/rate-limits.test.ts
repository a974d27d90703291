import { expect, test } from 'vitest';
import { serverForTests } from './server.ts';

const server = serverForTests();

async function opened() {
  const stage = await server.watched();
  const limits = stage.storage.rateLimits;
  if (limits === undefined) throw new Error('no rate limits');
  return { ...stage, limits };
}

const request = { bucket: 'a', limit: 3, windowMs: 1000, now: 10 };

test('a request is counted with one statement, whether it is refused or not', async () => {
  const { limits, watched } = await opened();
  for (let number = 1; number <= 5; number += 1) {
    expect((await limits.consume(request)).allowed).toBe(number <= 3);
    expect(watched.ran()).toHaveLength(1);
  }
});

test('a request that waits for another one sees what that one counted, also in a window that has just begun', async () => {
  const { limits, holding, waiting } = await opened();
  await limits.consume({ ...request, limit: 1 });
  // Another client has started the next window without committing yet. A separate query would still see the
  // old window.
  const other = await holding('UPDATE ostiary.rate_limits SET granted = 1, count = 1, ends_at = 2010');
  const late = limits.consume({ ...request, limit: 1, now: 1010 });
  await waiting(1);
  await other.query('COMMIT');
  expect(await late).toEqual({ allowed: false, count: 1, endsAt: 2010 });
});

test('requests that come together are counted with two statements, each by itself', async () => {
  const { limits, watched } = await opened();
  const states = await Promise.all(
    Array.from({ length: 200 }, () => limits.consume({ ...request, limit: 60 })),
  );
  expect(watched.ran()).toHaveLength(2);
  expect(states.map(({ count }) => count)).toEqual(
    Array.from({ length: 200 }, (_, index) => Math.min(60, index + 1)),
  );
  expect(states.map(({ allowed }) => allowed)).toEqual(Array.from({ length: 200 }, (_, index) => index < 60));
  expect(new Set(states.map(({ endsAt }) => endsAt))).toEqual(new Set([1010]));
  // The same holds across the end of the window, which started with its first request.
  const later = await Promise.all([1010, 1011, 1012].map((now) => limits.consume({ ...request, now })));
  expect(later).toEqual([1, 2, 3].map((count) => ({ allowed: true, count, endsAt: 2010 })));
});

test('requests of many buckets go together, and each is counted in its own', async () => {
  const { limits, watched } = await opened();
  const names = Array.from({ length: 50 }, (_, index) => `bucket ${index}`);
  const states = await Promise.all(
    [...names, ...names].map((bucket, index) =>
      limits.consume({ ...request, bucket, limit: (index % 50) + 1 }),
    ),
  );
  expect(watched.ran()).toHaveLength(2);
  expect(states).toEqual(
    [...names, ...names].map((_, index) => {
      const most = (index % 50) + 1;
      const count = index < 50 ? 1 : 2;
      return { allowed: count <= most, count: Math.min(count, most), endsAt: 1010 };
    }),
  );
});

test('a bucket with several limits at once is counted by each of them', async () => {
  const { limits } = await opened();
  const states = await Promise.all([3, 4, 2, 3].map((limit) => limits.consume({ ...request, limit })));
  expect(states.map(({ allowed }) => allowed).filter(Boolean).length).toBeGreaterThan(1);
  expect((await limits.peek([request]))[0]?.count).toBe(states.filter(({ allowed }) => allowed).length);
});

test('requests that wait behind one that cannot be counted fail with it, and later ones are counted again', async () => {
  const { limits, holding, waiting } = await opened();
  await limits.consume(request);
  const other = await holding('UPDATE ostiary.rate_limits SET count = 2');
  const started = performance.now();
  const first = limits.consume(request).catch((error: unknown) => error);
  await waiting(1);
  await new Promise((resolve) => setTimeout(resolve, 700));
  const second = limits.consume(request).catch((error: unknown) => error);
  const unavailable = { code: 'STORAGE_UNAVAILABLE' };
  expect(await Promise.all([first, second])).toEqual([
    expect.objectContaining(unavailable),
    expect.objectContaining(unavailable),
  ]);
  expect(performance.now() - started, 'once, and not one after the other').toBeLessThan(2000);
  await other.query('ROLLBACK');
  // Requests that waited for the database may have been counted.
  expect(await limits.consume({ ...request, limit: 9 })).toMatchObject({ allowed: true });
});

test('counting writes no index, and nothing that is logged', async () => {
  const { schema, limits, watched } = await opened();
  const { rows: kinds } = await watched.own.query(
    'SELECT relpersistence AS kind FROM pg_class WHERE oid = to_regclass($1)',
    [`"${schema}".rate_limits`],
  );
  expect(kinds).toEqual([{ kind: 'u' }]);
  const client = await watched.own.connect();
  await client.query(`SET search_path TO "${schema}"`);
  for (let number = 0; number < 200; number += 1) await limits.consume({ ...request, limit: 100 });
  // Requests within a transaction are counted exactly; those of other transactions may be counted late.
  await client.query('BEGIN');
  for (let number = 0; number < 50; number += 1)
    await client.query("UPDATE rate_limits SET count = count + 1 WHERE bucket = 'a'");
  const { rows } = await client.query(
    'SELECT n_tup_upd AS updated, n_tup_hot_upd AS hot FROM pg_stat_xact_all_tables WHERE relid = $1::regclass',
    ['rate_limits'],
  );
  await client.query('ROLLBACK');
  client.release();
  expect(rows).toEqual([{ updated: '50', hot: '50' }]);
});
