import { randomBytes } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { payment, temporaryDatabase } from '../../../packages/core/test/support/partner-api.ts';
import { TestClock } from '../../../packages/core/test/support/provider.ts';
import { sink } from '../../../packages/core/test/webhooks/support/sink.ts';
import {
  deliveries,
  register,
  secret,
  webhookProvider,
} from '../../../packages/core/test/webhooks/support/webhook-provider.ts';
import { runOutboxProcess } from '../../support/processes/host.ts';

const schema = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** A host whose server is down: its file, an endpoint, and how to start the server again. */
async function shop() {
  const file = temporaryDatabase();
  const sealingKey = randomBytes(32).toString('base64url');
  const clock = new TestClock();
  const start = async () => {
    const { provider, rail } = await webhookProvider({
      storage: sqliteStorage({ file }),
      sealingKeys: [sealingKey],
      clock,
      events: { 'order.shipped': { schema, example: {} } },
    });
    rail.answer = async () => ({ status: 'pending' });
    return provider;
  };
  const before = await start();
  const key = await before.key();
  const endpoint = await sink(() => clock.now());
  const id = await register(before, key, endpoint.url);
  const host = await openSqlite(file);
  onTestFinished(() => host.close());
  host.connection.exec('CREATE TABLE orders (id TEXT NOT NULL)');
  const orders = () => host.connection.prepare('SELECT id FROM orders').pluck().all();
  return { file, sealingKey, clock, start, before, key, endpoint, id, orders };
}

describe('a process that is killed', () => {
  it('after the commit of its own transaction leaves the event, which a restart delivers once', async () => {
    const { file, sealingKey, clock, start, before, key, endpoint, id, orders } = await shop();
    await before.ostiary.worker.stop();
    const { partner } = key;
    expect(await runOutboxProcess({ file, sealingKey, partner, kill: 'after the commit' })).toBe('SIGKILL');
    expect(orders()).toEqual(['o-1']);
    expect(endpoint.received).toEqual([]);

    const after = await start();
    expect(await deliveries(after, key, id)).toMatchObject([{ status: 'pending', attempts: [] }]);
    // The machine's clock, by which the other process wrote, has gone on since.
    clock.advance(60_000);
    await after.ostiary.worker.runDue();
    await after.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(1);
    const [received] = endpoint.received;
    const verified = await verify(received?.body ?? '', received?.headers ?? {}, {
      secret,
      now: () => clock.now(),
    });
    expect(verified).toMatchObject({ type: 'order.shipped', attempt: 1, partner });
    expect(verified.event.data).toEqual({ orderId: 'o-1' });
    const { data } = (await after.partnerCall(key, 'GET /v1/partner/events')).json();
    expect(data).toMatchObject([{ id: verified.id }]);
    expect(await deliveries(after, key, id)).toMatchObject([{ status: 'delivered' }]);
  });

  it('before the commit leaves neither the change nor the event, and no gap', async () => {
    const { file, sealingKey, clock, start, before, key, endpoint, id, orders } = await shop();
    const { partner } = key;
    expect(await runOutboxProcess({ file, sealingKey, partner, kill: 'before the commit' })).toBe('SIGKILL');
    expect(orders()).toEqual([]);
    const after = await start();
    clock.advance(60_000);
    await after.ostiary.worker.runDue();
    expect([endpoint.received, await deliveries(after, key, id)]).toEqual([[], []]);
    const published = await before.ostiary.events.publish({ partner, type: 'order.shipped', data: {} });
    const { data } = (await after.partnerCall(key, 'GET /v1/partner/events')).json();
    expect(data).toMatchObject([{ id: published.id }]);
  });

  it('after a settlement leaves a settled transfer and its event, which a restart delivers', async () => {
    const { file, sealingKey, clock, start, before, key, endpoint } = await shop();
    const transfer = String((await before.partnerCall(key, 'POST /v1/partner/payments', payment)).json().id);
    const { partner } = key;
    const kill = 'after the commit';
    expect(await runOutboxProcess({ file, sealingKey, partner, kill, transfer })).toBe('SIGKILL');
    const after = await start();
    clock.advance(60_000);
    await after.ostiary.worker.runDue();
    const shown = (await after.partnerCall(key, `GET /v1/partner/payments/${transfer}`)).json();
    expect(shown).toMatchObject({ status: 'completed' });
    expect(endpoint.received.map(({ body }) => JSON.parse(body.toString()))).toMatchObject([
      { type: 'payment.completed', data: shown },
    ]);
    // Settling again, as a host would that got no answer, tells nobody twice.
    const again = await after.ostiary.payments.settle(transfer, { status: 'completed' });
    expect(again).toMatchObject({ settled: false });
    await after.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(1);
  });
});
