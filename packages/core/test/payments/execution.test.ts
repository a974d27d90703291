import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { TransferResult } from '../../src/index.ts';
import { executionTimeoutMs } from '../../src/payments/execution.ts';
import type { Storage } from '../../src/storage.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { hostMetrics } from '../support/metrics.ts';
import { partnerProvider, payment, testPayment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

const second = 1_000;
const hour = 3_600_000;

/** A shop whose rail a test steers, and what the host's metrics and log say about it. */
async function shop(inner?: Storage) {
  const database = fragileStorage(inner);
  const { provider, rail } = await partnerProvider({ storage: database.storage });
  // A host may well register its provider after it has built Ostiary.
  const told = hostMetrics();
  const key = await provider.key();
  const work = () => provider.ostiary.worker.runDue();
  // The purge is out of the way for ten minutes.
  await work();
  return {
    ...{ database, provider, rail, key, work },
    async pay(body: object = payment, by = key) {
      const answer = await provider.partnerCall(by, 'POST /v1/partner/payments', body);
      expect(answer.status).toBe(201);
      return String(answer.json().id);
    },
    show: async (id: string, by: TestKey = key) =>
      (await provider.partnerCall(by, `GET /v1/partner/payments/${id}`)).json(),
    async later(ms: number) {
      provider.clock.advance(ms);
      return work();
    },
    /** How many outcomes the host's metrics call unknown, with nothing beside it that could tell of somebody. */
    async unknown() {
      const [point, ...more] = await told();
      const name = 'ostiary.payments.execution.unknown';
      const { count, ...rest } = point ?? { name, attributes: {}, count: 0 };
      expect([rest, more]).toEqual([{ name, attributes: {} }, []]);
      return count;
    },
    lines: () => provider.logged.filter(({ message }) => message.includes('tried again')),
  };
}

/** The timer of the rail, which a test lets run out. */
function timer(): AbortController {
  const controller = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(controller.signal);
  onTestFinished(() => timeout.mockRestore());
  return controller;
}

const iso = (provider: TestProvider) => new Date(provider.clock.now()).toISOString();

describe('a transfer', () => {
  it('is pending, then completed, and final', async () => {
    const { provider, rail, key, pay, show, work, later } = await shop();
    const createdAt = iso(provider);
    const id = await pay({ ...payment, description: 'Rent 🏠', reference: 'r-1', metadata: { till: '4' } });
    const words = { description: 'Rent 🏠', reference: 'r-1' };
    const pending = {
      ...{ ...payment, ...words, id, status: 'pending', mode: 'live', metadata: { till: '4' } },
      ...{ failure: null, createdAt, updatedAt: createdAt, completedAt: null },
    };
    expect(id).toMatch(/^tr_[0-9a-f]{32}$/);
    expect(await show(id)).toEqual(pending);
    provider.clock.advance(5 * second);
    expect(await work()).toBe(1);
    const times = { updatedAt: iso(provider), completedAt: iso(provider) };
    const completed = { ...pending, ...times, status: 'completed' };
    expect(await show(id)).toEqual(completed);
    const money = { amount: 12_500n, currency: 'HTG', recipientKid: 'KID-ANA' };
    expect(rail.orders).toEqual([{ ...money, ...words, id, partner: key.partner, mode: 'live' }]);
    await later(hour);
    expect(rail.orders).toHaveLength(1);
    const late = await provider.ostiary.payments.settle(id, { status: 'failed', code: 'x', message: 'y' });
    expect(late).toEqual({ transfer: completed, settled: false });
    expect(await show(id)).toEqual(completed);
  });

  it('fails when the rail says so, with code and message', async () => {
    const { provider, rail, pay, show, work } = await shop();
    rail.answer = async () => ({ status: 'failed', code: 'insufficient_funds', message: 'Not enough.' });
    const id = await pay();
    await work();
    expect(await show(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'insufficient_funds', message: 'Not enough.' },
      updatedAt: iso(provider),
      completedAt: null,
    });
    const late = await provider.ostiary.payments.settle(id, { status: 'completed' });
    expect(late).toMatchObject({ settled: false, transfer: { status: 'failed' } });
  });

  it('is asked for again with the same id, counted and told in the log, until somebody knows', async () => {
    const { rail, pay, show, later, unknown, lines } = await shop();
    const signal = timer();
    const id = await pay();
    const nonsense = (answer: unknown) => async () => answer as TransferResult;
    const answers: (() => Promise<TransferResult>)[] = [
      () => Promise.reject(new Error('connection reset')),
      () => {
        throw new Error('not even a promise');
      },
      ...[undefined, null, 'completed', {}, [], { ok: true }, { status: 'done' }, { status: 'failed' }].map(
        nonsense,
      ),
      ...[
        { status: 'failed', code: 'x' },
        { status: 'failed', code: 1, message: 'x' },
      ].map(nonsense),
    ];
    for (const [index, answer] of answers.entries()) {
      rail.answer = answer;
      await later(hour);
      expect([rail.orders.length, await unknown(), lines().length]).toEqual(Array(3).fill(index + 1));
      const fields = { job: `transfer:${id}`, kind: 'transfer', attempt: index + 1 };
      expect(lines().at(-1)).toMatchObject({ level: 'warn', fields });
      expect((await show(id)).status).toBe('pending');
    }
    rail.answer = async () => ({ status: 'completed' });
    await later(hour);
    expect((await show(id)).status).toBe('completed');
    expect(new Set(rail.orders.map((order) => order.id))).toEqual(new Set([id]));
    // Nothing is left behind that would end the process when the time is over.
    signal.abort();
    await new Promise(setImmediate);
  });
});

