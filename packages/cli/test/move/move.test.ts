import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { Storage } from '@ostiary/core/storage';
import { expect, onTestFinished, test } from 'vitest';
import { Host } from '../../../core/test/support/directory.ts';
import { manyRequests, payment, TestRail } from '../../../core/test/support/partner-api.ts';
import { pkce, TestClock, type TestKey, TestProvider } from '../../../core/test/support/provider.ts';
import { sink } from '../../../core/test/webhooks/support/sink.ts';
import { deliveries, register } from '../../../core/test/webhooks/support/webhook-provider.ts';
import { check, move, nextSchema, postgres, usePostgres } from './stage.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

usePostgres();

/** One service, on whichever storage it is started. */
function service() {
  const clock = new TestClock();
  const host = new Host();
  const rail = new TestRail();
  const sealingKeys = [randomBytes(32)];
  const start = (storage: Storage) =>
    TestProvider.start(
      {
        ...{ storage, clock, sealingKeys, payments: rail },
        authUrl: 'http://localhost:4000',
        partnerLimits: manyRequests,
        webhooks: { allowPrivateTargets: true },
      },
      host,
    );
  return { clock, rail, start };
}

async function pay(provider: TestProvider, key: TestKey, changes: object = {}, idempotencyKey?: string) {
  const headers: Record<string, string> =
    idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  const answer = await provider.partnerCall(
    key,
    'POST /v1/partner/payments',
    { ...payment, ...changes },
    headers,
  );
  expect(answer.status).toBe(201);
  return answer;
}

async function sequences(provider: TestProvider, key: TestKey): Promise<unknown[]> {
  const answer = await provider.partnerCall(key, 'GET /v1/partner/events?limit=100');
  return (answer.json().data as { sequence: number; id: string }[]).map(({ sequence }) => sequence);
}

test('everything that is under way on SQLite goes on after the move to PostgreSQL', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-move-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ostiary.db');
  const { clock, rail, start } = service();
  const endpoint = await sink(() => clock.now());
  endpoint.answer = (response) => void response.writeHead(503).end('not today');

  const before = await start(sqliteStorage({ file }));
  const key = await before.key();
  // A day that is closed, with more than one transfer.
  clock.advance(-2 * day);
  await pay(before, key, { description: 'écluse "numéro" 1; 🛶', reference: 'r-1' });
  await pay(before, key, { amount: '999999999999999.99' });
  await before.ostiary.worker.runDue();
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  clock.advance(2 * day);
  const exportOf = async (provider: TestProvider, format: string) =>
    (await provider.partnerCall(key, `GET /v1/partner/reconciliation?date=${date}&format=${format}`)).text;
  const exports = { json: await exportOf(before, 'json'), csv: await exportOf(before, 'csv') };
  expect(JSON.parse(exports.json)).toMatchObject({ summary: { rows: 2, final: true } });

  // A token, a consent, and a code that waits for its client.
  const client = await before.client({ partner: key.partner });
  const browser = before.browser();
  const token = await before.token(client, 'openid profile', browser);
  const { verifier, challenge } = pkce();
  const withChallenge = { code_challenge: challenge, code_challenge_method: 'S256' };
  const code = await before.code(client, { ...withChallenge, nonce: 'n' }, browser);
  const identity = (await before.userinfo(token)).text;

  // A delivery that failed twice, a transfer that the rail has not decided, and one that it was not asked for.
  const endpointId = await register(before, key, endpoint.url);
  await pay(before, key, { metadata: { note: 'a "b" \\ c' } });
  await before.ostiary.worker.runDue();
  clock.advance(minute);
  await before.ostiary.worker.runDue();
  rail.answer = async () => ({ status: 'pending' });
  const undecided = (await pay(before, key)).json();
  await before.ostiary.worker.runDue();
  const paid = await pay(before, key, { reference: 'r-2' }, 'once');
  const asked = rail.orders.length;
  expect(endpoint.received).toHaveLength(2);
  const listed = await deliveries(before, key, endpointId);
  const { head } = await before.ostiary.admin.audit.verify();
  const known = await sequences(before, key);
  expect(known).toEqual([1, 2, 3]);
  await before.stop();

  const schema = nextSchema();
  const checked = await check(file);
  const moved = await move(file, schema);
  expect(moved).toEqual(checked);
  const rows = Object.fromEntries(moved.map((table) => [table.table, table.rows]));
  expect(rows).toMatchObject({
    ...{ grants: 2, access_tokens: 1, consents: 1, transfers: 5, events: 3 },
    ...{ deliveries: 1, pending_deliveries: 1, delivery_attempts: 2, idempotency_records: 1, partners: 1 },
  });

  const after = await start(postgresStorage({ pool: postgres.pool, schema }));
  onTestFinished(() => after.stop());
  expect(await after.ostiary.admin.audit.verify({ head })).toMatchObject({ ok: true, head });
  await after.ostiary.admin.audit.record({ action: 'storage.move', target: 'storage' });
  expect(await after.ostiary.admin.audit.verify({ head })).toMatchObject({ ok: true });
  expect((await after.userinfo(token)).text).toBe(identity);
  const redeemed = await after.exchange(client, code, { code_verifier: verifier });
  expect(redeemed.status).toBe(200);
  expect((await after.userinfo(String(redeemed.json().access_token))).status).toBe(200);
  expect((await after.exchange(client, code, { code_verifier: verifier })).json().error).toBe(
    'invalid_grant',
  );
  // Without a page: the consent is known. Another grant takes the next number.
  expect(await after.token(client, 'openid', after.browser())).toMatch(/^svc_at_/);
  expect(await exportOf(after, 'json')).toBe(exports.json);
  expect(await exportOf(after, 'csv')).toBe(exports.csv);

  const replayed = await pay(after, key, { reference: 'r-2' }, 'once');
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(replayed.text).toBe(paid.text);
  expect(rail.orders).toHaveLength(asked);

  expect(await deliveries(after, key, endpointId)).toEqual(listed);
  endpoint.answer = (response) => void response.writeHead(204).end();
  rail.answer = async () => ({ status: 'completed' });
  await after.ostiary.worker.runDue();
  expect(rail.orders.slice(asked).map(({ id }) => id)).toEqual([paid.json().id]);
  expect(endpoint.received).toHaveLength(3);
  clock.advance(5 * minute);
  await after.ostiary.worker.runDue();
  const third = endpoint.received.find(({ headers }) => headers['x-svc-attempt'] === '3');
  expect(third?.body).toEqual(endpoint.received[0]?.body);
  const [delivered] = (await deliveries(after, key, endpointId)).filter(({ id }) => id === listed[0]?.id);
  expect(delivered).toMatchObject({ status: 'delivered', nextAttemptAt: null });
  const [earlier] = listed.map((delivery) => delivery.attempts as object[]);
  const attempts = delivered?.attempts;
  expect(attempts).toHaveLength(3);
  expect(attempts).toMatchObject([...(earlier ?? []), { number: 3, httpStatus: 204 }]);

  const settled = await after.ostiary.payments.settle(String(undecided.id), { status: 'completed' });
  expect(settled).toMatchObject({ settled: true, transfer: { status: 'completed' } });
  expect(await sequences(after, key)).toEqual([1, 2, 3, 4, 5]);
});
