import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { TransferResult } from '../../src/index.ts';
import { executionTimeoutMs } from '../../src/payments/execution.ts';
import type { Storage } from '../../src/storage.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, payment, storages, testPayment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

const second = 1_000;
const hour = 3_600_000;

async function shop(storage: Storage = memoryStorage()) {
  const { provider, rail } = await partnerProvider({ storage });
  const key = await provider.key();
  // The purge is out of the way for ten minutes.
  await provider.ostiary.worker.runDue();
  const pay = async (body: object = payment, by = key) => {
    const answer = await provider.partnerCall(by, 'POST /v1/partner/payments', body);
    expect(answer.status).toBe(201);
    return String(answer.json().id);
  };
  const show = async (id: string, by: TestKey = key) =>
    (await provider.partnerCall(by, `GET /v1/partner/payments/${id}`)).json();
  return { provider, rail, key, pay, show };
}

const iso = (provider: TestProvider) => new Date(provider.clock.now()).toISOString();

describe.each(storages)('a transfer, on %s', (_name, newStorage) => {
  it('is pending, then completed, and final', async () => {
    const { provider, rail, key, pay, show } = await shop(newStorage());
    const createdAt = iso(provider);
    const id = await pay({ ...payment, description: 'Rent 🏠', reference: 'r-1', metadata: { till: '4' } });
    const words = { description: 'Rent 🏠', reference: 'r-1' };
    const pending = {
      ...{
        ...payment,
        ...words,
        id,
        status: 'pending',
        mode: 'live',
        metadata: { till: '4' },
        failure: null,
      },
      createdAt,
      updatedAt: createdAt,
      completedAt: null,
    };
    expect(id).toMatch(/^tr_[0-9a-f]{32}$/);
    expect(await show(id)).toEqual(pending);
    provider.clock.advance(5 * second);
    expect(await provider.ostiary.worker.runDue()).toBe(1);
    const times = { updatedAt: iso(provider), completedAt: iso(provider) };
    const completed = { ...pending, ...times, status: 'completed' };
    expect(await show(id)).toEqual(completed);
    const money = { amount: 12_500n, currency: 'HTG', recipientKid: 'KID-ANA' };
    expect(rail.orders).toEqual([{ ...money, ...words, id, partner: key.partner, mode: 'live' }]);
    provider.clock.advance(hour);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(1);
    const late = await provider.ostiary.payments.settle(id, { status: 'failed', code: 'x', message: 'y' });
    expect(late).toEqual({ transfer: completed, settled: false });
    expect(await show(id)).toEqual(completed);
  });

  it('fails when the rail says so, with code and message', async () => {
    const { provider, rail, pay, show } = await shop(newStorage());
    rail.answer = async () => ({ status: 'failed', code: 'insufficient_funds', message: 'Not enough.' });
    const id = await pay();
    await provider.ostiary.worker.runDue();
    expect(await show(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'insufficient_funds', message: 'Not enough.' },
      updatedAt: iso(provider),
      completedAt: null,
    });
    const late = await provider.ostiary.payments.settle(id, { status: 'completed' });
    expect(late).toMatchObject({ settled: false, transfer: { status: 'failed' } });
  });

  it('is asked for again with the same id, and told in the log, until somebody knows', async () => {
    const { provider, rail, pay, show } = await shop(newStorage());
    rail.answer = () => Promise.reject(new Error('connection reset'));
    const id = await pay();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await provider.ostiary.worker.runDue();
      expect(rail.orders).toHaveLength(attempt);
      expect((await show(id)).status).toBe('pending');
      provider.clock.advance(hour);
    }
    const lines = provider.logged.filter(({ message }) => message.includes('tried again'));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    rail.answer = async () => ({ status: 'completed' });
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('completed');
    expect(new Set(rail.orders.map((order) => order.id))).toEqual(new Set([id]));
  });
});