describe('the rail', () => {
  it('that does not answer in time is told so, and asked again', async () => {
    const { rail, pay, show, work, later, unknown, lines } = await shop();
    const signal = timer();
    const signals: AbortSignal[] = [];
    const late = Promise.withResolvers<TransferResult>();
    rail.answer = (_order, given) => {
      signals.push(given);
      return late.promise;
    };
    const id = await pay();
    const round = work();
    await vi.waitFor(() => expect(signals).toHaveLength(1), patient);
    expect(AbortSignal.timeout).toHaveBeenCalledWith(executionTimeoutMs);
    // Before the lease of its job ends, or a second worker would ask while the first one still waits.
    expect(executionTimeoutMs).toBeLessThan(30 * second);
    signal.abort();
    await round;
    expect([signals[0]?.aborted, await unknown(), lines().length]).toEqual([true, 1, 1]);
    // What comes too late changes nothing: nobody listens any more.
    late.resolve({ status: 'completed' });
    expect((await show(id)).status).toBe('pending');
    rail.answer = async () => ({ status: 'failed', code: 'no', message: 'no' });
    await later(second);
    expect((await show(id)).status).toBe('failed');
    expect(rail.orders.map((order) => order.id)).toEqual([id, id]);
  });

  it('that has said something has no unknown outcome, nor has a database that failed after it', async () => {
    const { database, rail, pay, show, work, later, unknown, lines } = await shop();
    const failed = { status: 'failed', code: 'no', message: 'No.' } as const;
    for (const result of [{ status: 'completed' }, { status: 'pending' }, failed] as const) {
      rail.answer = async () => result;
      await pay();
      await work();
    }
    expect(lines()).toEqual([]);
    rail.answer = async () => ({ status: 'completed' });
    const id = await pay();
    database.breakWhen((call) => call === 'transfers.settle');
    await work();
    database.breakWhen(null);
    expect([lines().length, await unknown()]).toEqual([1, 0]);
    // It is asked for again, with the same id.
    expect((await show(id)).status).toBe('pending');
    await later(second);
    expect((await show(id)).status).toBe('completed');
    expect(rail.orders.slice(-2).map((order) => order.id)).toEqual([id, id]);
  });

  it('that leaves a transfer pending is not asked again; the host settles it, once', async () => {
    const { provider, rail, pay, show, work, later } = await shop();
    rail.answer = async () => ({ status: 'pending' });
    const [first, second_] = [await pay(), await pay()];
    await work();
    await later(2 * hour);
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
    for (const wrong of [{}, { code: 'x' }, { message: 'x' }].map((part) => ({ status: 'failed', ...part })))
      await expect(payments.settle(first, wrong as never)).rejects.toThrow(
        new TypeError('a failed transfer needs a code and a message'),
      );
    for (const wrong of [{ status: 'pending' }, {}])
      await expect(payments.settle(first, wrong as never)).rejects.toThrow(TypeError);
  });

  it('is not asked in test mode: the cents decide', async () => {
    const { provider, rail, key, pay, show, work } = await shop();
    const test = await provider.key({ mode: 'test', partner: key.partner });
    for (const [amount, status, failure] of [
      ['10.00', 'completed', null],
      ['10.01', 'failed', { code: 'sandbox_failure' }],
      ['10.02', 'pending', null],
      ['0.01', 'failed', { code: 'sandbox_failure' }],
      ['100.03', 'completed', null],
    ] as const) {
      const id = await pay({ ...testPayment, amount }, test);
      await work();
      expect(await show(id, test)).toMatchObject({ amount, status, failure });
    }
    expect(rail.orders).toEqual([]);
  });
});
