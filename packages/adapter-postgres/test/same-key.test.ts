import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { holding, untilWaiting, waiting } from './locks.ts';
import { startProvider } from './provider.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

async function provider(schema: string, sealingKey: string) {
  const { ostiary, origin, stop } = await startProvider({ url: server.url, schema, sealingKey });
  onTestFinished(stop);
  const pay = async (key: string, idempotencyKey: string) => {
    const started = performance.now();
    const answer = await fetch(`${origin}/v1/partner/payments`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } }),
    });
    return {
      status: answer.status,
      replayed: answer.headers.get('idempotent-replayed'),
      retryAfter: answer.headers.get('retry-after'),
      text: await answer.text(),
      ms: performance.now() - started,
    };
  };
  return { ostiary, pay };
}

async function twoProviders() {
  const schema = server.nextSchema();
  const sealingKey = randomBytes(32).toString('base64url');
  const first = await provider(schema, sealingKey);
  const second = await provider(schema, sealingKey);
  await first.ostiary.admin.partners.create({ slug: 'acme', name: 'Acme' });
  const { key } = await first.ostiary.admin.apiKeys.issue({
    partner: 'acme',
    mode: 'live',
    scopes: ['payments:write'],
  });
  const transfers = async () =>
    Number((await server.pool.query(`SELECT count(*) FROM "${schema}".transfers`)).rows[0].count);
  return { schema, first, second, key, transfers };
}

test('of two processes with one key the second waits for the first, and gets its answer', async () => {
  const { schema, first, second, key, transfers } = await twoProviders();
  // The first one is held up in the middle of its transaction.
  const lock = await holding(server.url, `LOCK TABLE "${schema}".jobs IN ACCESS EXCLUSIVE MODE`);
  const answering = first.pay(key, 'k');
  await untilWaiting(server.pool, schema);
  const replaying = second.pay(key, 'k');
  await untilWaiting(server.pool, schema, 2);
  await lock.query('COMMIT');
  const [answer, replay] = await Promise.all([answering, replaying]);
  expect([answer.status, answer.replayed]).toEqual([201, null]);
  expect([replay.status, replay.replayed, replay.text]).toEqual([201, 'true', answer.text]);
  expect(await transfers()).toBe(1);
});

test('a request waits again and again for a key that is held, and is answered in the end', async () => {
  const { schema, first, key, transfers } = await twoProviders();
  // Whoever held it changed nothing in the end.
  const lock = await holding(
    server.url,
    `INSERT INTO "${schema}".idempotency_records VALUES ('acme', 'live', 'k', sha256('x'), 201, '{}', 9e15)`,
  );
  const answering = first.pay(key, 'k');
  // Twice the storage gave up, as it would long before for any other lock.
  for (let time = 0; time < 2; time += 1) {
    await untilWaiting(server.pool, schema);
    while ((await waiting(server.pool, schema)).length > 0);
  }
  await untilWaiting(server.pool, schema);
  await lock.query('ROLLBACK');
  const answer = await answering;
  expect([answer.status, answer.replayed]).toEqual([201, null]);
  expect(answer.ms).toBeGreaterThan(1_900);
  expect(await transfers()).toBe(1);
});

test('a request whose key is held for longer is 503 with Retry-After after at most five seconds, and can be sent again', async () => {
  const { schema, first, key, transfers } = await twoProviders();
  const lock = await holding(
    server.url,
    `INSERT INTO "${schema}".idempotency_records VALUES ('acme', 'live', 'k', sha256('x'), 201, '{}', 9e15)`,
  );
  const refused = await first.pay(key, 'k');
  expect([refused.status, refused.retryAfter, JSON.parse(refused.text).code]).toEqual([
    503,
    '1',
    'internal_error',
  ]);
  expect(refused.ms).toBeGreaterThan(3_000);
  expect(refused.ms).toBeLessThan(8_000);
  // Other keys do not wait.
  expect((await first.pay(key, 'other')).status).toBe(201);
  await lock.query('ROLLBACK');
  expect((await first.pay(key, 'k')).status).toBe(201);
  expect(await transfers()).toBe(2);
});