describe('the rail', () => {
  it.each([
    ...[undefined, null, 'completed', {}, [], { ok: true }, { status: 'done' }, { status: 'failed' }],
    ...[
      { status: 'failed', code: 'x' },
      { status: 'failed', code: 1, message: 'x' },
    ],
  ])('that answers nonsense, %j, decides nothing', async (nonsense) => {
    const { provider, rail, pay, show } = await shop();
    rail.answer = async () => nonsense as unknown as TransferResult;
    const id = await pay();
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('pending');
    rail.answer = async () => ({ status: 'completed' });
    provider.clock.advance(second);
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('completed');
  });

  it('that does not answer in time is told so, and asked again', async () => {
    const { provider, rail, pay, show } = await shop();
    const timer = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timer.signal);
    const signals: AbortSignal[] = [];
    const late = Promise.withResolvers<TransferResult>();
    rail.answer = (_order, signal) => {
      signals.push(signal);
      return late.promise;
    };
    const id = await pay();
    const round = provider.ostiary.worker.runDue();
    await vi.waitFor(() => expect(signals).toHaveLength(1), patient);
    expect(timeout).toHaveBeenCalledWith(executionTimeoutMs);
    // Before the lease of its job ends, or a second worker would ask while the first one still waits.
    expect(executionTimeoutMs).toBeLessThan(30 * second);
    timer.abort();
    await round;
    timeout.mockRestore();
    expect(signals[0]?.aborted).toBe(true);
    // What comes too late changes nothing: nobody listens any more.
    late.resolve({ status: 'completed' });
    expect((await show(id)).status).toBe('pending');
    rail.answer = async () => ({ status: 'failed', code: 'no', message: 'no' });
    provider.clock.advance(second);
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('failed');
    expect(rail.orders.map((order) => order.id)).toEqual([id, id]);
  });

  it('that leaves a transfer pending is not asked again; the host settles it, once', async () => {
    const { provider, rail, pay, show } = await shop();
    rail.answer = async () => ({ status: 'pending' });
    const [first, second_] = [await pay(), await pay()];
    await provider.ostiary.worker.runDue();
    provider.clock.advance(2 * hour);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(2);
    const { payments } = provider.ostiary;
    const outcomes = await Promise.all([
      payments.settle(first, { status: 'completed' }),
      payments.settle(first, { status: 'completed' }),
      payments.settle(first, { status: 'failed', code: 'x', message: 'y' }),
    ]);
    expect(outcomes.map((outcome) => outcome?.settled)).toEqual([true, false, false]);
    expect(await show(first)).toMatchObject({ status: 'completed', completedAt: iso(provider) });
    await payments.settle(second_, { status: 'failed', code: 'c'.repeat(100), message: 'm'.repeat(600) });
    expect((await show(second_)).failure).toEqual({ code: 'c'.repeat(64), message: 'm'.repeat(500) });
    expect(await payments.settle('tr_nobody', { status: 'completed' })).toBeNull();
    const incomplete = new TypeError('a failed transfer needs a code and a message');
    for (const wrong of [{}, { code: 'x' }, { message: 'x' }])
      await expect(payments.settle(first, { status: 'failed', ...wrong } as never)).rejects.toThrow(
        incomplete,
      );
    for (const wrong of [{ status: 'pending' }, {}])
      await expect(payments.settle(first, wrong as never)).rejects.toThrow(TypeError);
  });

  it('is asked at least once: a settlement that could not be stored leads to the same order again', async () => {
    const database = fragileStorage();
    const { provider, rail, pay, show } = await shop(database.storage);
    const id = await pay();
    database.breakWhen((call) => call === 'transfers.settle');
    await provider.ostiary.worker.runDue();
    database.breakWhen(null);
    expect((await show(id)).status).toBe('pending');
    provider.clock.advance(second);
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('completed');
    expect(rail.orders.map((order) => order.id)).toEqual([id, id]);
  });

  it('is asked at least once: a worker that died is replaced when its lease ends', async () => {
    const { provider, rail, pay, show } = await shop();
    const id = await pay();
    rail.answer = () => new Promise(() => {});
    // Its rail is given up long after the end of this test.
    provider.ostiary.worker.runDue().catch(() => undefined);
    await vi.waitFor(() => expect(rail.orders).toHaveLength(1), patient);
    rail.answer = async () => ({ status: 'completed' });
    provider.clock.advance(30 * second - 1);
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toHaveLength(1);
    provider.clock.advance(1);
    await provider.ostiary.worker.runDue();
    expect((await show(id)).status).toBe('completed');
    expect(rail.orders.map((order) => order.id)).toEqual([id, id]);
  });

  it('is not asked in test mode: the cents decide', async () => {
    const { provider, rail, key, pay, show } = await shop();
    const test = await provider.key({ mode: 'test', partner: key.partner });
    for (const [amount, status, failure] of [
      ['10.00', 'completed', null],
      ['10.01', 'failed', { code: 'sandbox_failure' }],
      ['10.02', 'pending', null],
      ['0.01', 'failed', { code: 'sandbox_failure' }],
      ['100.03', 'completed', null],
    ] as const) {
      const id = await pay({ ...testPayment, amount }, test);
      await provider.ostiary.worker.runDue();
      expect(await show(id, test)).toMatchObject({ amount, status, failure });
    }
    expect(rail.orders).toEqual([]);
  });

  it('is asked at once when a worker runs', async () => {
    const { provider, rail, pay } = await shop();
    provider.ostiary.worker.start();
    await vi.waitFor(async () => expect((await provider.ostiary.worker.runDue()) + 1).toBe(1), patient);
    const id = await pay();
    await vi.waitFor(() => expect(rail.orders.map((order) => order.id)).toEqual([id]), { timeout: 900 });
  });
});
