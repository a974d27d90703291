import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { TransferResult } from '../../src/index.ts';
import { executionTimeoutMs } from '../../src/payments/execution.ts';
import { payment } from '../support/partner-api.ts';
import type { Json } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import { till } from './till.ts';

const second = 1_000;
const hour = 3_600_000;

/** Replaces both time limits of an execution, the rail's and the worker's, with one that the test fires. */
function timer(): AbortController {
  const controller = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(controller.signal);
  const { setTimeout } = globalThis;
  const wait = vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms, ...args) => {
    if (ms !== executionTimeoutMs) return setTimeout(run, ms, ...args);
    controller.signal.addEventListener('abort', () => run(...args));
    // Return a real timer, because the caller clears it.
    return setTimeout(() => undefined);
  });
  onTestFinished(() => {
    timeout.mockRestore();
    wait.mockRestore();
  });
  return controller;
}

describe('a transfer', () => {
  it('is pending, then completed, and final, with one event', async () => {
    const { rail, key, pay, show, events, register, work, later, now } = await till();
    const endpoint = await sink();
    await register(endpoint.url, { events: ['payment.completed'] });
    const createdAt = now();
    const metadata = { b: '2', a: 'é\u2028' };
    const words = { description: 'Rent “mas” 🏠', reference: 'r-1' };
    const id = await pay({ ...payment, ...words, metadata });
    const pending = {
      ...{ ...payment, ...words, id, status: 'pending', mode: 'live', metadata },
      ...{ failure: null, createdAt, updatedAt: createdAt, completedAt: null },
    };
    expect(id).toMatch(/^tr_[0-9a-f]{32}$/);
    expect([await show(id), await events()]).toEqual([pending, []]);
    await later(5 * second);
    const completed = { ...pending, updatedAt: now(), completedAt: now(), status: 'completed' };
    expect(await show(id)).toEqual(completed);
    const money = { amount: 12_500n, currency: 'HTG', recipientKid: 'KID-ANA' };
    expect(rail.orders).toEqual([{ ...money, ...words, id, partner: key.partner, mode: 'live' }]);
    const eventId = expect.stringMatching(/^evt_[0-9a-f]{32}$/);
    const event = { id: eventId, type: 'payment.completed', createdAt: now(), mode: 'live', data: completed };
    const [published, ...more] = await events();
    expect([published, more]).toEqual([{ sequence: 1, ...event }, []]);
    // The event's members have the same order as in the API, and there are no others.
    expect(Object.keys(published?.data as Json)).toEqual(Object.keys(await show(id)));
    await work();
    const { sequence: _, ...sent } = published ?? {};
    expect(endpoint.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(sent)]);
    await later(hour);
    expect([rail.orders.length, (await events()).length]).toEqual([1, 1]);
  });

  it('delays no other transfer while the rail does not answer for it', async () => {
    const { rail, pay, show, provider } = await till();
    const hanging = Promise.withResolvers<TransferResult>();
    const hung = await pay();
    rail.answer = async ({ id }) => (id === hung ? hanging.promise : { status: 'completed' });
    const { worker } = provider.ostiary;
    worker.start();
    await vi.waitFor(() => expect(rail.orders).toHaveLength(1), patient);
    for (let number = 0; number < 3; number += 1) {
      const id = await pay();
      await vi.waitFor(async () => expect(await show(id)).toMatchObject({ status: 'completed' }), patient);
    }
    expect(await show(hung)).toMatchObject({ status: 'pending' });
    hanging.resolve({ status: 'completed' });
    await worker.stop();
    expect(await show(hung)).toMatchObject({ status: 'completed' });
  });

  it('delays no transfer of another partner while a hundred of one hang', async () => {
    const { rail, key, pay, show, provider } = await till();
    await provider.ostiary.admin.partners.create({ slug: 'other', name: 'Other' });
    const other = await provider.key({ partner: 'other', mode: 'live' });
    const hanging = Promise.withResolvers<TransferResult>();
    rail.answer = async (order) =>
      order.partner === key.partner ? hanging.promise : { status: 'completed' };
    for (let number = 0; number < 100; number += 1) await pay();
    const { worker } = provider.ostiary;
    worker.start();
    // One partner's payments take at most half of the places.
    await vi.waitFor(() => expect(rail.orders).toHaveLength(32), patient);
    const id = await pay(payment, other);
    await vi.waitFor(
      async () => expect(await show(id, other)).toMatchObject({ status: 'completed' }),
      patient,
    );
    expect(rail.orders).toHaveLength(33);
    hanging.resolve({ status: 'completed' });
    await worker.stop();
  });

  it('fails when the rail says so, with code and message', async () => {
    const { rail, pay, show, events, work, now } = await till();
    const failure = { code: 'insufficient_funds', message: 'Pa gen lajan. 🙂' };
    rail.answer = async () => ({ status: 'failed', ...failure });
    const id = await pay();
    await work();
    const failed = { status: 'failed', failure, updatedAt: now(), completedAt: null };
    expect(await show(id)).toMatchObject(failed);
    expect(await events()).toMatchObject([{ type: 'payment.failed', data: failed }]);
  });

  it('is executed again with the same id, counted and logged, until the outcome is known', async () => {
    const { rail, pay, show, later, unknown, lines } = await till();
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
    // No listener is left on the signal, which would otherwise throw and end the process.
    signal.abort();
    await new Promise(setImmediate);
  });
});

describe('the rail', () => {
  it('that does not respond in time is aborted, and called again', async () => {
    const { rail, pay, show, work, later, unknown, lines } = await till();
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
    // Must be less than the lease of a job: otherwise a second worker would execute while the first one still
    // waits.
    expect(executionTimeoutMs).toBeLessThan(30 * second);
    signal.abort();
    await round;
    expect([signals[0]?.aborted, await unknown(), lines().length]).toEqual([true, 1, 1]);
    // A late result has no effect, because the execution was abandoned.
    late.resolve({ status: 'completed' });
    expect((await show(id)).status).toBe('pending');
    rail.answer = async () => ({ status: 'failed', code: 'no', message: 'no' });
    await later(second);
    expect((await show(id)).status).toBe('failed');
    expect(rail.orders.map((order) => order.id)).toEqual([id, id]);
  });

  it('that has said something has no unknown outcome, nor has a database that failed after it', async () => {
    const { database, rail, pay, show, work, later, unknown, lines } = await till();
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
    // The payment is executed again with the same id.
    expect((await show(id)).status).toBe('pending');
    await later(second);
    expect((await show(id)).status).toBe('completed');
    expect(rail.orders.slice(-2).map((order) => order.id)).toEqual([id, id]);
  });
});
